package verdict

import (
	_ "embed"
	"encoding/json"

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
	Simulation    Simulation               `json:"simulation"`
}

// A Simulation is what came of made-up campaigns, one row for each kind of noise.
// The tests compute it.
type Simulation struct {
	Campaigns  int              `json:"campaigns"`   // of each kind
	Visits     int              `json:"visits"`      // in a campaign at the edge
	OpenVisits int              `json:"open_visits"` // in a campaign off the edge
	BlockSD    float64          `json:"block_sd"`    // deviation of the logarithm of a block's ratio
	Blocks     []int            `json:"blocks"`      // of a visit, by column
	Off        []float64        `json:"off"`         // how far off the edge
	Control    float64          `json:"control"`     // largest share of records whose control differs
	Rows       []SimulatedNoise `json:"rows"`
}

// A SimulatedNoise has shares of campaigns, by the number of blocks in a visit.
type SimulatedNoise struct {
	Noise string    `json:"noise"`
	Holds bool      `json:"holds"` // whether the bet allows for such noise
	Wrong []float64 `json:"wrong"` // claims exactly at their edge, with a wrong verdict at any time
	// Wrong3 is of claims off their edge by the first of Off; Open3 and Open5 are the
	// shares of claims off by each that were open in the end.
	Wrong3 []float64 `json:"wrong_3"`
	Open3  []float64 `json:"open_3"`
	Open5  []float64 `json:"open_5"`
}

//go:embed simulation.json
var simulation []byte

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
	}
	if err := json.Unmarshal(simulation, &m.Simulation); err != nil {
		panic(err) // it is part of the program
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
