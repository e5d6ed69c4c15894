package confseq

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/aclements/go-moremath/mathx"
)

const twentieth = 0.05

// ranks are the whole numbers from 1 to n.
func ranks(n int) (r []float64) {
	for i := range n {
		r = append(r, float64(i+1))
	}
	return r
}

// near compares with a relative tolerance.
func near(got, want, share float64) bool { return math.Abs(got-want) <= share*math.Abs(want) }

// By hand: if all n say yes, the integral of 2 (2p)^n from a half to one is (2^(n+1) -
// 1)/(n+1). If none does, that of 2 (2(1-p))^n is 1/(n+1). One of two gives 8 times the
// integral of p - p², 2/3; two of three 16 times that of p² - p³, 11/12.
func TestEValuesByHand(t *testing.T) {
	for _, c := range []struct {
		k, n   int
		spread float64
	}{
		{0, 0, 1}, {1, 1, 3.0 / 2}, {6, 6, 127.0 / 7}, {7, 7, 255.0 / 8}, {20, 20, 2097151.0 / 21},
		{0, 1, 1.0 / 2}, {0, 6, 1.0 / 7}, {1, 2, 2.0 / 3}, {2, 3, 11.0 / 12},
	} {
		want := (c.spread + math.Pow(1.95, float64(c.k))*math.Pow(0.05, float64(c.n-c.k))) / 2
		if got := math.Exp(LogE(c.k, c.n)); !near(got, want, 1e-12) {
			t.Errorf("%d of %d: %v, want %v", c.k, c.n, got, want)
		}
	}
}

// The defining property of a fair bet: if a block is as likely to say yes as
// no, the expected value stays the same, for every k and n.
func TestABetAgainstAFairCoinGainsNothing(t *testing.T) {
	for n := range 200 {
		for k := range n + 1 {
			next := (math.Exp(LogE(k+1, n+1)-LogE(k, n)) + math.Exp(LogE(k, n+1)-LogE(k, n))) / 2
			if !near(next, 1, 1e-9) {
				t.Fatalf("after %d of %d it is %v of what it was", k, n, next)
			}
		}
	}
}

// Computed as an incomplete beta function, also where e exceeds a float64.
func TestShownIsWhatTheEValueSays(t *testing.T) {
	for _, alpha := range []float64{1e-9, twentieth, 0.5, 0.999, 1} {
		for n := range 60 {
			for k := range n + 1 {
				if got, want := Shown(k, n, alpha), LogE(k, n) >= -math.Log(alpha); got != want {
					t.Errorf("%d of %d at %v: %v, but the e-value's logarithm is %v", k, n, alpha, got, LogE(k, n))
				}
			}
		}
	}
}

// exactE is the e-value of k of n visits, by the sum of whole numbers
// that the method page shows.
func exactE(k, n int) float64 {
	of := func(n, k int) *big.Int { return new(big.Int).Binomial(int64(n), int64(k)) }
	sum := new(big.Int)
	for i := 0; i <= k; i++ {
		sum.Add(sum, of(n+1, i))
	}
	spread := new(big.Rat).SetFrac(sum, new(big.Int).Mul(big.NewInt(int64(n+1)), of(n, k)))
	bold := new(big.Rat).SetInt64(1)
	for i := range n {
		by := big.NewRat(39, 20)
		if i >= k {
			by.SetFrac64(1, 20)
		}
		bold.Mul(bold, by)
	}
	e, _ := spread.Add(spread, bold).Float64()
	return e / 2
}

// The bet is on a count.
func TestEValuesAreTheExactSums(t *testing.T) {
	for _, c := range []struct {
		k, n int
		want float64
	}{{17, 18, 2897}, {6, 6, 36.56}, {7, 7, 69.5}, {8, 8, 132.9}} {
		if got := math.Exp(LogE(c.k, c.n)); !near(got, c.want, 1e-3) {
			t.Errorf("%d of %d: %v, want %v", c.k, c.n, got, c.want)
		}
	}
	for _, n := range []int{1, 5, 18, 31, 32, 63, 64, 200} {
		for k := 0; k <= n; k += 1 + n/40 {
			if got, want := math.Exp(LogE(k, n)), exactE(k, n); !near(got, want, 1e-10) {
				t.Errorf("%d of %d: %v, want %v", k, n, got, want)
			}
		}
	}
}

func TestLargeEValues(t *testing.T) {
	for _, c := range []struct{ k, n int }{{30, 50}, {300, 500}, {260, 500}, {900, 1000}, {5000, 5000}, {2600, 5000},
		{100, 1000}} {
		a, b := float64(c.k+1), float64(c.n-c.k+1)
		la, _ := math.Lgamma(a)
		lb, _ := math.Lgamma(b)
		lab, _ := math.Lgamma(a + b)
		want := (a+b-1)*math.Ln2 + la + lb - lab + math.Log(mathx.BetaInc(0.5, b, a))
		if got := logSpread(c.k, c.n); math.Abs(got-want) > 1e-8*max(1, math.Abs(want)) && !math.IsInf(want, 0) {
			t.Errorf("%d of %d: %v, want %v", c.k, c.n, got, want)
		}
		if got := LogE(c.k, c.n); math.IsInf(got, 0) || math.IsNaN(got) {
			t.Errorf("%d of %d: %v", c.k, c.n, got)
		}
	}
}

func TestTheFewestBlocksThatDecide(t *testing.T) {
	for _, c := range []struct {
		claims float64 // number of claims that divide a twentieth
		n, k   int     // the smallest n at which some k is enough, and that k
	}{{1, 6, 6}, {2, 7, 7}, {3, 7, 7}, {4, 8, 8}, {20, 10, 10}} {
		if k, ok := Least(c.n, twentieth/c.claims); !ok || k != c.k {
			t.Errorf("%v claims: %d of %d, %v", c.claims, k, c.n, ok)
		}
		if k, ok := Least(c.n-1, twentieth/c.claims); ok {
			t.Errorf("%v claims: %d of %d are enough", c.claims, k, c.n-1)
		}
	}
	last := 1.0
	for _, n := range []int{20, 50, 100, 400, 1000} {
		k, ok := Least(n, twentieth)
		share := float64(k) / float64(n)
		if !ok || share >= last || share <= 0.5 || Shown(k-1, n, twentieth) {
			t.Errorf("%d of %d", k, n)
		}
		last = share
	}
}

// reached is the exact probability that n blocks, each yes with probability p,
// ever have an e-value of 1/alpha on one of the sides.
func reached(p float64, n int, alpha float64, sides int) float64 {
	chance := []float64{1} // by number of yes, without having reached it so far
	out := 0.0
	for all := 1; all <= n; all++ {
		next := make([]float64, all+1)
		for k, c := range chance {
			next[k] += c * (1 - p)
			next[k+1] += c * p
		}
		for k := range next {
			if Shown(k, all, alpha) || sides == 2 && Shown(all-k, all, alpha) {
				out, next[k] = out+next[k], 0
			}
		}
		chance = next
	}
	return out
}

func TestStoppingAtWillDoesNotRaiseTheError(t *testing.T) {
	for _, alpha := range []float64{twentieth, twentieth / 2, twentieth / 8, 0.01} {
		got := reached(0.5, 1000, alpha, 1)
		t.Logf("alpha %v: ever reached within 1000 blocks with a chance of %.4f", alpha, got)
		if got > alpha || got < alpha/4 {
			t.Errorf("alpha %v: %v", alpha, got)
		}
		if both := reached(0.5, 1000, alpha/2, 2); both > alpha {
			t.Errorf("alpha %v, two sides: %v", alpha, both)
		}
	}
	// It finds true effects: three of four blocks, nine of ten.
	for p, n := range map[float64]int{0.75: 80, 0.9: 20, 0.975: 9} {
		if got := reached(p, n, twentieth, 1); got < 0.8 {
			t.Errorf("a share of %v is found within %d blocks with a chance of %v only", p, n, got)
		}
	}
}

func TestNeededGoesOnAsSoFar(t *testing.T) {
	for _, c := range []struct {
		k, n, want int // want is 0 if MaxNeeded are not enough
	}{
		{0, 0, 6}, {1, 1, 6}, {6, 6, 6}, {8, 8, 8}, {5, 10, 0}, {3, 10, 0}, {501, 1000, 0},
	} {
		if got, ok := Needed(c.k, c.n, twentieth); got != c.want || ok != (c.want > 0) {
			t.Errorf("%d of %d: %d, %v", c.k, c.n, got, ok)
		}
	}
	for _, c := range []struct{ k, n int }{{4, 6}, {7, 10}, {12, 20}, {30, 50}} {
		all, ok := Needed(c.k, c.n, twentieth)
		if !ok || all <= c.n || !Shown(int(math.Round(float64(all*c.k)/float64(c.n))), all, twentieth) {
			t.Errorf("%d of %d: %d, %v", c.k, c.n, all, ok)
		}
	}
}

func TestASequenceIsOfOrderStatistics(t *testing.T) {
	// Two sides at half of 0.05 need seven blocks: (255/8 + 1.95^7)/2 is 69.
	if low, high, ok := Median(ranks(6), ranks(6), twentieth); ok {
		t.Errorf("of six: %v to %v", low, high)
	}
	for n, want := range map[int]float64{7: 1, 8: 1, 9: 1} {
		if low, high, ok := Median(ranks(n), ranks(n), twentieth); !ok || low != want || high != float64(n+1)-want {
			t.Errorf("of %d: %v to %v, %v", n, low, high, ok)
		}
	}
	// A block that cannot tell may have any ratio, and the two ends come from
	// other blocks.
	least, most := ranks(20), ranks(20)
	low, high, _ := Median(least, most, twentieth)
	least[7], most[7] = 0, math.Inf(1)
	blindLow, blindHigh, ok := Median(least, most, twentieth)
	if !ok || blindLow != low-1 || blindHigh != high+1 {
		t.Errorf("%v to %v became %v to %v", low, high, blindLow, blindHigh)
	}
}

// Over a whole course of looking after each block, the sequence ever misses the
// median in at most one of twenty courses.
func TestASequenceHoldsTheMedianAllAlong(t *testing.T) {
	const courses, blocks = 400, 60
	r := rand.New(rand.NewPCG(13, 1))
	lost, width := 0, 0.0
	for range courses {
		var seen []float64
		out := false
		for range blocks {
			seen = append(seen, math.Exp(r.NormFloat64()/math.Sqrt(r.ExpFloat64())))
			if low, high, ok := Median(seen, seen, twentieth); ok {
				out = out || low > 1 || high < 1
				if len(seen) == blocks {
					width += math.Log(high/low) / courses
				}
			}
		}
		if out {
			lost++
		}
	}
	if lost > courses/20 || width > 3 {
		t.Errorf("lost in %d of %d; mean width %v", lost, courses, width)
	}
}
