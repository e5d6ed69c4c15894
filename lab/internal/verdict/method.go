package verdict

import (
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/stats"
)

// A Method is what pages are told of how verdicts come about, so that the
// thresholds they print are the ones in force.
type Method struct {
	WireSaturated float64                  `json:"wire_saturated"`
	CPUSaturated  float64                  `json:"cpu_saturated"`
	Confidence    float64                  `json:"confidence"` // of the medians of single figures
	MinBlocks     int                      `json:"min_blocks"`
	Alpha         float64                  `json:"alpha"`         // chance of a wrong verdict, an experiment
	ControlAlpha  float64                  `json:"control_alpha"` // chance of a control that differs by chance, a record
	Bold          float64                  `json:"bold"`          // share of blocks that half of each bet is laid on
	MaxBlocks     int                      `json:"max_blocks"`    // that are looked ahead to
	DifferBlocks  int                      `json:"differ_blocks"` // of runs that are compared with each other
	DifferAlpha   float64                  `json:"differ_alpha"`
	DifferApart   float64                  `json:"differ_apart"` // ratio of their medians
	Verdicts      map[Verdict]string       `json:"verdicts"`
	Warnings      map[stats.Warning]string `json:"warnings"`
	SlowBy        float64                  `json:"slow_by"`
	SamplerShare  float64                  `json:"sampler_share"`
	Gates         []Gate                   `json:"gates"`
	Works         []profiles.WorkDoc       `json:"works"`
	// What TestWrongVerdictsOfWholeCampaigns finds, over all kinds of noise, numbers
	// of claims and ways to stop: how many made-up campaigns each is made of, of how
	// many blocks at the most, and the largest shares of them with a wrong verdict
	// and with a control that differs. Of claims well inside or outside of their
	// edges, SimulatedOpen is the largest share that stays open.
	SimulatedRuns    int     `json:"simulated_runs"`
	SimulatedBlocks  int     `json:"simulated_blocks"`
	SimulatedWrong   float64 `json:"simulated_wrong"`
	SimulatedControl float64 `json:"simulated_control"`
	SimulatedOpen    float64 `json:"simulated_open"`
}

// The simulation's results, which the test holds to what it computes.
const (
	simulatedRuns    = 1000
	simulatedBlocks  = 60
	simulatedWrong   = 0.038
	simulatedControl = 0.0067
	simulatedOpen    = 0.442
)

// A Gate is what pages are told of one.
type Gate struct {
	Name     string `json:"name"`
	Closes   string `json:"closes"`
	Repeated string `json:"repeated"`
}

var repeated = map[gate.Kind]string{
	gate.Fault: "no", gate.Passing: "yes", gate.Following: "if the machine closed another",
}

// Rules gives the method as it is in force.
func Rules() Method {
	m := Method{
		WireSaturated: gate.WireSaturated, CPUSaturated: gate.CPUSaturated,
		Confidence: stats.Confidence, MinBlocks: stats.MinSamples,
		Alpha: stats.Alpha, ControlAlpha: controlAlpha, Bold: stats.Bold, MaxBlocks: stats.MaxBlocks,
		DifferBlocks: differBlocks, DifferAlpha: differAlpha, DifferApart: differApart,
		Verdicts: map[Verdict]string{}, Warnings: map[stats.Warning]string{},
		SlowBy: cores.SlowBy, SamplerShare: gate.SamplerShare, Works: profiles.Works(),
		SimulatedRuns: simulatedRuns, SimulatedBlocks: simulatedBlocks, SimulatedWrong: simulatedWrong,
		SimulatedControl: simulatedControl, SimulatedOpen: simulatedOpen,
	}
	for _, v := range []Verdict{Reproduced, Refuted, Inconclusive, Invalid, NotApplicable} {
		m.Verdicts[v] = v.Meaning()
	}
	for _, w := range stats.AllWarnings {
		m.Warnings[w] = w.Meaning()
	}
	for _, g := range gate.All {
		m.Gates = append(m.Gates, Gate{g.Name, g.Closes, repeated[g.Kind]})
	}
	return m
}
