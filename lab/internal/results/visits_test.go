package results

import (
	"slices"
	"testing"
	"time"
)

func staysAt(pairs ...[2]float64) []Stay {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	at := func(s float64) time.Time { return noon.Add(time.Duration(s * float64(time.Second))) }
	var out []Stay
	for _, p := range pairs {
		out = append(out, Stay{at(p[0]), at(p[1])})
	}
	return out
}

// Blocks that follow one another within a minute are one visit; ten seconds away,
// or a minute since the first began, make another.
func TestVisitsAreBlocksOfOneStay(t *testing.T) {
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
		if got := Visits(staysAt(c.blocks...)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A block's time is that of its trials, valid or not, and of the profiles after
// them; a block whose trials did not start is where the one before it ended.
func TestABlocksTimeIsItsTrials(t *testing.T) {
	f := turned(t, turning(t), 3, false)
	for i := range f.Trials {
		if f.Trials[i].Block == 2 {
			f.Trials[i].Valid, f.Trials[i].Slots, f.Trials[i].Metrics, f.Trials[i].StartedAt = false, nil, nil, time.Time{}
		}
	}
	stays := f.Stays()
	var began, ended time.Time
	for _, trial := range f.Trials[:4] {
		if end := trial.StartedAt.Add(trial.Took(f.Provenance)); end.After(ended) {
			ended = end
		}
		if began.IsZero() || trial.StartedAt.Before(began) {
			began = trial.StartedAt
		}
	}
	if s := stays[1]; !s.Began.Equal(began) || !s.Ended.Equal(ended) || len(stays) != 3 {
		t.Errorf("%+v, want %s to %s", s, began, ended)
	}
	if s := stays[2]; !s.Began.Equal(stays[1].Ended) || Visits([]Stay{stays[1], s})[1] != 0 {
		t.Errorf("a block that never started is at %+v, after %+v", s, stays[1])
	}
	plain := stays[1].Ended
	for i := range f.Trials { // refused after they ran
		f.Trials[i].Valid = false
	}
	if got := f.Stays()[1].Ended; !got.Equal(plain) {
		t.Errorf("the block ended at %s, and with a refused trial at %s", plain, got)
	}
	f.Provenance.Block.ProfileS = 2
	if got := f.Stays()[1].Ended.Sub(plain); got != 8*time.Second {
		t.Errorf("four servers profiled for two seconds each take %s", got)
	}
}
