package load

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// Each time is counted at a place whose upper edge is at most a thousandth
// above it, and places follow each other without a gap.
func TestPlaces(t *testing.T) {
	last := int64(-1)
	for p := range places {
		if place(last+1) != p || place(upper(p)) != p || upper(p) <= last {
			t.Fatalf("place %d is from %d to %d; they are counted at %d and %d", p, last+1, upper(p), place(last+1),
				place(upper(p)))
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

func TestAHistogramSurvivesTheWay(t *testing.T) {
	h := NewHistogram()
	for _, ns := range []int64{0, 1, 2, 2, 5000, 1_000_000, longest - 1} {
		h.Add(ns)
	}
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	// 5000 is at place 2*1024 + 5000/4, a million at 9*1024 + 1000000/512, and the longest
	// at the last of 33*1024.
	counts := written(1, 1, 2, -3295, 1, -7870, 1, -22621, 1)
	if want := `{"n":7,"sum_ns":4398047516108,"max_ns":4398046511103,"counts":"` + counts + `"}`; string(text) != want {
		t.Errorf("%s, want %s", text, want)
	}
	var again Histogram
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(*h, again) {
		t.Errorf("%+v, %v", again.Latency(), err)
	}
}

// written are counts as a histogram's JSON has them.
func written(numbers ...int64) string {
	var text []byte
	for _, n := range numbers {
		text = binary.AppendVarint(text, n)
	}
	return base64.StdEncoding.EncodeToString(text)
}

func TestAHistogramThatIsCutOffIsRefused(t *testing.T) {
	for _, counts := range []string{written(1, -33793, 1), base64.StdEncoding.EncodeToString([]byte{2, 4, 0x82})} {
		var h Histogram
		if err := json.Unmarshal([]byte(`{"n":4,"sum_ns":7,"max_ns":5,"counts":"`+counts+`"}`), &h); err == nil {
			t.Errorf("%s was read", counts)
		}
	}
}

// BenchmarkAdd is what recording costs http_load for each answer.
func BenchmarkAdd(b *testing.B) {
	h := NewHistogram()
	for i := range b.N {
		h.Add(int64(i) * 7919 % 50_000_000)
	}
}
