package compare

import (
	"math"
	"slices"
	"sort"

	"github.com/line-rate/line-rate/lab/confseq"
)

// Ratios are those of one server's figures to another's, block by block.
type Ratios struct {
	// Least and Most bound the ratio of each block; from 0 to infinity is a block that cannot tell.
	Least, Most []float64
	// AgainLeast and AgainMost bound it once more, from a second start of one of the two, a control;
	// from 0 to infinity where there is none. Both are nil if neither server started twice.
	AgainLeast, AgainMost []float64
}

// shifts are what the sizes of the ratios say for one that is above 1, and for one below: the
// logarithms of two e-values.
func (r Ratios) shifts() (up, down float64) {
	ups, downs := make([][]float64, len(r.Least)), make([][]float64, len(r.Least))
	add := func(b int, least, most float64) {
		ups[b], downs[b] = append(ups[b], math.Log(least)), append(downs[b], -math.Log(most))
	}
	for b := range r.Least {
		add(b, r.Least[b], r.Most[b])
		if b < len(r.AgainLeast) && !math.IsInf(r.AgainMost[b], 1) {
			add(b, r.AgainLeast[b], r.AgainMost[b])
		}
	}
	return confseq.LogShift(ups), confseq.LogShift(downs)
}

// together weighs signs and sizes, as logarithms of e-values. A quarter on the sizes is what
// leaves the fewest blocks that decide where they are for two servers, seven.
func together(signs, sizes float64) float64 { return confseq.LogMean(signs, signs, signs, sizes) }

// bet is the logarithm of the e-value for "the ratio is on this side of a value", if k of n blocks are.
// Up to equality, sizes belong to it. Beyond they would be right only if a server that costs more
// did so by the same factor in each block.
func bet(k, n int, sizes float64, beyond bool) float64 {
	if signs := confseq.LogE(k, n); beyond {
		return signs
	} else {
		return together(signs, sizes)
	}
}

// Fewest is how many blocks decide at a level, if all say the same.
func Fewest(level float64) int {
	n := 1
	for bet(n, n, math.Inf(-1), false) < math.Log(2/level) {
		n++
	}
	return n
}

// Interval is what Over gives, with what the sizes of the ratios tell. Of the values up to 1 it
// leaves out those that signs and sizes exclude together; of those beyond it, as seen
// from that end, those that signs alone exclude.
func (r Ratios) Interval(level float64) *Ratio {
	out := Over(r.Least, r.Most, level)
	if out == nil {
		return nil
	}
	if again := Over(r.AgainLeast, r.AgainMost, level); again != nil {
		out.Again = again.Each
	}
	if out.Low, out.High, out.Unequal = 0, 0, false; len(r.Least) < Fewest(level) {
		return out
	}
	up, down := r.shifts()
	low, above := lowEnd(r.Least, 1, up, level)
	high, below := lowEnd(negated(r.Most), -1, down, level)
	if high = -high; low > 0 && !math.IsInf(high, 1) {
		out.Low, out.High, out.Unequal = low, high, above && out.Ratio > 1 || below && out.Ratio < 1
	}
	return out
}

// After is what Interval gave after the first n blocks.
func (r *Ratio) After(n int, level float64) *Ratio {
	var of Ratios
	of.Least, of.Most = Bounds(r.Each[:min(n, len(r.Each))])
	of.AgainLeast, of.AgainMost = Bounds(r.Again[:min(n, len(r.Again))])
	return of.Interval(level)
}

// Bounds are what each of some ratios, as Each or Again has them, is at least and at most: one of 0 has no limit
// above.
func Bounds(each []float64) (least, most []float64) {
	for _, v := range each {
		if least, most = append(least, v), append(most, v); v == 0 {
			most[len(most)-1] = math.Inf(1)
		}
	}
	return least, most
}

func negated(of []float64) []float64 {
	out := slices.Clone(of)
	for i := range out {
		out[i] = -out[i]
	}
	return out
}

// lowEnd is the lower end of an interval for the median of values, of which sizes say that it is above
// one. It reports whether that is left out.
func lowEnd(values []float64, one, sizes, level float64) (end float64, above bool) {
	sorted, n, beyond := slices.Sorted(slices.Values(values)), len(values), 0
	for _, v := range values {
		if v > one {
			beyond++
		}
	}
	k := sort.Search(n, func(k int) bool { return bet(k, n, sizes, false) >= math.Log(2/level) })
	if beyond < k {
		return sorted[n-k], false
	}
	if k, ok := confseq.Least(n, level/2); ok {
		return max(one, sorted[n-k]), true
	}
	return one, true
}

// Further estimates how many more blocks would decide what Interval gives, if they went on as
// before: whether it is the same within the margin, and whether it is above a bar, if one is
// given (0: none). It is 0 if that is not known.
func (r Ratios) Further(level, margin, bar float64) int {
	n, up, down := float64(len(r.Least)), 0.0, 0.0
	if n > 0 {
		up, down = r.shifts()
	}
	sooner := math.Inf(1)
	if gained := max(up, down); gained > 0 { // a quarter of the bet is to reach 2/level
		sooner = max(math.Ceil(n*math.Log(8/level)/gained)-n, float64(Fewest(level))-n, 1)
	}
	return r.further(level, margin, bar, sooner)
}

// Further is Ratios.Further for what Over gives.
func Further(least, most []float64, level, margin, bar float64) int {
	return Ratios{Least: least, Most: most}.further(level, margin, bar, math.Inf(1))
}

// further takes the blocks after which the ratio may be told from 1 sooner than by signs.
func (r Ratios) further(level, margin, bar, sooner float64) int {
	n, is := len(r.Least), r.count(margin, bar)
	needs := func(k int) float64 {
		all, ok := confseq.Needed(k, n, level/2)
		if !ok {
			return math.Inf(1)
		}
		return float64(max(all-n, 1))
	}
	blocks := min(max(needs(is.atLeast), needs(is.atMost)), needs(is.more), needs(is.less), sooner)
	if bar > 0 {
		blocks = max(blocks, min(needs(is.above), needs(is.notAbove)))
	}
	if math.IsInf(blocks, 1) {
		return 0
	}
	return int(blocks)
}

// counts are how many blocks give each answer.
type counts struct{ more, less, atMost, atLeast, above, notAbove int }

// count holds each block against equality, the margin and the bar.
func (r Ratios) count(margin, bar float64) (is counts) {
	one := map[bool]int{true: 1}
	for b, least := range r.Least {
		most := r.Most[b]
		is.more += one[least > 1]
		is.less += one[most < 1]
		is.atMost += one[most <= 1+margin]
		is.atLeast += one[least >= 1/(1+margin)]
		is.above += one[least > bar]
		is.notAbove += one[most <= bar]
	}
	return is
}
