package stats

import (
	"math"
	"sort"
	"sync"

	"github.com/aclements/go-moremath/mathx"
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
	type size struct {
		n     int
		alpha float64
	}
	// In standard deviations it is the same for every run of a size.
	d, ok := distances.Load(size{n, alpha})
	if !ok {
		d = solve(0, 100, func(d float64) bool { return reaches(n, d, math.Inf(1), alpha/2) })
		distances.Store(size{n, alpha}, d)
	}
	effect := math.Exp(d.(float64) * sd)
	return effect, !math.IsInf(effect, 1)
}

var distances sync.Map

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
			return reaches(n, -off, math.Inf(1), alpha)
		}
		return reaches(n, above, below, alpha)
	}
	// The exact interval's power climbs in small steps back and forth, so this
	// finds a crossing that may be a block or two off the first.
	n := MinSamples + sort.Search(MaxBlocks-MinSamples+1, func(i int) bool { return decides(MinSamples + i) })
	return n, n <= MaxBlocks
}

// reaches tells whether both witnesses have Power to clear a bar on either
// side, so many standard deviations off. That both bars are cleared is at least
// as likely as the sum of either less one, however they depend.
func reaches(n int, above, below, alpha float64) bool {
	return signPower(above, n)+signPower(below, n)-1 >= Power &&
		studentPower(above, n, alpha)+studentPower(below, n, alpha)-1 >= Power
}

// signPower is the chance that the exact interval of n values clears a bar d
// standard deviations off: fewer than k of them fall on its other side.
func signPower(d float64, n int) float64 {
	if math.IsInf(d, 1) {
		return 1
	}
	k, _ := rank(n)
	// The binomial's lower tail is an incomplete beta function.
	return mathx.BetaInc(normalCDF(d), float64(n-k+1), float64(k))
}

// studentPower is the chance that a one-sided t test of n values rejects at
// alpha where the mean lies d standard deviations off: the tail of the
// noncentral t, integrated over the sample's standard deviation.
func studentPower(d float64, n int, alpha float64) float64 {
	if math.IsInf(d, 1) {
		return 1
	}
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
