package stats

import (
	"math"
	"slices"
	"sort"

	exact "github.com/aclements/go-moremath/stats"
)

// exactUpTo is the product of two sample sizes up to which the distribution of U is
// computed exactly, which takes time in the square of it.
const exactUpTo = 2500

// z is the point of the normal distribution with half of 1 - Confidence above it.
const z = 1.959963985

// Independent is the interval of the ratio of b to a for two independent samples of
// positive figures. It is Mann and Whitney's test, turned round: the interval has all
// ratios by which a may be multiplied without the test telling the two apart at
// Confidence. Its ends are
// order statistics of all quotients of a figure of b and one of a. Each figure may
// be a range: low comes from the least that the quotients may be, high from the
// most. It is false if the samples are too small: four and four are enough.
//
// The sizes must not depend on the figures, and the noise of the two must have the
// same shape, whatever it is. Verdicts pair conditions within a block and need
// neither; blocks of two runs have nothing to be paired by. So this interval
// describes, and decides nothing.
//
// Sources: Mann and Whitney, "On a test of whether one of two random variables is
// stochastically larger than the other" (1947); Hodges and Lehmann, "Estimates of
// location based on rank tests" (1963), for the interval.
func Independent(a, b []Range) (low, high float64, ok bool) {
	k, ok := between(len(a), len(b))
	if !ok {
		return 0, 0, false
	}
	var least, most []float64
	for _, x := range a {
		for _, y := range b {
			least, most = append(least, y.Low/x.High), append(most, y.High/x.Low)
		}
	}
	slices.Sort(least)
	slices.Sort(most)
	return least[k-1], most[len(most)-k], true
}

// A Range is what a recorded figure may stand for, both ends included.
type Range struct{ Low, High float64 }

// between is the largest k for which the k-th smallest and the k-th largest of the
// n·m quotients bound the ratio with at least Confidence; false if even all of them
// cover less.
func between(n, m int) (k int, ok bool) {
	// The ratio is below the k-th smallest quotient if fewer than k quotients are
	// below it, and U counts those.
	if n*m > exactUpTo {
		u := float64(n) * float64(m)
		k = int(u/2 - z*math.Sqrt(u*float64(n+m+1)/12) + 0.5)
		return k, k > 0
	}
	if n == 0 || m == 0 {
		return 0, false
	}
	u := exact.UDist{N1: n, N2: m}
	k = sort.Search(n*m/2, func(i int) bool { return 2*u.CDF(float64(i)) > 1-Confidence })
	return k, k > 0
}
