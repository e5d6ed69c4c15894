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
		if got := h.Quantile(q); got < want || got > want*(1+2*LatencyStep) {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	l := h.Latency()
	if l.Max != seconds(all[len(all)-1]) || math.Abs(l.Mean-sum/1e9/float64(len(all))) > 1e-12 {
		t.Errorf("%+v", l)
	}
}

// One in a hundred is 50 ms late: the 99th percentile is just below those.
func TestOneInAHundredIsLate(t *testing.T) {
	h := NewHistogram()
	for i := range 10_000 {
		ns := int64(100_000)
		if i%100 == 99 {
			ns += 50e6
		}
		h.Add(ns)
	}
	within := func(name string, got, want float64) {
		t.Helper()
		if got < want || got > want*(1+2*LatencyStep) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	l := h.Latency()
	within("p50", l.P50, 0.0001)
	within("p90", l.P90, 0.0001)
	within("p99", l.P99, 0.0001)
	within("p999", l.P999, 0.0501)
	within("max", l.Max, 0.0501)
}

// BenchmarkAdd is what recording costs http_load for each answer.
func BenchmarkAdd(b *testing.B) {
	h := NewHistogram()
	for i := range b.N {
		h.Add(int64(i) * 7919 % 50_000_000)
	}
}
