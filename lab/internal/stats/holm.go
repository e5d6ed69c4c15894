package stats

import (
	"cmp"
	"slices"
)

// Holm corrects p values for their number by Holm's step-down rule: whatever
// the tests have to do with each other, the chance of any false rejection
// among them stays below the level that a corrected p is held against.
func Holm(ps []float64) []float64 {
	by := order(len(ps), func(i, j int) int { return cmp.Compare(ps[i], ps[j]) })
	out := slices.Clone(ps)
	least := 0.0
	for at, i := range by {
		least = max(least, min(1, float64(len(ps)-at)*ps[i]))
		out[i] = least
	}
	return out
}
