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
	"slices"

	moremath "github.com/aclements/go-moremath/stats"

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
	n, _ := confseq.Needed(0, 0, alpha)
	return max(MinSamples, n)
}

// A Summary is a median with its exact interval.
type Summary struct {
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
	// Halved first, so that two large values cannot overflow.
	return s[(len(s)-1)/2]/2 + s[len(s)/2]/2
}

// Summarise gives the median of a sample and, from MinSamples on, its interval
// by order statistics. It panics on an empty sample.
func Summarise(sample []float64) Summary {
	s := slices.Sorted(slices.Values(sample))
	sum := Summary{Median: Median(s)}
	// The median is outside the kth values from both ends if fewer than k of as many coin flips fall on one side.
	k, coins := 0, moremath.BinomialDist{N: len(s), P: 0.5}
	for 1-2*coins.CDF(float64(k)) >= Confidence {
		k++
	}
	if k > 0 {
		sum.Low, sum.High, sum.HasInterval = s[k-1], s[len(s)-k], true
	}
	return sum
}
