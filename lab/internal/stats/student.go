package stats

import (
	"math"

	"github.com/aclements/go-moremath/mathx"
)

// Alpha is the error that verdicts allow themselves: of one claim, or of all
// claims of a run together after Holm's correction.
const Alpha = 0.05

// A T is a ratio estimated on logarithms, with what Student's t needs to test
// it. On logarithms, because a ratio and its inverse are the same finding and
// because noise on a machine multiplies.
type T struct {
	N   int     // pairs, or figures of both samples
	Log float64 // logarithm of the ratio: the mean of logarithms
	SE  float64 // its standard error
	DF  float64 // degrees of freedom; none below two figures
}

// rounding is what ratios of equal figures may differ by in their last bits.
const rounding = 1e-12

// Paired makes the test of per-block ratios.
func Paired(ratios []float64) T {
	m, v := moments(ratios)
	n := float64(len(ratios))
	return T{N: len(ratios), Log: m, SE: math.Sqrt(v / n), DF: n - 1}
}

// Welch makes the test of a over b where the figures are no pairs. Verdicts
// pair; this is for figures of different runs.
func Welch(a, b []float64) T {
	ma, va := moments(a)
	mb, vb := moments(b)
	na, nb := float64(len(a)), float64(len(b))
	t := T{N: len(a) + len(b), Log: ma - mb, SE: math.Sqrt(va/na + vb/nb)}
	switch {
	case len(a) < 2 || len(b) < 2:
	case t.SE < rounding:
		t.DF = na + nb - 2
	default:
		t.DF = math.Pow(va/na+vb/nb, 2) / (math.Pow(va/na, 2)/(na-1) + math.Pow(vb/nb, 2)/(nb-1))
	}
	return t
}

// moments gives mean and variance of the sample's logarithms.
func moments(sample []float64) (mean, variance float64) {
	for _, v := range sample {
		mean += math.Log(v)
	}
	mean /= float64(len(sample))
	for _, v := range sample {
		variance += math.Pow(math.Log(v)-mean, 2)
	}
	return mean, variance / float64(max(1, len(sample)-1))
}

// Ratio is the estimate itself: the geometric mean of the ratios.
func (t T) Ratio() float64 { return math.Exp(t.Log) }

// SD is the standard deviation of one block's log ratio, of a paired test.
func (t T) SD() float64 { return t.SE * math.Sqrt(float64(t.N)) }

// Above is the one-sided p of "the ratio is above the bar": how likely figures
// that speak as much for it would be, were it not so.
func (t T) Above(bar float64) float64 { return t.tail(t.Log - math.Log(bar)) }

// Below is the same of "the ratio is below the bar".
func (t T) Below(bar float64) float64 { return t.tail(math.Log(bar) - t.Log) }

func (t T) tail(distance float64) float64 {
	switch {
	case t.DF <= 0:
		return 1
	case t.SE >= rounding:
		return studentTail(distance/t.SE, t.DF)
	case distance > rounding: // no spread at all, and off the bar
		return 0
	}
	return 1
}

// An Equivalence is the outcome of two one-sided tests (TOST).
type Equivalence struct {
	P     float64 // the larger of the two: both have to reject
	Above float64 // of "the ratio is above the band's lower edge"
	Below float64 // of "the ratio is below its upper edge"
}

// Inside tests whether the ratio lies between two edges, by TOST. An edge at
// nought or at infinity is none, which leaves the other side's test.
func (t T) Inside(low, high float64) Equivalence {
	var e Equivalence
	if low > 0 || t.DF <= 0 {
		e.Above = t.Above(low)
	}
	if !math.IsInf(high, 1) || t.DF <= 0 {
		e.Below = t.Below(high)
	}
	e.P = max(e.Above, e.Below)
	return e
}

// Outside tests whether the ratio lies beyond either edge. Two edges halve the
// error each may make, so Outside(1, 1) is the two-sided test of a difference.
func (t T) Outside(low, high float64) float64 {
	switch {
	case math.IsInf(high, 1):
		return t.Below(low)
	case low <= 0:
		return t.Above(high)
	}
	return min(1, 2*min(t.Below(low), t.Above(high)))
}

// studentTail is P(T > x). Not by one minus a CDF, which has no digits left
// where p is small.
func studentTail(x, df float64) float64 {
	half := 0.5 * mathx.BetaInc(df/(df+x*x), df/2, 0.5)
	if x < 0 {
		return 1 - half
	}
	return half
}

// studentQuantile is the x with P(T > x) = p, for p below a half.
func studentQuantile(p, df float64) float64 {
	return solve(0, 1e3, func(x float64) bool { return studentTail(x, df) <= p })
}

// solve finds where a condition that becomes true stays true.
func solve(from, to float64, holds func(float64) bool) float64 {
	for range 60 {
		if mid := from + (to-from)/2; holds(mid) {
			to = mid
		} else {
			from = mid
		}
	}
	return to
}
