package main

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
		if step := float64(upper(p)-last-1) / float64(upper(p)); step > latencyStep {
			t.Fatalf("place %d is from %d to %d, a step of %v", p, last+1, upper(p), step)
		}
		last = upper(p)
	}
	if last != longest-1 {
		t.Errorf("the last place ends at %d", last)
	}
}

func TestQuantilesAreExactWithinAStep(t *testing.T) {
	h := newHistogram()
	var all []int64
	sum := 0.0
	for range 100_000 {
		ns := int64(math.Exp(rand.NormFloat64()*2 + 12))
		all = append(all, ns)
		sum += float64(ns)
		h.add(ns)
	}
	slices.Sort(all)
	for _, q := range []float64{0.001, 0.5, 0.9, 0.99, 0.999, 1} {
		want := seconds(all[int(math.Ceil(q*float64(len(all))))-1])
		if got := h.quantile(q); got < want || got > want*(1+2*latencyStep) {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	l := h.latency()
	if l.Max != seconds(all[len(all)-1]) || math.Abs(l.Mean-sum/1e9/float64(len(all))) > 1e-12 {
		t.Errorf("%+v", l)
	}
}

// One in a hundred is 50 ms late: the 99th percentile is just below those.
func TestOneInAHundredIsLate(t *testing.T) {
	h := newHistogram()
	for i := range 10_000 {
		ns := int64(100_000)
		if i%100 == 99 {
			ns += 50e6
		}
		h.add(ns)
	}
	within := func(name string, got, want float64) {
		t.Helper()
		if got < want || got > want*(1+2*latencyStep) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	l := h.latency()
	within("p50", l.P50, 0.0001)
	within("p90", l.P90, 0.0001)
	within("p99", l.P99, 0.0001)
	within("p999", l.P999, 0.0501)
	within("max", l.Max, 0.0501)
}

func TestMergedHistograms(t *testing.T) {
	a, b, both := newHistogram(), newHistogram(), newHistogram()
	if both.merge(a); both.latency() != nil || both.lag() != nil {
		t.Error("nothing has latencies")
	}
	for i := range int64(1000) {
		a.add(i * 1000)
		b.add(i * 7777)
		both.add(i * 1000)
		both.add(i * 7777)
	}
	a.merge(b)
	if *a.latency() != *both.latency() {
		t.Errorf("%+v, want %+v", a.latency(), both.latency())
	}
}

// Impossible times are counted at the ends of the histogram, not outside it.
func TestTimesBeyondTheHistogram(t *testing.T) {
	h := newHistogram()
	h.add(-5)
	h.add(math.MaxInt64)
	if l := h.latency(); l.P50 != 0 || l.Max != seconds(longest-1) {
		t.Errorf("%+v", l)
	}
}

// The threads' parts of a schedule make the whole: each request occurs once and at its
// time.
func TestSchedule(t *testing.T) {
	const rate, threads, n = 300.0, 3, 900
	due := map[int64]int{}
	for thread := range threads {
		s := newSchedule(rate, thread, threads)
		s.begin(1000)
		for k := range int64(n / threads) {
			due[s.at(k)]++
		}
	}
	for i := range n {
		at := int64(1000) + int64(float64(i)*1e9/rate)
		if due[at] != 1 {
			t.Fatalf("request %d is due at %d, %d times", i, at, due[at])
		}
	}
}

// Even after hours of load no request drifts from its time.
func TestScheduleDoesNotDrift(t *testing.T) {
	s := newSchedule(1e6/3, 0, 1)
	s.begin(0)
	if at := s.at(1_200_000_000); at != 3600e9 {
		t.Errorf("request 1,200,000,000 is due at %d", at)
	}
}
