package stats

import (
	"math"
	"sort"
)

// Power is the chance of a decision that "could have seen" and "would take"
// stand for.
const Power = 0.8

// MaxBlocks bounds how many repeats are said to be needed. Beyond it the
// answer is "more", since the noise of one run foretells no farther.
const MaxBlocks = 1000

// SmallestEffect is the ratio that n blocks tell from 1, or from a bar, with
// Power, where a block's log ratio has this standard deviation. Both witnesses
// have to see it, so it is the larger of what either needs; alpha is the t
// test's, two-sided. There is none without an interval or without spread.
//
// The planning assumes normal logarithms, which the verdict itself does not:
// an estimate of size, and no promise.
func SmallestEffect(sd float64, n int, alpha float64) (float64, bool) {
	if n < MinSamples || !(sd > rounding) {
		return 0, false
	}
	d := solve(0, 100, func(d float64) bool { return reach(d, n, alpha/2) >= Power })
	effect := math.Exp(d * sd)
	return effect, !math.IsInf(effect, 1)
}

// BlocksNeeded is how many blocks would decide, with Power, whether a ratio
// lies in a band, if its logarithm and spread were the ones that this paired
// test saw. It is false where more than MaxBlocks would be needed.
func BlocksNeeded(t T, low, high, alpha float64) (int, bool) {
	sd := t.SD()
	if t.DF <= 0 || !(sd > rounding) {
		return 0, false
	}
	// In standard deviations from the edges; positive is inside.
	above, below := (t.Log-math.Log(low))/sd, (math.Log(high)-t.Log)/sd
	if !math.IsInf(above, 1) && !math.IsInf(below, 1) && min(above, below) < 0 {
		alpha /= 2 // as Outside does
	}
	decides := func(n int) bool {
		if off := min(above, below); off < 0 {
			return reach(-off, n, alpha) >= Power
		}
		// That both edges are cleared: at the least this, however they depend.
		return reach(above, n, alpha)+reach(below, n, alpha)-1 >= Power
	}
	// The exact interval's power climbs in small steps back and forth, so this
	// finds a crossing that may be a block or two off the first.
	n := MinSamples + sort.Search(MaxBlocks-MinSamples+1, func(i int) bool { return decides(MinSamples + i) })
	return n, n <= MaxBlocks
}

// reach is the lesser of both witnesses' chances to clear a bar that lies d
// standard deviations off.
func reach(d float64, n int, alpha float64) float64 {
	if math.IsInf(d, 1) {
		return 1
	}
	return min(signPower(d, n), studentPower(d, n, alpha))
}

// signPower is the chance that the exact interval of n values clears a bar d
// standard deviations off: fewer than k of them fall on its other side.
func signPower(d float64, n int) float64 {
	k, _ := rank(n)
	miss := normalCDF(-d)
	if miss == 0 {
		return 1
	}
	sum, logTerm := 0.0, float64(n)*math.Log1p(-miss)
	for i := range k {
		sum += math.Exp(logTerm)
		logTerm += math.Log(float64(n-i)/float64(i+1)) + math.Log(miss) - math.Log1p(-miss)
	}
	return min(1, sum)
}

// studentPower is the chance that a one-sided t test of n values rejects at
// alpha where the mean lies d standard deviations off: the tail of the
// noncentral t, integrated over the sample's standard deviation.
func studentPower(d float64, n int, alpha float64) float64 {
	df := float64(n - 1)
	critical, shift := studentQuantile(alpha, df), d*math.Sqrt(float64(n))
	lgamma, _ := math.Lgamma(df / 2)
	f := func(s float64) float64 {
		if s <= 0 {
			return 0
		}
		density := math.Ln2 + df/2*math.Log(df/2) - lgamma + (df-1)*math.Log(s) - df*s*s/2
		return math.Exp(density) * normalCDF(shift-critical*s)
	}
	const steps = 200 // Simpson's, even
	width := 8 / math.Sqrt(2*df)
	from, to := max(0, 1-width), 1+width
	h := (to - from) / steps
	sum := f(from) + f(to)
	for i := 1; i < steps; i++ {
		sum += float64(2+2*(i%2)) * f(from+float64(i)*h)
	}
	return min(1, sum*h/3)
}

func normalCDF(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
