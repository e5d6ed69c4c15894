// Package stats holds the few statistics that verdicts rest on.
//
// Its stance: paired, without a model, and valid whenever one stops. A neighbour
// can halve a core's speed for minutes, so two conditions are compared within a
// block, where they met the same machine. What a block says then is one bit: its
// ratio lies on this side of an edge, or not. Blocks are counted and the counts
// are bet on (LogE), so that one may look after each block, stop when it suits,
// and go on tomorrow, which no p value of a fixed sample bears. Nothing is asked
// of the shape of the noise. What is asked is that each block, whatever came
// before it, is as likely as any other to fall on either side: blocks that start
// servers afresh and draw their order are made for that, and KruskalWallis looks
// whether runs of different days still agree.
//
// The sources: Ville, "Étude critique de la notion de collectif" (1939), for the
// inequality; Howard and Ramdas, "Sequential estimation of quantiles with
// applications to A/B testing and best-arm identification" (2022), for
// confidence sequences of a median; Waudby-Smith and Ramdas, "Estimating means of
// bounded random variables by betting" (2024), for mixtures of bets; Ramdas, Ruf,
// Larsson and Koolen, "Admissible anytime-valid sequential inference must rely on
// nonnegative martingales" (2020), for why nothing else would do.
//
// The price is power: a t test would decide on fewer blocks where its model is
// true. And the median block is all that is spoken of, never the mean.
//
// Summarise stays for single figures, which nothing is decided by: its interval
// is the sign test's, for a sample of the size that it has.
package stats

import (
	"math"
	"slices"
)

// Confidence is the least coverage of every interval in the lab.
const Confidence = 0.95

// MinSamples is the smallest sample that has an interval of that coverage, and
// the least number of blocks that decides anything.
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
