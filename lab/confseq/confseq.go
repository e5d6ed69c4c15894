// Package confseq says whether more than half of a stream of yes and no says yes, and
// where the median of a stream of figures is, at any time one looks.
//
// A p value for a fixed sample size holds for one look. Here each answer is a bet (LogE),
// and the gain is evidence whenever you stop, for whatever reason; you may add to it the
// next day. If at most half say yes, it ever reaches 1/alpha with a probability of at most
// alpha. Two programs on a machine that others use are compared so: a block measures both
// at nearly the same time and gives one ratio; whether it lies above 1.05, say, is one
// bit.
//
//	block      1     2     3     4     5     6     7
//	ratio    1.08  1.11  1.07  1.02  1.09  1.10  1.08      Median: what interval?
//	> 1.05    yes   yes   yes    no   yes   yes   yes      Shown: more than half?
//
// Assumed is one thing: whatever came before, the next answer is as likely to be against a
// false claim as for it, or more likely. The bet assumes nothing about the noise: not that
// it is normal, nor symmetric, nor alike from one day to the next. It does not cover an
// error that lasts for many answers: those are one piece of evidence, and the bet counts
// several.
//
// The price is power: a t test needs fewer blocks where its model is true. And all
// statements are about the median, never the mean.
//
// For the inequality see Ville, "Étude critique de la notion de collectif" (1939). For
// confidence sequences of a median see Howard and Ramdas, "Sequential estimation of
// quantiles with applications to A/B testing and best-arm identification" (2022). For
// mixtures of bets see Waudby-Smith and Ramdas, "Estimating means of bounded random
// variables by betting" (2024). For why nothing else would do see Ramdas, Ruf, Larsson
// and Koolen, "Admissible anytime-valid sequential inference must rely on nonnegative
// martingales" (2020).
package confseq

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// Bold is the share of yes on which the bold half of the bet in LogE is placed.
const Bold = 0.975

// LogE is the natural logarithm of the e-value for "more than half say yes", given that
// k of n answers did. It is the value of one unit of money after betting on that, answer by
// answer, against "at most half do". Half of the unit bets on a share of 39 in 40. The other
// half is spread evenly over all shares from a half to one, so the part near the true share
// grows:
//
//	e(k, n) = 1/2 ∫ 2 (2p)^k (2(1-p))^(n-k) dp, from 1/2 to 1
//	        + 1/2 (2·0.975)^k (2·0.025)^(n-k)
//
// If at most half say yes, whatever came before, no bet gains on average. So the
// probability that e ever reaches 1/α is at most α, at whatever answer one stops and for
// whatever reason (Ville 1939). We chose the mixture for its values at few answers, 36
// for six of six and 69 for seven of seven, without using any measured run.
//
// It panics unless 0 <= k <= n.
func LogE(k, n int) float64 {
	if k < 0 || k > n {
		panic(fmt.Sprintf("confseq: %d of %d say yes", k, n))
	}
	spread := logSpread(k, n)
	bold := float64(k)*math.Log(2*Bold) + float64(n-k)*math.Log(2*(1-Bold))
	return LogMean(spread, bold)
}

// LogMean is the logarithm of the mean of e-values, of which the logarithms are given: they
// exceed a float64 after a thousand answers. The mean of bets that are each fair is a fair
// bet itself, whether or not they depend on each other. It panics if there are none.
func LogMean(logs ...float64) float64 {
	top, sum := slices.Max(logs), 0.0
	for _, l := range logs {
		sum += math.Exp(l - top)
	}
	return top + math.Log(sum) - math.Log(float64(len(logs)))
}

// logSpread is the logarithm of the integral in LogE. This is an incomplete beta
// function; for whole numbers it is the sum of C(n+1, i) / ((n+1) C(n, k)) over i from 0
// to k. Each term follows from the next, starting with the last. All are positive, so
// nothing cancels.
func logSpread(k, n int) float64 {
	term := 1 / float64(n-k+1)
	sum, shift := term, 0.0
	for i := k; i > 0; i-- {
		term *= float64(i) / float64(n-i+2)
		if sum += term; sum > 1e200 { // 2^1024 exceeds a float64
			sum, term, shift = sum*1e-200, term*1e-200, shift+200*math.Ln10
		}
		// From here on the terms decrease, each faster than the one before.
		if 2*i < n && term < 1e-18*sum {
			break
		}
	}
	return math.Log(sum) + shift
}

// Least is the smallest k for which Shown(k, n, alpha); false if not even n of n are enough.
func Least(n int, alpha float64) (k int, ok bool) {
	k = sort.Search(n+1, func(k int) bool { return Shown(k, n, alpha) })
	return k, k <= n
}

// Shown reports whether k of n answers that say yes have an e-value of 1/alpha or more. If
// at most half say yes, it is ever true with a probability of at most alpha. To ask for
// both directions, give each half of alpha. It panics unless 0 <= k <= n.
func Shown(k, n int, alpha float64) bool {
	if 0 <= k && 2*k <= n && alpha < 1 {
		return false // no bet has gained
	}
	return LogE(k, n) >= -math.Log(alpha)
}

// MaxNeeded is the largest number of answers that Needed considers. The share seen in a few
// cannot predict more than that.
const MaxNeeded = 1000

// Needed estimates how many answers in all would be enough for Shown if the share of yes
// stayed at k of n, or at all if n is 0. It is false if MaxNeeded would not be.
func Needed(k, n int, alpha float64) (all int, ok bool) {
	share := 1.0
	if n > 0 {
		share = float64(k) / float64(n)
	}
	if share <= 0.5 {
		return 0, false
	}
	for all := max(n, 1); all <= MaxNeeded; all++ {
		if Shown(int(math.Round(share*float64(all))), all, alpha) {
			return all, true
		}
	}
	return 0, false
}

// Median is the confidence sequence of a median: with a probability of 1-alpha it holds the
// median at every number of figures, so that it may be looked at after each. It has all
// values that LogE does not exclude, with half of alpha for each side, and its ends are order
// statistics (Howard and Ramdas 2022). A figure that is known only to a range has its ends
// in least and most, of equal length; from 0 to infinity says nothing of a ratio. It is false
// if there are too few figures: at an alpha of 0.05, fewer than seven.
func Median(least, most []float64, alpha float64) (low, high float64, ok bool) {
	n := len(least)
	k, ok := Least(n, alpha/2)
	if !ok {
		return 0, 0, false
	}
	// The median is above what k of n values are above.
	return slices.Sorted(slices.Values(least))[n-k], slices.Sorted(slices.Values(most))[k-1], true
}
