package verdict

import (
	_ "embed"
	"encoding/json"
)

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

// Simulated is what the tests wrote of the campaigns that they made up.
func Simulated() (s Simulation) {
	if err := json.Unmarshal(simulation, &s); err != nil {
		panic(err) // it is part of the program
	}
	return s
}
