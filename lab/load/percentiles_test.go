package load

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Percentiles of all clients together are those of the merged histograms. Here two clients
// have very different latencies, and every sample is kept. What is merged agrees with the
// exact percentiles within the histogram's step; the average of the clients' own
// percentiles, plain or by requests, is far off.
func TestMergedPercentilesAreThoseOfAllSamples(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	samples := func(n int, least, mean float64) (ns []int64) {
		for range n {
			ns = append(ns, int64(least+mean*draw.ExpFloat64()))
		}
		return ns
	}
	fast, slow := samples(2000, 50e3, 100e3), samples(100, 50e6, 1e6)
	a, b := partOf("client 1", 0, 0, 2), partOf("client 2", 0, 0, 2)
	for part, samples := range map[*Part][]int64{&a: fast, &b: slow} {
		n, h := int64(len(samples)), recorded(samples...)
		part.Report.Summary.Targets[0] = TargetSummary{Name: "a", Requests: n, Bytes: n, Histogram: h, Latency: h.Latency()}
		part.Report.Slots[0].Requests, part.Report.Slots[0].Bytes = n, n
		// Over the way that they take from a client.
		var err error
		if part.Report, err = ReadReport(strings.NewReader(lines(t, part.Report))); err != nil {
			t.Fatal(err)
		}
	}
	got := merged(t, a, b).Summary.Targets[0]
	all := slices.Sorted(slices.Values(slices.Concat(fast, slow)))
	if got.Histogram.n != int64(len(all)) || got.Latency.Max != seconds(all[len(all)-1]) {
		t.Errorf("%d of %d samples, %+v", got.Histogram.n, len(all), got.Latency)
	}
	one, two := a.Report.Summary.Targets[0].Latency, b.Report.Summary.Targets[0].Latency
	share := float64(len(slow)) / float64(len(all))
	for _, c := range []struct{ q, got, first, second float64 }{
		{0.5, got.Latency.P50, one.P50, two.P50}, {0.9, got.Latency.P90, one.P90, two.P90},
		{0.99, got.Latency.P99, one.P99, two.P99},
	} {
		exact := seconds(all[int(math.Ceil(c.q*float64(len(all))))-1])
		off := func(v float64) float64 { return math.Abs(v-exact) / exact }
		if c.got < exact || off(c.got) > 2*LatencyStep {
			t.Errorf("quantile %v is %v s, of all samples %v s", c.q, c.got, exact)
		}
		const much = 20 * LatencyStep
		plain, weighed := (c.first+c.second)/2, c.first*(1-share)+c.second*share
		if off(plain) < much || off(weighed) < much {
			t.Errorf("quantile %v: the averages %v and %v s are as good: the clients are too much alike", c.q, plain, weighed)
		}
	}
}
