package stats

import (
	"math"
	"slices"
	"sort"
)

// Alpha is the chance of a wrong answer that an experiment may have, over all of
// its claims and however long it goes on.
const Alpha = 0.05

// Bold is what the bold one of the two bettors in LogE expects of a block.
const Bold = 0.975

// LogE is the logarithm of the e-value for "more than half of all blocks say
// yes", where k of n did: what one unit of money has become that was bet, block
// by block, against "at most half of them do". Half of it was laid on the bold
// guess that 39 of 40 blocks say yes. The other half was spread evenly over all
// shares from a half to one, and grows with whichever is true:
//
//	e(k, n) = 1/2 ∫ 2 (2p)^k (2(1-p))^(n-k) dp, from 1/2 to 1
//	        + 1/2 (2·0.975)^k (2·0.025)^(n-k)
//
// Where at most half of all blocks say yes, whatever came before, no bet gains in
// the mean. So the chance that e ever reaches 1/α is at most α, at whatever block
// one stops and for whatever reason (Ville 1939). The mixture was chosen by what
// the fewest blocks come to, six of six to 36 and seven of seven to 69, and on no
// measured run.
func LogE(k, n int) float64 {
	if k < 0 || k > n {
		panic("stats: more blocks say yes than there are")
	}
	spread := logSpread(k, n)
	bold := float64(k)*math.Log(2*Bold) + float64(n-k)*math.Log(2*(1-Bold))
	top := max(spread, bold)
	return top + math.Log((math.Exp(spread-top)+math.Exp(bold-top))/2)
}

// logSpread is the logarithm of the integral in LogE. It is an incomplete beta
// function, and with whole numbers the sum of C(n+1, i) / ((n+1) C(n, k)) over i
// from 0 to k. From the last term backwards each follows from the one before; all
// are positive, so nothing cancels.
func logSpread(k, n int) float64 {
	term := 1 / float64(n-k+1)
	sum, shift := term, 0.0
	for i := k; i > 0; i-- {
		term *= float64(i) / float64(n-i+2)
		if sum += term; sum > 1e200 { // 2^1024 is no float64
			sum, term, shift = sum*1e-200, term*1e-200, shift+200*math.Ln10
		}
		// From here on the terms only fall, each by more than the one before.
		if 2*i < n && term < 1e-18*sum {
			break
		}
	}
	return math.Log(sum) + shift
}

// Least is the smallest number of n blocks whose saying yes has an e-value of
// 1/alpha or more; false where not even all n do.
func Least(n int, alpha float64) (k int, ok bool) {
	k = sort.Search(n+1, func(k int) bool { return Shown(k, n, alpha) })
	return k, k <= n
}

// Shown tells whether k of n blocks that say yes have an e-value of 1/alpha or
// more.
func Shown(k, n int, alpha float64) bool { return LogE(k, n) >= -math.Log(alpha) }

// MaxBlocks bounds what Foretell looks ahead to. Beyond it the answer is "more",
// since a share that was seen in a few blocks foretells no farther.
const MaxBlocks = 1000

// Foretell is how many blocks in all would come to an e-value of 1/alpha, if the
// share of those that say yes stayed what it was in k of n; of no block, if all
// said yes. False where MaxBlocks would not do. It is an estimate, and no promise.
func Foretell(k, n int, alpha float64) (int, bool) {
	share := 1.0
	if n > 0 {
		share = float64(k) / float64(n)
	}
	if share <= 0.5 {
		return 0, false
	}
	for all := max(n, 1); all <= MaxBlocks; all++ {
		if Shown(int(math.Round(share*float64(all))), all, alpha) {
			return all, true
		}
	}
	return 0, false
}

// Sequence is the confidence sequence of a median: the range that holds it, at
// whatever number of blocks one looks, but for a chance of alpha. It is all that
// the e-values of LogE leave over, each side at half of alpha, and its ends are
// order statistics (Howard and Ramdas 2022). Low comes from the least that each
// block's figure may be, high from the most. False where there are too few.
func Sequence(least, most []float64, alpha float64) (low, high float64, ok bool) {
	n := len(least)
	k, ok := Least(n, alpha/2)
	if !ok {
		return 0, 0, false
	}
	// The median lies above what k values of n do.
	return slices.Sorted(slices.Values(least))[n-k], slices.Sorted(slices.Values(most))[k-1], true
}
