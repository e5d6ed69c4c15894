package compare

import (
	"math"
	"slices"
	"sort"

	"github.com/line-rate/line-rate/lab/confseq"
)

// Ratios are those of one server's figures to another's, block by block. A block that cannot tell has 0: it may have
// any ratio.
type Ratios struct {
	Each []float64
	// Again has each block's ratio once more, from a second start of one of the two, a control. It is nil if
	// neither started twice.
	Again []float64
}

// most is what a ratio is at most; it is itself at least that, also where it is not known.
func most(ratio float64) float64 {
	if ratio == 0 {
		return math.Inf(1)
	}
	return ratio
}

// shifts are what the sizes of the ratios say for one that is above 1, and for one below: the
// logarithms of two e-values.
func (r Ratios) shifts() (up, down float64) {
	ups, downs := make([][]float64, len(r.Each)), make([][]float64, len(r.Each))
	for b, v := range r.Each {
		ups[b], downs[b] = []float64{math.Log(v)}, []float64{-math.Log(most(v))}
		if b < len(r.Again) && r.Again[b] > 0 {
			again := math.Log(r.Again[b])
			ups[b], downs[b] = append(ups[b], again), append(downs[b], -again)
		}
	}
	return confseq.LogShift(ups), confseq.LogShift(downs)
}

// bet is the logarithm of the e-value for "the ratio is on this side of 1", if k of n blocks are. A quarter on the
// sizes is what leaves the fewest blocks that decide where they are for two servers, seven.
func bet(k, n int, sizes float64) float64 {
	signs := confseq.LogE(k, n)
	return confseq.LogMean(signs, signs, signs, sizes)
}

// Fewest is how many blocks decide at a level, if all say the same.
func Fewest(level float64) int {
	n := 1
	for bet(n, n, math.Inf(-1)) < math.Log(2/level) {
		n++
	}
	return n
}

// Interval is what Over gives, with what the sizes of the ratios tell. Up to 1 it leaves out the values that signs and
// sizes exclude together, and beyond 1 those that signs alone exclude. There, sizes would be right only if a server
// cost more by the same factor in each block.
func (r Ratios) Interval(level float64) *Ratio {
	out := Over(r.Each, level)
	if out == nil {
		return nil
	}
	out.Again = slices.Clone(r.Again)
	if out.Low, out.High, out.Unequal = 0, 0, false; len(r.Each) < Fewest(level) {
		return out
	}
	var negated []float64
	for _, v := range r.Each {
		negated = append(negated, -most(v))
	}
	up, down := r.shifts()
	low, above := lowEnd(r.Each, 1, up, level)
	high, below := lowEnd(negated, -1, down, level)
	if high = -high; low > 0 && !math.IsInf(high, 1) {
		out.Low, out.High, out.Unequal = low, high, above && out.Ratio > 1 || below && out.Ratio < 1
	}
	return out
}

// lowEnd is the lower end of an interval for the median of values, of which sizes say that it is above
// one. It reports whether that is left out.
func lowEnd(values []float64, one, sizes, level float64) (end float64, above bool) {
	sorted, n := slices.Sorted(slices.Values(values)), len(values)
	beyond := n - sort.Search(n, func(i int) bool { return sorted[i] > one })
	k := sort.Search(n, func(k int) bool { return bet(k, n, sizes) >= math.Log(2/level) })
	if beyond < k {
		return sorted[n-k], false
	}
	if k, ok := confseq.Least(n, level/2); ok {
		return max(one, sorted[n-k]), true
	}
	return one, true
}
