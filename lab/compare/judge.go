package compare

import (
	"math"
	"slices"

	"github.com/line-rate/line-rate/lab/confseq"
)

// Over is the ratio of one server's figures to another's, of which each has that of a block; 0 is a block that cannot
// tell, and may have any. It is nil if none can. level is the probability of error that its interval may have.
func Over(each []float64, level float64) *Ratio {
	var known, highest []float64
	for _, v := range each {
		if highest = append(highest, most(v)); v > 0 {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		return nil
	}
	r := &Ratio{Ratio: median(known), Blocks: len(each), Each: slices.Clone(each)}
	if low, high, ok := confseq.Median(each, highest, level); ok && low > 0 && !math.IsInf(high, 1) {
		r.Low, r.High, r.Unequal = low, high, low > 1 || high < 1
	}
	return r
}

func median(of []float64) float64 {
	s := slices.Sorted(slices.Values(of))
	return s[(len(s)-1)/2]/2 + s[len(s)/2]/2
}

// Judge is the rule: the same if the whole interval is within the margin; else more or less if the
// whole interval is on one side of 1.
func (r *Ratio) Judge(margin float64) Verdict {
	switch {
	case !r.Known():
	case r.Low >= 1/(1+margin) && r.High <= 1+margin:
		return Same
	case r.Unequal && r.Low >= 1:
		return Dearer
	case r.Unequal && r.High <= 1:
		return Cheaper
	}
	return Undecided
}

// Against says whether all of the interval is above a bar: yes, no, or open.
func (r *Ratio) Against(bar float64) string {
	switch {
	case !r.Known():
	case r.Low > bar || r.Low == bar && r.Unequal && bar == 1:
		return AboveYes
	case r.High <= bar:
		return AboveNo
	}
	return AboveOpen
}

// Further estimates how many more blocks would decide the verdict, and whether the ratio is above a bar, if there is
// one (0: none). An interval is half as wide after four times as many blocks. It is 0 if that is not known.
func (r *Ratio) Further(level, margin, bar float64) int {
	switch {
	case r == nil:
		return 0
	case !r.Known():
		return max(1, Fewest(level)-r.Blocks)
	}
	off := math.Abs(math.Log(r.Ratio))
	to := max(off, math.Log(1+margin)-off)
	if bar > 0 {
		to = min(to, math.Abs(math.Log(r.Ratio/bar)))
	}
	if times := math.Log(r.High/r.Low) / 2 / to; times < 100 {
		return max(1, int(math.Ceil(float64(r.Blocks)*(times*times-1))))
	}
	return 0
}
