// Package stats has how much of the error each claim gets, and medians.
//
// All statements are about the median block, never the mean. Magnitudes of the ratios would
// need fewer blocks, but only where their noise is symmetric, and on shared machines it is not.
//
// Summarise is for single figures, which decide nothing: its interval is the sign test's, for a
// fixed sample size. Verdicts rest on the interval of package confseq, which holds whenever a
// run stops.
package stats

import (
	"math"
	"slices"

	"github.com/line-rate/line-rate/lab/confseq"
)

// Confidence is the least coverage of every interval in the lab.
const Confidence = 0.95

// MinSamples is the smallest sample that has an interval of that coverage at a fixed
// size. A verdict needs more: at least Fewest(Level(1, 1)).
const MinSamples = 6

// Alpha is the probability of a wrong verdict that a question may have, over all
// of its designs and their claims, and however long it goes on.
const Alpha = 0.05

// Level is the part of Alpha for each of the claims that divide a question's nth design. The parts
// 1/(n(n+1)) of all designs add up to 1, however many follow.
func Level(nth, claims int) float64 {
	return Alpha / float64(nth*(nth+1)*max(1, claims))
}

// Fewest is the smallest number of answers that decides one side at a level, if all say yes.
func Fewest(alpha float64) int {
	n := MinSamples
	for !confseq.Shown(n, n, alpha) {
		n++
	}
	return n
}

// A Summary is a median with its exact interval.
type Summary struct {
	N      int
	Median float64
	// Low and High bound the median with at least Confidence; they are set only if
	// HasInterval.
	Low, High   float64
	HasInterval bool
}

// Median is the sample median, the mean of the middle two if n is even. It
// panics on an empty sample.
func Median(sample []float64) float64 {
	if len(sample) == 0 {
		panic("stats: median of nothing")
	}
	s := slices.Sorted(slices.Values(sample))
	mid := len(s) / 2
	if len(s)%2 == 1 {
		return s[mid]
	}
	// Halved first, so that two large values cannot overflow.
	return s[mid-1]/2 + s[mid]/2
}

// Summarise gives the median of a sample and, from MinSamples on, its interval
// by order statistics. It panics on an empty sample.
func Summarise(sample []float64) Summary {
	s := slices.Sorted(slices.Values(sample))
	sum := Summary{N: len(s), Median: Median(s)}
	if k := rank(len(s)); k > 0 {
		sum.Low, sum.High, sum.HasInterval = s[k-1], s[len(s)-k], true
	}
	return sum
}

// rank is the largest k for which the k-th smallest and k-th largest of n
// values bound the median with at least Confidence. It is 0
// if even the whole range covers less.
func rank(n int) (k int) {
	// The median is outside [x_k, x_(n+1-k)] if fewer than k of n coin flips fall on one
	// side. It uses logarithms, since 2^-n is no float64 for n of 1075 and more.
	tail, logTerm := 0.0, -float64(n)*math.Ln2
	for i := 0; i <= n/2; i++ {
		tail += math.Exp(logTerm) // P(at most i of n)
		if 1-2*tail < Confidence {
			break
		}
		k = i + 1
		logTerm += math.Log(float64(n-i) / float64(i+1))
	}
	return k
}
