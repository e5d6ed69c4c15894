package compare

import (
	"math"
	"slices"

	"github.com/line-rate/line-rate/lab/confseq"
)

// Over is the ratio of one server's figures to another's, of which least and most bound that of
// each block; from 0 to infinity is a block that cannot tell. It is nil if none can. level is the
// probability of error that its interval may have.
func Over(least, most []float64, level float64) *Ratio {
	var middle []float64
	each := make([]float64, len(least))
	for n := range least {
		if !math.IsInf(most[n], 1) {
			each[n] = (least[n] + most[n]) / 2
			middle = append(middle, each[n])
		}
	}
	if len(middle) == 0 {
		return nil
	}
	r := &Ratio{Ratio: median(middle), Blocks: len(least), Each: each}
	if low, high, ok := confseq.Median(least, most, level); ok && low > 0 && !math.IsInf(high, 1) {
		r.Low, r.High, r.Unequal = low, high, low > 1 || high < 1
	}
	return r
}

// median is 0 of nothing.
func median(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(of))
	return s[(len(s)-1)/2]/2 + s[len(s)/2]/2
}

// Judge is the rule: the same if the whole interval is within the margin; else
// dearer or cheaper if all of it is on one side of 1.
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
