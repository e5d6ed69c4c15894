package verdict

import (
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
)

// A Method has the thresholds of the verdicts, so that pages print the ones in
// force.
type Method struct {
	WireSaturated float64                  `json:"wire_saturated"`
	CPUSaturated  float64                  `json:"cpu_saturated"`
	Confidence    float64                  `json:"confidence"` // of the intervals of single figures' medians
	MinVisits     int                      `json:"min_visits"`
	Alpha         float64                  `json:"alpha"`         // probability of a wrong verdict, per experiment
	ControlAlpha  float64                  `json:"control_alpha"` // probability that a control differs by chance, per record
	Bold          float64                  `json:"bold"`          // share of blocks on which half of each bet is placed
	MaxVisits     int                      `json:"max_visits"`    // most further visits that an estimate considers
	VisitGapS     float64                  `json:"visit_gap_s"`   // between the blocks of one visit
	VisitSpanS    float64                  `json:"visit_span_s"`  // between the beginnings of its first block and its last
	Verdicts      map[Verdict]string       `json:"verdicts"`
	Warnings      map[stats.Warning]string `json:"warnings"`
	SlowBy        float64                  `json:"slow_by"`
	SamplerShare  float64                  `json:"sampler_share"`
	Gates         []Gate                   `json:"gates"`
	Works         []profiles.WorkDoc       `json:"works"`
	Settings      map[string]string        `json:"settings"` // what pages call each
	Profiles      []profiles.KindDoc       `json:"profiles"`
	// Results of TestWrongVerdictsOfWholeCampaigns over all kinds of noise,
	// numbers of claims and stopping rules: the number of made-up campaigns of
	// each kind, the most blocks in one, and the largest shares of campaigns with
	// a wrong verdict and with a control that differs. SimulatedOpen is the
	// largest share of claims that stay open although the truth is well inside or
	// outside their edges.
	SimulatedRuns    int     `json:"simulated_runs"`
	SimulatedBlocks  int     `json:"simulated_blocks"`
	SimulatedWrong   float64 `json:"simulated_wrong"`
	SimulatedControl float64 `json:"simulated_control"`
	SimulatedOpen    float64 `json:"simulated_open"`
}

// The simulation's results. The test compares them with what it computes.
const (
	simulatedRuns    = 1000
	simulatedBlocks  = 60
	simulatedWrong   = 0.038
	simulatedControl = 0.0067
	simulatedOpen    = 0.442
)

// A Gate describes one gate for pages.
type Gate struct {
	Name     string `json:"name"`
	Closes   string `json:"closes"`
	Repeated string `json:"repeated"`
}

var repeated = map[gate.Kind]string{
	gate.Fault: "no", gate.Passing: "yes", gate.Following: "if the machine closed another",
}

// Rules gives the method in force.
func Rules() Method {
	m := Method{
		WireSaturated: gate.WireSaturated, CPUSaturated: gate.CPUSaturated,
		Confidence: stats.Confidence, MinVisits: stats.MinSamples,
		Alpha: stats.Alpha, ControlAlpha: controlAlpha, Bold: stats.Bold, MaxVisits: stats.MaxVisits,
		VisitGapS: results.VisitGap.Seconds(), VisitSpanS: results.VisitSpan.Seconds(),
		Verdicts: map[Verdict]string{}, Warnings: map[stats.Warning]string{}, Settings: map[string]string{},
		SlowBy: cores.SlowBy, SamplerShare: gate.SamplerShare, Works: profiles.Works(), Profiles: profiles.KindDocs(),
		SimulatedRuns: simulatedRuns, SimulatedBlocks: simulatedBlocks, SimulatedWrong: simulatedWrong,
		SimulatedControl: simulatedControl, SimulatedOpen: simulatedOpen,
	}
	for _, v := range []Verdict{Reproduced, Refuted, Inconclusive, Invalid, NotApplicable} {
		m.Verdicts[v] = v.Meaning()
	}
	for _, w := range stats.AllWarnings {
		m.Warnings[w] = w.Meaning()
	}
	for _, name := range setting.Names() {
		m.Settings[name] = factorName(name)
	}
	for _, g := range gate.All {
		m.Gates = append(m.Gates, Gate{g.Name, g.Closes, repeated[g.Kind]})
	}
	return m
}
