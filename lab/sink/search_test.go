package main

import "testing"

// A limit that does not hold is given up for the next lower rate that did.
func TestBelowIsTheNextRateThatWasKeptUpWith(t *testing.T) {
	steps := []step{{PerSecond: 2000, KeptUp: true}, {PerSecond: 4000, KeptUp: true}, {PerSecond: 8000}, {PerSecond: 5657, KeptUp: true}, {PerSecond: 6727}}
	for _, c := range []struct{ rate, want int }{{5657, 4000}, {4000, 2000}, {9000, 5657}} {
		if got := below(c.rate, steps); got == nil || *got != c.want {
			t.Errorf("below %d: %v, want %d", c.rate, got, c.want)
		}
	}
	if got := below(2000, steps); got != nil {
		t.Errorf("below the lowest: %d", *got)
	}
}
