package check

import (
	"math/rand/v2"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/results"
)

// wentRound makes the slots of three trials that went round in turns. drop leaves some out.
func wentRound(places []int, drop func(at int) bool) *results.File {
	f := &results.File{Trials: []results.Trial{{Slots: &results.Slots{}}, {Slots: &results.Slots{}},
		{Slots: &results.Slots{}}}}
	for at, i := range places {
		if drop(at) {
			continue
		}
		s := f.Trials[i].Slots
		s.AtS, s.FillS, s.DurationS = append(s.AtS, float64(at+1)), append(s.FillS, 0.1), append(s.DurationS, 0.8)
	}
	for i := range f.Trials {
		if len(f.Trials[i].Slots.AtS) == 0 {
			f.Trials[i].Slots = nil
		}
	}
	return f
}

// A slot is missing that failed, whichever it is.
func TestSlotsMayBeMissingAnywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var places []int
		for range 4 {
			places = append(places, r.Perm(3)...)
		}
		share := r.Float64()
		f := wentRound(places, func(int) bool { return r.Float64() < share })
		if err := (&clock{}).slots(&file{File: f}, places); err != nil {
			t.Fatalf("%v: %v", places, err)
		}
	}
}

func TestSlotsOutOfTheirOrderAreFound(t *testing.T) {
	places := []int{0, 1, 2, 0, 1, 2}
	for name, c := range map[string][]int{"all are there": {1, 0, 2, 0, 1, 2}, "one is missing": {1, 0, 2, 1, 0}} {
		f := wentRound(c, func(int) bool { return false })
		if err := (&clock{}).slots(&file{File: f}, places); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
