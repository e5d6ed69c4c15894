package results_test

import (
	"slices"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/slots"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// Blocks that follow one another within a minute are one visit; ten seconds away,
// or a minute since the first began, make another.
func TestVisitsAreBlocksOfOneStay(t *testing.T) {
	at := func(s float64) time.Time { return noon.Add(time.Duration(s * float64(time.Second))) }
	for _, c := range []struct {
		name   string
		blocks [][2]float64
		want   []int
	}{
		{"one after the other", [][2]float64{{0, 2}, {3, 5}, {6, 8}}, []int{0, 0, 0}},
		{"just within the gap", [][2]float64{{0, 2}, {11.999, 14}}, []int{0, 0}},
		{"the gap", [][2]float64{{0, 2}, {12, 14}}, []int{0, 1}},
		{"a minute since the first", [][2]float64{{0, 25}, {26, 51}, {60, 70}, {71, 80}}, []int{0, 0, 0, 1}},
		{"each a visit", [][2]float64{{0, 2}, {30, 32}, {60, 62}}, []int{0, 1, 2}},
		{"in any order", [][2]float64{{60, 62}, {0, 2}, {63, 65}}, []int{1, 0, 1}},
		{"a long block", [][2]float64{{0, 100}, {101, 200}}, []int{0, 1}},
		{"none", nil, []int{}},
	} {
		var stays []results.Stay
		for _, b := range c.blocks {
			stays = append(stays, results.Stay{Began: at(b[0]), Ended: at(b[1])})
		}
		if got := results.Visits(stays); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A block's time is that of its trials, valid or not, and of the profiles after them.
func TestABlocksTimeIsItsTrials(t *testing.T) {
	at := func(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }
	f := &results.File{
		Provenance: &results.Provenance{StartedAt: noon, Block: &results.BlockPlan{Block: experiment.Block{WarmupS: 1}}},
		Conditions: make([]results.Condition, 2),
		Trials: []results.Trial{
			{Block: 1, StartedAt: at(3000), Metrics: map[string]float64{"duration_s": 2}},
			{Block: 1, StartedAt: at(1000), Slots: []slots.Slot{{AtS: 1, DurationS: 1}, {AtS: 8, DurationS: 0.5}}},
			{Block: 3, StartedAt: at(30000), Metrics: map[string]float64{"duration_s": 1}},
		},
	}
	for _, profileS := range []float64{0, 2} {
		f.Provenance.Block.ProfileS = profileS
		stays, after := f.Stays(), int(2000*profileS)
		for block, want := range map[int]results.Stay{1: {Began: at(1000), Ended: at(8500 + after)},
			3: {Began: at(30000), Ended: at(32000 + after)}} {
			if stays[block] != want {
				t.Errorf("block %d: %+v, want %+v", block, stays[block], want)
			}
		}
	}
}
