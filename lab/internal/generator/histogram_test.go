package generator

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Each time is counted at a place whose upper edge is at most a thousandth
// above it, and places follow each other without a gap.
func TestPlaces(t *testing.T) {
	last := int64(-1)
	for p := range places {
		if place(last+1) != p || place(upper(p)) != p || upper(p) <= last {
			t.Fatalf("place %d is from %d to %d; they are counted at %d and %d", p, last+1, upper(p), place(last+1), place(upper(p)))
		}
		if step := float64(upper(p)-last-1) / float64(upper(p)); step > LatencyStep {
			t.Fatalf("place %d is from %d to %d, a step of %v", p, last+1, upper(p), step)
		}
		last = upper(p)
	}
	if last != longest-1 {
		t.Errorf("the last place ends at %d", last)
	}
}

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

func TestMergedHistograms(t *testing.T) {
	a, b, both := NewHistogram(), NewHistogram(), NewHistogram()
	if both.Merge(a); both.Latency() != nil || both.SendLag() != nil {
		t.Error("nothing has latencies")
	}
	for i := range int64(1000) {
		a.Add(i * 1000)
		b.Add(i * 7777)
		both.Add(i * 1000)
		both.Add(i * 7777)
	}
	a.Merge(b)
	if *a.Latency() != *both.Latency() {
		t.Errorf("%+v, want %+v", a.Latency(), both.Latency())
	}
}

// Impossible times are counted at the ends of the histogram, not outside it.
func TestTimesBeyondTheHistogram(t *testing.T) {
	h := NewHistogram()
	h.Add(-5)
	h.Add(math.MaxInt64)
	if l := h.Latency(); l.P50 != 0 || l.Max != seconds(longest-1) {
		t.Errorf("%+v", l)
	}
}

// BenchmarkAdd is what recording costs http_load for each answer.
func BenchmarkAdd(b *testing.B) {
	h := NewHistogram()
	for i := range b.N {
		h.Add(int64(i) * 7919 % 50_000_000)
	}
}
