package pages

import (
	"encoding/json"

	"github.com/line-rate/line-rate/lab/confseq"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// A Method has the thresholds of the verdicts, so that pages print the ones in
// force.
type Method struct {
	WireSaturated float64 `json:"wire_saturated"`
	CPUSaturated  float64 `json:"cpu_saturated"`
	Confidence    float64 `json:"confidence"` // of the intervals of single figures' medians
	MinVisits     int     `json:"min_visits"`
	LeastVisits   int     `json:"least_visits"`
	Alpha         float64 `json:"alpha"` // probability of a wrong verdict, per experiment
	// probability that a control differs by chance, per record
	ControlAlpha float64                    `json:"control_alpha"`
	Bold         float64                    `json:"bold"`         // share of blocks on which half of each bet is placed
	MaxVisits    int                        `json:"max_visits"`   // most further visits that an estimate considers
	MostLost     float64                    `json:"most_lost"`    // largest share of blocks without a vote with which a claim is decided
	VisitGapS    float64                    `json:"visit_gap_s"`  // between the blocks of one visit
	VisitSpanS   float64                    `json:"visit_span_s"` // between the beginnings of its first block and its last
	Verdicts     map[verdict.Verdict]string `json:"verdicts"`
	Order        []verdict.Verdict          `json:"order"` // that of a tally
	Gates        []gate.Gate                `json:"gates"`
	Works        []profile.WorkDoc          `json:"works"`
	Settings     map[string]string          `json:"settings"` // what pages call each
	Profiles     []profile.KindDoc          `json:"profiles"`
	Simulation   json.RawMessage            `json:"simulation"` // of made-up campaigns, as the tests of package verdict wrote it
	Shown        Values                     `json:"shown"`      // the numbers above as pages print them
}

// Rules gives the method in force.
func Rules() Method {
	m := Method{
		WireSaturated: gate.WireSaturated, CPUSaturated: gate.CPUSaturated,
		Confidence: stats.Confidence, MinVisits: stats.MinSamples,
		LeastVisits: stats.Fewest(stats.Level(1, 1)),
		Alpha:       stats.Alpha, ControlAlpha: verdict.ControlAlpha, Bold: confseq.Bold, MaxVisits: confseq.MaxNeeded,
		MostLost: verdict.MostLost, VisitGapS: results.VisitGap.Seconds(), VisitSpanS: results.VisitSpan.Seconds(),
		Verdicts: map[verdict.Verdict]string{}, Order: order, Settings: map[string]string{},
		Works: profile.Works(), Profiles: profile.KindDocs(),
		Gates: gate.All, Simulation: verdict.Simulation,
	}
	for _, v := range order {
		m.Verdicts[v] = v.Meaning()
	}
	for _, name := range setting.Names() {
		m.Settings[name] = setting.Title(name)
	}
	m.Shown = numbersOf(m)
	return m
}
