package stats

import (
	"math"
	"slices"
	"sort"
)

// Alpha is the probability of a wrong verdict that a question may have, over all
// of its designs and their claims, and however long it goes on.
const Alpha = 0.05

// Level is the part of Alpha of one of the claims that divide a question's nth
// design. The parts 1/(n(n+1)) of all designs add up to 1, however many follow.
func Level(nth, claims int) float64 {
	return Alpha / float64(nth*(nth+1)*max(1, claims))
}

// Bold is the share of yes on which the bold half of the bet in LogE is placed.
const Bold = 0.975

// LogE is the logarithm of the e-value for "more than half of all blocks say
// yes", given that the first block of k of n visits did. It is the value of one unit
// of money after betting on it, visit by visit, against "at most half of them do". Half of the
// unit bets on a share of 39 in 40 blocks. The other half is spread evenly over
// all shares from a half to one, so the part near the true share grows:
//
//	e(k, n) = 1/2 ∫ 2 (2p)^k (2(1-p))^(n-k) dp, from 1/2 to 1
//	        + 1/2 (2·0.975)^k (2·0.025)^(n-k)
//
// If at most half of all blocks say yes, whatever came before, no bet gains on
// average. So the probability that e ever reaches 1/α is at most α, at whatever
// block one stops and for whatever reason (Ville 1939). The mixture was chosen
// for its values at few blocks, 36 for six of six and 69 for seven of seven,
// without using any measured run.
func LogE(k, n int) float64 {
	if k < 0 || k > n {
		panic("stats: more visits say yes than there are")
	}
	spread := logSpread(k, n)
	bold := float64(k)*math.Log(2*Bold) + float64(n-k)*math.Log(2*(1-Bold))
	return LogSum([]float64{spread, bold}) - math.Ln2
}

// LogSum is the logarithm of a sum, of which the logarithms of the terms are given:
// e-values exceed a float64 after a thousand visits.
func LogSum(logs []float64) float64 {
	top, sum := slices.Max(logs), 0.0
	for _, l := range logs {
		sum += math.Exp(l - top)
	}
	return top + math.Log(sum)
}

// logSpread is the logarithm of the integral in LogE. This is an incomplete
// beta function; for whole numbers it is the sum of C(n+1, i) / ((n+1) C(n, k))
// over i from 0 to k. Each term is computed from the next, starting with the
// last. All are positive, so nothing cancels.
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

// Least is the smallest k for which k of n blocks that say yes have an e-value
// of 1/alpha or more; false if not even n of n have.
func Least(n int, alpha float64) (k int, ok bool) {
	k = sort.Search(n+1, func(k int) bool { return Shown(k, n, alpha) })
	return k, k <= n
}

// Shown tells whether k of n blocks that say yes have an e-value of 1/alpha or
// more. If at most half say yes, no bet has gained.
func Shown(k, n int, alpha float64) bool {
	if 0 <= k && 2*k <= n && alpha < 1 {
		return false
	}
	return LogE(k, n) >= -math.Log(alpha)
}

// Fewest is the smallest number of visits that decides at a level, if all say yes.
func Fewest(alpha float64) int {
	n := MinSamples
	for !Shown(n, n, alpha) {
		n++
	}
	return n
}

// MaxVisits is the largest number of visits that Foretell considers. The share
// seen in a few visits cannot predict more than that.
const MaxVisits = 1000

// Foretell estimates how many visits in all would reach an e-value of 1/alpha,
// if the share of yes stayed at k of n, or at all blocks if n is 0. It is false
// if MaxVisits would not be enough.
func Foretell(k, n int, alpha float64) (int, bool) {
	share := 1.0
	if n > 0 {
		share = float64(k) / float64(n)
	}
	if share <= 0.5 {
		return 0, false
	}
	for all := max(n, 1); all <= MaxVisits; all++ {
		if Shown(int(math.Round(share*float64(all))), all, alpha) {
			return all, true
		}
	}
	return 0, false
}

// Sequence is the confidence sequence of a median: with probability 1-alpha it
// contains the median at every number of blocks. It has all values that the
// e-values of LogE do not exclude, with half of alpha for each side, and its
// ends are order statistics (Howard and Ramdas 2022). low comes from the least
// value that each block's figure may have, high from the most. It is false if
// there are too few blocks.
func Sequence(least, most []float64, alpha float64) (low, high float64, ok bool) {
	n := len(least)
	k, ok := Least(n, alpha/2)
	if !ok {
		return 0, 0, false
	}
	// The median is above what k of n values are above.
	return slices.Sorted(slices.Values(least))[n-k], slices.Sorted(slices.Values(most))[k-1], true
}
