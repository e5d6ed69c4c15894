package load

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestQuantilesAreExactWithinAStep(t *testing.T) {
	h := NewHistogram()
	var all []int64
	sum := 0.0
	for range 100_000 {
		ns := int64(math.Exp(rand.NormFloat64()*2 + 12))
		all = append(all, ns)
		sum += float64(ns)
		h.Add(ns)
	}
	slices.Sort(all)
	for _, q := range []float64{0.001, 0.5, 0.9, 0.99, 0.999, 1} {
		want := seconds(all[int(math.Ceil(q*float64(len(all))))-1])
		if got := h.Quantile(q); got < want || got > want*(1+2*1.0/subSteps) {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	l := h.Latency()
	if l.Max != seconds(all[len(all)-1]) || math.Abs(l.Mean-sum/1e9/float64(len(all))) > 1e-12 {
		t.Errorf("%+v", l)
	}
}
