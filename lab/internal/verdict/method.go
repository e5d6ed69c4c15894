package verdict

import (
	"github.com/line-rate/line-rate/lab/internal/bound"
	"github.com/line-rate/line-rate/lab/internal/stats"
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
}

// Rules gives the method as it is in force.
func Rules() Method {
	m := Method{
		WireSaturated: bound.WireSaturated, CPUSaturated: bound.CPUSaturated,
		Confidence: stats.Confidence, MinBlocks: stats.MinSamples,
		Alpha: stats.Alpha, Power: stats.Power, MaxBlocks: stats.MaxBlocks,
		Verdicts: map[Verdict]string{}, Warnings: map[stats.Warning]string{},
	}
	for _, v := range []Verdict{Reproduced, Refuted, Inconclusive, Invalid, NotApplicable} {
		m.Verdicts[v] = v.Meaning()
	}
	for _, w := range stats.AllWarnings {
		m.Warnings[w] = w.Meaning()
	}
	return m
}
