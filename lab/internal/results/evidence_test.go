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

// Of blocks that follow one another closely only the first counts; one that begins ten seconds later does again.
func TestBlocksThatAreApartCount(t *testing.T) {
	at := func(s float64) time.Time { return noon.Add(time.Duration(s * float64(time.Second))) }
	for _, c := range []struct {
		name   string
		blocks [][2]float64
		want   []bool
	}{
		{"one after the other", [][2]float64{{0, 2}, {3, 5}, {6, 8}}, []bool{true, false, false}},
		{"just within the gap", [][2]float64{{0, 2}, {11.999, 14}}, []bool{true, false}},
		{"the gap", [][2]float64{{0, 2}, {12, 14}}, []bool{true, true}},
		{"after one that does not count", [][2]float64{{0, 2}, {3, 5}, {14, 16}, {15, 17}}, []bool{true, false, false, false}},
		{"in any order", [][2]float64{{60, 62}, {0, 2}, {63, 65}}, []bool{true, true, false}},
		{"while a long one lasts", [][2]float64{{0, 100}, {50, 60}, {109, 120}}, []bool{true, false, false}},
		{"none", nil, []bool{}},
	} {
		spans := []results.Span{{}} // nothing of this one began
		for _, b := range c.blocks {
			spans = append(spans, results.Span{Began: at(b[0]), Ended: at(b[1])})
		}
		if got := results.Apart(spans)[1:]; !slices.Equal(got, c.want) {
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
			{Block: 1},
			{Block: 1, StartedAt: at(3000), Metrics: map[string]float64{"duration_s": 2}},
			{Block: 1, StartedAt: at(1000), Slots: []slots.Slot{{AtS: 1, DurationS: 1}, {AtS: 8, DurationS: 0.5}}},
			{Block: 2},
			{Block: 3, StartedAt: at(30000), Metrics: map[string]float64{"duration_s": 1}},
		},
	}
	for _, profileS := range []float64{0, 2} {
		f.Provenance.Block.ProfileS = profileS
		spans, after := f.Spans(), int(2000*profileS)
		for block, want := range map[int]results.Span{2: {}, 1: {Began: at(1000), Ended: at(8500 + after)},
			3: {Began: at(30000), Ended: at(32000 + after)}} {
			if got, ok := spans[block]; !ok || got != want {
				t.Errorf("block %d: %+v, want %+v", block, got, want)
			}
		}
	}
}
