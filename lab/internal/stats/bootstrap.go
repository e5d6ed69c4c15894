package stats

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Resamples is how many times the bootstrap draws the blocks anew.
const Resamples = 2000

// An Interval is a range that holds a figure with Confidence.
type Interval struct{ Low, High float64 }

// Bootstrap is the percentile interval of the ratio of medians of a over b,
// blocks drawn anew with both their figures. It answers what a reader asks who
// divides two printed medians, and it is a check, not a witness: nothing
// guarantees its coverage over so few blocks. Not BCa: its acceleration is a
// jackknife's, and the jackknife of a median is inconsistent.
//
// The seed is fixed and blocks are put in an order of their own first, so that
// neither chance nor names of blocks move a page.
func Bootstrap(a, b []float64) (ratio float64, i Interval, err error) {
	ratios, err := Ratios(a, b)
	if err != nil {
		return 0, Interval{}, err
	}
	n := len(ratios)
	blocks := order(n, func(i, j int) int { return cmp.Or(cmp.Compare(ratios[i], ratios[j]), cmp.Compare(a[i], a[j])) })
	place := make([]int, n)
	for at, block := range blocks {
		place[block] = at
	}
	byA, byB := order(n, func(i, j int) int { return cmp.Compare(a[i], a[j]) }), order(n, func(i, j int) int { return cmp.Compare(b[i], b[j]) })
	pcg := rand.NewPCG(1906, uint64(n))
	drawn := make([]int, n)
	medians := make([]float64, Resamples)
	for r := range medians {
		clear(drawn)
		for range n {
			// Not rand.IntN, whose use of the stream a Go version may change.
			at, _ := bits.Mul64(pcg.Uint64(), uint64(n))
			drawn[at]++
		}
		medians[r] = medianOf(a, byA, place, drawn) / medianOf(b, byB, place, drawn)
	}
	slices.Sort(medians)
	tail := (1 - Confidence) / 2
	return Median(a) / Median(b), Interval{quantile(medians, tail), quantile(medians, 1-tail)}, nil
}

// order lists 0 to n-1 sorted.
func order(n int, by func(i, j int) int) []int {
	is := make([]int, n)
	for i := range is {
		is[i] = i
	}
	slices.SortStableFunc(is, by)
	return is
}

// medianOf is the median of a sample drawn so many times each, walked in its
// sorted order.
func medianOf(sample []float64, sorted, place, drawn []int) float64 {
	n := len(sample)
	seen, lower := 0, math.NaN()
	for _, i := range sorted {
		seen += drawn[place[i]]
		if math.IsNaN(lower) && seen > (n-1)/2 {
			lower = sample[i]
		}
		if seen > n/2 {
			return lower/2 + sample[i]/2
		}
	}
	return lower
}

// quantile interpolates between the two nearest ranks of a sorted sample.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-2)
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
