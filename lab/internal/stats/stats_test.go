package stats

import (
	"math"
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

// ranks is 1, 2, ..., n, so that a summary's bounds are ranks.
func ranks(n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = float64(i + 1)
	}
	return s
}

// With k the rank of the lower bound the interval covers 1 - 2 * (C(n,0) + ... +
// C(n,k-1)) / 2^n, and k is the largest for which that is 0.95 or more. The ranks for n =
// 6 to 20 are those in textbook tables of the sign test's interval for a median (Conover,
// "Practical Nonparametric Statistics"; Hollander and Wolfe). For example, 9 gives 2 and
// 8, 12 gives 3 and 10, 20 gives 6 and 15 with 0.9586.
var intervals = []struct{ n, low, high int }{
	{1, 0, 0},
	{5, 0, 0},   // even the whole range covers only 1 - 2/32
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
		if s.HasInterval != (c.n >= MinSamples) || s.Low != float64(c.low) || s.High != float64(c.high) {
			t.Errorf("n=%d: interval %v of ranks %v to %v, want %d to %d", c.n, s.HasInterval, s.Low, s.High, c.low, c.high)
		}
		if s.Median != float64(c.n+1)/2 {
			t.Errorf("n=%d: median %v, want %v", c.n, s.Median, float64(c.n+1)/2)
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
	for claims, n := range map[int]int{1: 8, 2: 9, 3: 9, 20: 12} {
		level := Level(1, claims) / 2 // for one side
		if got := Fewest(level); got != n {
			t.Errorf("%v claims: %d, want %d", claims, got, n)
		}
		if confseq.LogE(n-1, n-1) >= -math.Log(level) || confseq.LogE(n, n) < -math.Log(level) {
			t.Errorf("%v claims: %d visits that agree are not the least that decide", claims, n)
		}
	}
}
