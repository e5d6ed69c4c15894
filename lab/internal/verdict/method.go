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
}

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
