package load

import (
	"errors"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Percentiles of all clients together are those of the merged histograms. Here two
// clients of very different latency record real answers, and every sample is kept. What
// is merged agrees with the exact percentiles within the histogram's step; the average of
// the clients' own percentiles, plain or by requests, is far off.
func TestMergedPercentilesAreThoseOfAllSamples(t *testing.T) {
	fast, slow := answersOf(t, 0, 2000), answersOf(t, 50*time.Millisecond, 100)
	a, b := partOf("client 1", 0, 0, 2), partOf("client 2", 0, 0, 2)
	for _, c := range []struct {
		part    *Part
		samples []int64
	}{{&a, fast}, {&b, slow}} {
		n := int64(len(c.samples))
		h := recorded(c.samples...)
		c.part.Report.Summary.Targets[0] = TargetSummary{Name: "a", Requests: n, Bytes: n, Histogram: h, Latency: h.Latency()}
		c.part.Report.Slots[0].Requests, c.part.Report.Slots[0].Bytes = n, n
		// Over the way that they take from a client.
		var err error
		if c.part.Report, err = ReadReport(strings.NewReader(lines(t, c.part.Report))); err != nil {
			t.Fatal(err)
		}
	}
	got := merged(t, a, b).Summary.Targets[0]
	all := slices.Sorted(slices.Values(slices.Concat(fast, slow)))
	if got.Histogram.N() != int64(len(all)) || got.Latency.Max != seconds(all[len(all)-1]) {
		t.Errorf("%d of %d samples, %+v", got.Histogram.N(), len(all), got.Latency)
	}
	one, two := a.Report.Summary.Targets[0].Latency, b.Report.Summary.Targets[0].Latency
	share := float64(len(slow)) / float64(len(all))
	for _, c := range []struct {
		name               string
		q                  float64
		got, first, second float64
	}{
		{"p50", 0.5, got.Latency.P50, one.P50, two.P50},
		{"p90", 0.9, got.Latency.P90, one.P90, two.P90},
		{"p99", 0.99, got.Latency.P99, one.P99, two.P99},
	} {
		exact := seconds(all[int(math.Ceil(c.q*float64(len(all))))-1])
		off := func(v float64) float64 { return math.Abs(v-exact) / exact }
		plain, weighed := (c.first+c.second)/2, c.first*(1-share)+c.second*share
		t.Logf("%s of all samples is %.3g ms, merged %.3g ms (off by %.2g %%); averaged %.3g ms (off by %.0f %%), by "+
			"requests %.3g ms (off by %.0f %%)",
			c.name, exact*1e3, c.got*1e3, off(c.got)*100, plain*1e3, off(plain)*100, weighed*1e3, off(weighed)*100)
		if c.got < exact || off(c.got) > 2*LatencyStep {
			t.Errorf("%s is %v s, of all samples %v s", c.name, c.got, exact)
		}
		const much = 20 * LatencyStep
		if off(plain) < much || off(weighed) < much {
			t.Errorf("%s: the averages %v and %v s are as good: the clients are too much alike", c.name, plain, weighed)
		}
	}
}

// answersOf gives the times in ns that so many answers of a server really took, over a few
// connections. The server waits before each.
func answersOf(t *testing.T, delay time.Duration, n int) []int64 {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for one := make([]byte, 1); ; {
					if _, err := io.ReadFull(c, one); err != nil {
						return
					}
					time.Sleep(delay)
					if _, err := c.Write(one); err != nil {
						return
					}
				}
			}()
		}
	}()
	const clients = 10
	var mu sync.Mutex
	var all []int64
	var failed error
	var running sync.WaitGroup
	for range clients {
		running.Go(func() {
			took, err := exchange(ln.Addr().String(), n/clients)
			mu.Lock()
			defer mu.Unlock()
			all, failed = append(all, took...), errors.Join(failed, err)
		})
	}
	running.Wait()
	if failed != nil {
		t.Fatal(failed)
	}
	return all
}

func exchange(addr string, n int) (took []int64, err error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for one := make([]byte, 1); len(took) < n; {
		sent := time.Now()
		if _, err = c.Write(one); err == nil {
			_, err = io.ReadFull(c, one)
		}
		if err != nil {
			return nil, err
		}
		took = append(took, int64(time.Since(sent)))
	}
	return took, nil
}
