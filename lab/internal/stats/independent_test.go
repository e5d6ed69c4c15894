package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Of 4 and 4 figures U is 0 in one of C(8,4) = 70 orders, and 1 in one more: 1/70
// is below 0.025, 2/70 above. Of 6 and 6 there are 924 orders, and 1, 1, 2, 3, 5, 7
// and 11 of them give 0 to 6: 19/924 is below, 30/924 above. The others are the
// critical values of textbook tables for 0.05, two-sided, plus one.
func TestRanksOfTheQuotients(t *testing.T) {
	for _, c := range []struct{ n, m, k int }{
		{0, 9, 0}, {1, 30, 0}, {3, 3, 0}, {3, 4, 0}, {3, 5, 1}, {4, 4, 1}, {5, 5, 3}, {6, 6, 6}, {7, 7, 9}, {6, 8, 9}, {8, 8, 14}, {10, 10, 24}, {20, 20, 128},
	} {
		if k, ok := between(c.n, c.m); k != c.k || ok != (c.k > 0) {
			t.Errorf("%d and %d: %d, %v; want %d", c.n, c.m, k, ok, c.k)
		}
		if k, _ := between(c.m, c.n); k != c.k {
			t.Errorf("%d and %d: %d, but %d the other way round", c.m, c.n, k, c.k)
		}
	}
}

// Where the exact distribution ends, the normal one takes over without a step: for
// 50 and 51 its mean is 1275 and its deviation sqrt(2550·102/12) = 147.2, and 1275 -
// 1.96·147.2 + 0.5 is 986.9.
func TestRanksOfManyQuotients(t *testing.T) {
	at, _ := between(50, 50)
	above, _ := between(50, 51)
	if step := above - at; step < 15 || step > 25 { // the mean rises by 25, 1.96 deviations by 3.6
		t.Errorf("%d for 50 and 50, %d for 50 and 51", at, above)
	}
	if want := 986; above != want {
		t.Errorf("%d for 50 and 51, want %d", above, want)
	}
}

func exactly(figures ...float64) (out []Range) {
	for _, v := range figures {
		out = append(out, Range{v, v})
	}
	return out
}

func TestIndependentIsOfAllQuotients(t *testing.T) {
	// Of four and four, the interval is from the least to the largest quotient.
	low, high, ok := Independent(exactly(1, 2, 4, 4), exactly(8, 4, 16, 8))
	if !ok || low != 1 || high != 16 {
		t.Errorf("%v to %v, %v; want 1 to 16", low, high, ok)
	}
	// Of five and five, the third. The smallest quotients are 10/5, 10/4 and 10/3 or
	// 20/5 and so on: 2, 2.5, 10/3; the largest 50, 40, 30.
	low, high, ok = Independent(exactly(1, 2, 3, 4, 5), exactly(10, 20, 30, 40, 50))
	if !ok || math.Abs(low-10.0/3) > 1e-12 || high != 30 {
		t.Errorf("%v to %v, %v; want 3.33 to 30", low, high, ok)
	}
	// A figure that stands for a range widens it on both sides; 0 leaves it open.
	wide := []Range{{1, 2}, {1, 2}, {1, 2}, {0, 2}}
	low, high, ok = Independent(wide, exactly(4, 4, 4, 4))
	if !ok || low != 2 || !math.IsInf(high, 1) {
		t.Errorf("%v to %v, %v; want 2 and no end", low, high, ok)
	}
	if _, _, ok := Independent(exactly(1, 2, 3), exactly(1, 2, 3)); ok {
		t.Error("three and three have an interval")
	}
}

// Runs of 6 and 7 blocks, with skewed noise and a core that another program slows:
// the interval has the true ratio at least as often as it says.
func TestIndependentCoversWhateverTheNoise(t *testing.T) {
	const draws, ratio = 4000, 1.1
	for name, noise := range map[string]func(*rand.Rand) float64{
		"skewed":  func(r *rand.Rand) float64 { return math.Exp(r.ExpFloat64()) },
		"slowed":  func(r *rand.Rand) float64 { return []float64{1, 1, 1.6}[r.IntN(3)] * math.Exp(0.01*r.NormFloat64()) },
		"in ties": func(r *rand.Rand) float64 { return 1 + float64(r.IntN(3)) },
	} {
		r := rand.New(rand.NewPCG(7, 6))
		held := 0
		for range draws {
			var a, b []Range
			for range 6 {
				a = append(a, exactly(noise(r))...)
			}
			for range 7 {
				b = append(b, exactly(ratio*noise(r))...)
			}
			if low, high, _ := Independent(a, b); low <= ratio*(1+1e-12) && ratio <= high*(1+1e-12) {
				held++
			}
		}
		// 0.945 is one and a half standard errors below 0.95; exactly it is 0.949 to 1.
		if share := float64(held) / draws; share < 0.945 {
			t.Errorf("%s: %.4f of intervals hold the ratio", name, share)
		}
	}
}
