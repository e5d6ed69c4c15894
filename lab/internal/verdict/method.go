package verdict

import (
	"github.com/line-rate/line-rate/lab/internal/bound"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/speed"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/symbol"
)

// A Method is what pages are told of how verdicts come about, so that the
// thresholds they print are the ones in force.
type Method struct {
	WireSaturated float64                  `json:"wire_saturated"`
	CPUSaturated  float64                  `json:"cpu_saturated"`
	Confidence    float64                  `json:"confidence"`
	MinBlocks     int                      `json:"min_blocks"`
	Alpha         float64                  `json:"alpha"`
	Power         float64                  `json:"power"`
	MaxBlocks     int                      `json:"max_blocks"`
	Verdicts      map[Verdict]string       `json:"verdicts"`
	Warnings      map[stats.Warning]string `json:"warnings"`
	SlowBy        float64                  `json:"slow_by"`
	SamplerShare  float64                  `json:"sampler_share"`
	Gates         []Gate                   `json:"gates"`
	Works         []symbol.WorkDoc         `json:"works"`
	// What TestStatedErrorRatesOfVerdicts finds: how many made-up runs it makes
	// for each kind of noise and number of blocks, and the largest share of them
	// with a claim wrongly held, or refuted, or a control that differs.
	SimulatedRuns    int     `json:"simulated_runs"`
	SimulatedHeld    float64 `json:"simulated_held"`
	SimulatedRefuted float64 `json:"simulated_refuted"`
	SimulatedControl float64 `json:"simulated_control"`
}

// The simulation's results, which the test holds to what it computes.
const (
	simulatedRuns    = 1000
	simulatedHeld    = 0.037
	simulatedRefuted = 0.032
	simulatedControl = 0.041
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
		WireSaturated: bound.WireSaturated, CPUSaturated: bound.CPUSaturated,
		Confidence: stats.Confidence, MinBlocks: stats.MinSamples,
		Alpha: stats.Alpha, Power: stats.Power, MaxBlocks: stats.MaxBlocks,
		Verdicts: map[Verdict]string{}, Warnings: map[stats.Warning]string{},
		SlowBy: speed.SlowBy, SamplerShare: gate.SamplerShare, Works: symbol.Works(),
		SimulatedRuns: simulatedRuns, SimulatedHeld: simulatedHeld, SimulatedRefuted: simulatedRefuted, SimulatedControl: simulatedControl,
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
