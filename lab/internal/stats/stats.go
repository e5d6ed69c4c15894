// Package stats holds the few statistics that verdicts rest on.
//
// Its stance: paired, exact, and two witnesses. A neighbour can halve a core's
// speed for minutes, so two conditions are compared within a block, where they
// met the same machine. The first witness has no model of the noise: its
// interval is the sign test's, order statistics of the per-block ratios. That
// costs power and buys one thing: the stated coverage holds whatever the
// distribution. The second is Student's t on the logarithms of the same
// ratios. It has a model, and in exchange a p value fine enough to be corrected
// for the number of claims, equivalence tests, and a say on power. Neither is
// believed alone.
//
// The limit follows from the arithmetic. With n blocks the widest exact
// interval covers 1 - 2^(1-n): five blocks reach 93.75 %, six 96.875 %. Fewer
// than six therefore have no 95 % interval at all, and the package says so
// instead of giving a narrower promise.
package stats

import (
	"fmt"
	"math"
	"slices"
)

// Confidence is the least coverage of every interval in the lab.
const Confidence = 0.95

// MinSamples is the smallest sample that has an interval of that coverage.
const MinSamples = 6

// A Summary is a median with its exact interval.
type Summary struct {
	N      int
	Median float64
	// Low and High bound the median with at least Confidence; they are
	// meaningful only if HasInterval.
	Low, High   float64
	HasInterval bool
	Coverage    float64 // the interval's exact coverage, never below Confidence
}

// Median returns the sample median, the mean of the middle two if n is even.
// It panics on an empty sample: there is no such figure.
func Median(sample []float64) float64 {
	if len(sample) == 0 {
		panic("stats: median of nothing")
	}
	s := slices.Sorted(slices.Values(sample))
	mid := len(s) / 2
	if len(s)%2 == 1 {
		return s[mid]
	}
	// Halves first, so that two large values cannot overflow.
	return s[mid-1]/2 + s[mid]/2
}

// Summarise gives the median of a sample and, from MinSamples on, its
// interval by order statistics. It panics on an empty sample.
func Summarise(sample []float64) Summary {
	s := slices.Sorted(slices.Values(sample))
	sum := Summary{N: len(s), Median: Median(s)}
	k, coverage := rank(len(s))
	if k > 0 {
		sum.Low, sum.High = s[k-1], s[len(s)-k]
		sum.HasInterval, sum.Coverage = true, coverage
	}
	return sum
}

// benchmath's interval does not serve here: where the tails can be unequal it
// takes the shorter, left-biased one, and a claim asks both sides the same
// question (the tests keep its figures beside these).

// rank finds the largest k for which the k-th smallest and k-th largest of n
// values bound the median with at least Confidence, and that coverage. It is
// 0 if even the whole range covers less.
func rank(n int) (k int, coverage float64) {
	// The median lies outside [x_k, x_(n+1-k)] when fewer than k of n coin
	// flips fall on one side. In logarithms, since 2^-n is no float64 from
	// n = 1075 on.
	tail, logTerm := 0.0, -float64(n)*math.Ln2
	for i := 0; i <= n/2; i++ {
		tail += math.Exp(logTerm) // P(at most i of n)
		if 1-2*tail < Confidence {
			break
		}
		k, coverage = i+1, 1-2*tail
		logTerm += math.Log(float64(n-i) / float64(i+1))
	}
	return k, coverage
}

// Ratios divides a by b, pair by pair; pairs come from the same block. It
// refuses figures that have no ratio, since dropping them would be choosing.
func Ratios(a, b []float64) ([]float64, error) {
	if len(a) != len(b) || len(a) == 0 {
		return nil, fmt.Errorf("%d figures against %d: a paired ratio needs as many, and at least one", len(a), len(b))
	}
	ratios := make([]float64, len(a))
	for i := range a {
		r := a[i] / b[i]
		if !(a[i] > 0) || !(b[i] > 0) || !(r > 0) || math.IsInf(r, 0) {
			return nil, fmt.Errorf("pair %d: no ratio of %v over %v", i+1, a[i], b[i])
		}
		ratios[i] = r
	}
	return ratios, nil
}
