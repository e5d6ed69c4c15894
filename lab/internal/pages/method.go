package pages

import (
	"slices"

	"github.com/line-rate/line-rate/lab/confseq"
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
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
	ControlAlpha float64                              `json:"control_alpha"`
	Bold         float64                              `json:"bold"`         // share of blocks on which half of each bet is placed
	MaxVisits    int                                  `json:"max_visits"`   // most further visits that an estimate considers
	VisitGapS    float64                              `json:"visit_gap_s"`  // between the blocks of one visit
	VisitSpanS   float64                              `json:"visit_span_s"` // between the beginnings of its first block and its last
	Verdicts     map[verdict.Verdict]string           `json:"verdicts"`
	Words        map[Whose]map[verdict.Verdict]string `json:"words"`  // what pages call each verdict
	Called       []Called                             `json:"called"` // the same in the order of a tally
	Warnings     map[stats.Warning]string             `json:"warnings"`
	SlowBy       float64                              `json:"slow_by"`
	Gates        []gate.Gate                          `json:"gates"`
	Works        []profile.WorkDoc                    `json:"works"`
	Settings     map[string]string                    `json:"settings"` // what pages call each
	Profiles     []profile.KindDoc                    `json:"profiles"`
	Simulation   simulated                            `json:"simulation"`
	Shown        Values                               `json:"shown"` // the numbers above as pages print them
}

// Rules gives the method in force.
func Rules() Method {
	m := Method{
		WireSaturated: gate.WireSaturated, CPUSaturated: gate.CPUSaturated,
		Confidence: stats.Confidence, MinVisits: stats.MinSamples,
		LeastVisits: stats.LeastVisits,
		Alpha:       stats.Alpha, ControlAlpha: verdict.ControlAlpha, Bold: confseq.Bold, MaxVisits: confseq.MaxNeeded,
		VisitGapS: results.VisitGap.Seconds(), VisitSpanS: results.VisitSpan.Seconds(),
		Verdicts: map[verdict.Verdict]string{}, Warnings: map[stats.Warning]string{}, Settings: map[string]string{},
		SlowBy: cores.SlowBy, Works: profile.Works(), Profiles: profile.KindDocs(),
		Gates: gate.All, Simulation: simulation(), Words: verdictWords(), Called: called(),
	}
	for _, v := range order {
		m.Verdicts[v] = v.Meaning()
	}
	for _, w := range stats.AllWarnings {
		m.Warnings[w] = w.Meaning()
	}
	for _, name := range setting.Names() {
		m.Settings[name] = setting.Title(name)
	}
	m.Shown = numbersOf(m)
	return m
}

// simulated is what came of made-up campaigns, with its figures as pages print them.
type simulated struct {
	verdict.Simulation
	Shown Values     `json:"shown"`
	Rows  []noiseRow `json:"rows"`
}

type noiseRow struct {
	verdict.SimulatedNoise
	WrongText []string `json:"wrong_text"`
	Open3Text []string `json:"open_3_text"`
	Open5Text []string `json:"open_5_text"`
}

func simulation() simulated {
	s := simulated{Simulation: verdict.Simulated()}
	s.Shown = numbersOf(s.Simulation)
	worst, worst3 := 0.0, 0.0
	for _, r := range s.Simulation.Rows {
		if r.Holds {
			worst = max(worst, slices.Max(r.Wrong))
		}
		worst3 = max(worst3, slices.Max(r.Wrong3))
		s.Rows = append(s.Rows, noiseRow{r, tenths(r.Wrong), tenths(r.Open3), tenths(r.Open5)})
	}
	s.Shown["worst_wrong"], s.Shown["worst_wrong_3"] = chosen(worst), chosen(worst3)
	s.Shown["off"], s.Shown["off_far"] = chosen(s.Off[0]), chosen(s.Off[1])
	return s
}

// tenths are shares in percent, with one digit after the point.
func tenths(shares []float64) []string {
	return strict.Map(shares, func(v float64) string { return words.Grouped(100*v, -1) + " %" })
}
