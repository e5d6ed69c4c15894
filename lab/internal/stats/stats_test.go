package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/line-rate/line-rate/lab/confseq"
)

func TestMedianIsTheMiddleOrTheMeanOfTheMiddleTwo(t *testing.T) {
	for _, c := range []struct {
		name   string
		sample []float64
		want   float64
	}{
		{"one", []float64{7}, 7},
		{"odd, unsorted", []float64{9, 1, 5}, 5},
		{"even, unsorted", []float64{8, 2, 4, 6}, 5},
		{"two equal", []float64{3, 3}, 3},
		{"negative", []float64{-3, -1, -2}, -2},
		{"sum of the middle two would overflow", []float64{math.MaxFloat64, math.MaxFloat64}, math.MaxFloat64},
		{"one outlier does not move it", []float64{1, 2, 3, 4, 1e12}, 3},
	} {
		if got := Median(c.sample); got != c.want {
			t.Errorf("%s: median of %v is %v, want %v", c.name, c.sample, got, c.want)
		}
	}
}

func TestASampleIsLeftAsItWas(t *testing.T) {
	sample := []float64{3, 1, 2, 6, 5, 4}
	Summarise(sample)
	if want := []float64{3, 1, 2, 6, 5, 4}; !slices.Equal(sample, want) {
		t.Errorf("the sample became %v; blocks would lose their order", sample)
	}
}

// ranks is 1, 2, ..., n, so that a summary's bounds are ranks.
func ranks(n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = float64(i + 1)
	}
	return s
}

// With k the rank of the lower bound the interval covers
// 1 - 2 * (C(n,0) + ... + C(n,k-1)) / 2^n, and k is the largest for which that
// is 0.95 or more. The ranks for n = 6 to 20 are those of the tables of the
// sign test's interval for a median in textbooks (Conover, "Practical
// Nonparametric Statistics"; Hollander and Wolfe): 9 gives 2 and 8, 12 gives 3
// and 10, 20 gives 6 and 15 with 0.9586.
var intervals = []struct{ n, low, high int }{
	{6, 1, 6},   // 1 - 2/64
	{7, 1, 7},   // 1 - 2/128; rank 2 would give 1 - 2*8/128 = 0.875
	{8, 1, 8},   // 1 - 2/256; rank 2 would give 1 - 2*9/256 = 0.9297
	{9, 2, 8},   // 0.9609
	{10, 2, 9},  // 0.9785
	{11, 2, 10}, // 0.9883
	{12, 3, 10}, // 0.9614
	{15, 4, 12}, // 0.9648
	{17, 5, 13}, // 0.9510
	{20, 6, 15}, // 0.9586
	{25, 8, 18}, // 0.9567
}

func TestIntervalIsTheSignTestsOrderStatistics(t *testing.T) {
	for _, c := range intervals {
		s := Summarise(ranks(c.n))
		if !s.HasInterval || s.Low != float64(c.low) || s.High != float64(c.high) {
			t.Errorf("n=%d: interval %v of ranks %v to %v, want %d to %d", c.n, s.HasInterval, s.Low, s.High, c.low, c.high)
		}
		if s.N != c.n || s.Median != float64(c.n+1)/2 {
			t.Errorf("n=%d: N %d, median %v, want %v", c.n, s.N, s.Median, float64(c.n+1)/2)
		}
	}
}

func TestFewerThanSixHaveNoInterval(t *testing.T) {
	for n := 1; n < MinSamples; n++ {
		s := Summarise(ranks(n))
		if s.HasInterval || s.Low != 0 || s.High != 0 {
			t.Errorf("n=%d: %+v; even the whole range covers only %v", n, s, 1-math.Pow(2, float64(1-n)))
		}
	}
	if !Summarise(ranks(MinSamples)).HasInterval {
		t.Errorf("n=%d has no interval, but MinSamples says it does", MinSamples)
	}
}

// The coverage must hold for any noise. Each noise has median 1; the share of
// intervals that contain it is simulated from a fixed seed. Ten thousand draws
// leave a standard error of 0.002; the least coverage among these sizes is
// 0.9586.
func TestCoverageHoldsWhateverTheNoise(t *testing.T) {
	const draws = 10000
	factor := func(r *rand.Rand) float64 { // another program is running, or not
		if r.IntN(2) == 0 {
			return 1.6
		}
		return 1
	}
	for name, ratio := range map[string]func(*rand.Rand) float64{
		// The median of Exp(1) is ln 2. One side only, so the ratio is skewed.
		"skewed": func(r *rand.Rand) float64 { return math.Exp(r.ExpFloat64() - math.Ln2) },
		// Each side is slowed or not: ratios 0.625, 1, 1 and 1.6.
		"bimodal": func(r *rand.Rand) float64 { return factor(r) / factor(r) },
		"bimodal with jitter": func(r *rand.Rand) float64 {
			return factor(r) / factor(r) * math.Exp(0.014*r.NormFloat64())
		},
	} {
		for _, n := range []int{6, 9, 12, 20} {
			r := rand.New(rand.NewPCG(uint64(n), 20))
			sample := make([]float64, n)
			held := 0
			for range draws {
				for i := range sample {
					sample[i] = ratio(r)
				}
				if s := Summarise(sample); s.Low <= 1 && 1 <= s.High {
					held++
				}
			}
			if share := float64(held) / draws; share < Confidence {
				t.Errorf("%s, n=%d: %.4f of intervals hold the median, %.2f is promised", name, n, share, Confidence)
			}
		}
	}
}

// The parts of all claims of all designs that a question may ever have add up to no
// more than Alpha.
func TestLevelsAddUpToAlpha(t *testing.T) {
	sum := 0.0
	for nth := 1; nth <= 1000; nth++ {
		claims := 1 + nth%7
		sum += float64(claims) * Level(nth, claims)
	}
	if sum > Alpha || sum < 0.99*Alpha {
		t.Errorf("%v", sum)
	}
	if got := Level(1, 0); got != Level(1, 1) {
		t.Errorf("no claim that blocks decide: %v", got)
	}
}

func TestTheFewestVisitsThatDecide(t *testing.T) {
	for claims, n := range map[int]int{1: LeastVisits, 2: 9, 3: 9, 20: 12} {
		level := Level(1, claims) / 2 // for one side
		if got := Fewest(level); got != n {
			t.Errorf("%v claims: %d, want %d", claims, got, n)
		}
		if confseq.LogE(n-1, n-1) >= -math.Log(level) || confseq.LogE(n, n) < -math.Log(level) {
			t.Errorf("%v claims: %d visits that agree are not the least that decide", claims, n)
		}
	}
}
