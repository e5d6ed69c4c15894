package confseq

import (
	"math"
	"math/rand/v2"
	"testing"
)

// from is the difference of figure one to each of the others.
func from(figures []float64, one int) (d []float64) {
	for i, f := range figures {
		if i != one {
			d = append(d, figures[one]-f)
		}
	}
	return d
}

func TestAShiftByHand(t *testing.T) {
	if got := LogShift(nil); got != 0 {
		t.Errorf("of no block: %v", got)
	}
	// Alike figures say nothing, and neither does a figure without others.
	if got := LogShift([][]float64{{0}, {0, 0}, {}}); math.Abs(got) > 1e-12 {
		t.Errorf("of alike figures: %v", got)
	}
	// A block with no doubt, one against, one that cannot tell.
	never, sure := math.Inf(-1), math.Inf(1)
	for _, c := range []struct {
		d    []float64
		want float64
	}{{[]float64{sure}, 0.05 + 0.95*2}, {[]float64{sure, sure}, 0.05 + 0.95*3}, {[]float64{never}, 0.05},
		{[]float64{sure, 0}, 0.05 + 0.95*3.0/2}} {
		if got := math.Exp(LogShift([][]float64{c.d})); !near(got, c.want, 1e-12) {
			t.Errorf("%v: %v, want %v", c.d, got, c.want)
		}
	}
	// A difference of ln 3 / s gives 2 / (1 + 1/3) at steepness s.
	mean := 0.0
	for _, s := range Steepness {
		mean += (0.05 + 0.95*2/(1+math.Pow(3, -s/Steepness[1]))) / 4
	}
	if got := math.Exp(LogShift([][]float64{{math.Log(3) / Steepness[1]}})); !near(got, mean, 1e-12) {
		t.Errorf("%v, want %v", got, mean)
	}
}

// The defining property: whatever the figures are, the bet on one drawn from them gains nothing
// on average, after any blocks; and it never gains where that figure is lowered.
func TestABetOnOneOfLikeFiguresGainsNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for n := 2; n <= 4; n++ {
		var before [][]float64
		for range 50 {
			figures := make([]float64, n)
			for i := range figures {
				figures[i] = 0.02 * r.NormFloat64() / r.Float64() // with outliers
			}
			mean, lowered := 0.0, 0.0
			for one := range figures {
				mean += math.Exp(LogShift(append(before, from(figures, one)))-LogShift(before)) / float64(n)
				less := append([]float64(nil), figures...)
				less[one] -= 0.01 * r.ExpFloat64()
				lowered += math.Exp(LogShift(append(before, from(less, one)))-LogShift(before)) / float64(n)
			}
			if !near(mean, 1, 1e-9) || lowered > 1+1e-9 {
				t.Fatalf("after %d blocks, %v: %v of what it was, %v if lowered", len(before), figures, mean, lowered)
			}
			before = append(before, from(figures, r.IntN(n)))
		}
	}
}
