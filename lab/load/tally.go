package main

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The histograms count microseconds, up to a minute, to three digits. Mean and
// maximum are kept beside them, exactly.
const (
	longest = time.Minute
	digits  = 3
)

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, longest.Microseconds(), digits)
}

func record(h *hdrhistogram.Histogram, d time.Duration) {
	d = min(max(d, 0), longest)
	_ = h.RecordValue(d.Round(time.Microsecond).Microseconds()) // within its bounds
}

// tallies is how many there are: connections share them, since a histogram for
// each would be a gigabyte at ten thousand connections, and one for all would
// be fought over.
const tallies = 16

// A tally counts the requests of some connections.
type tally struct {
	mu                                 sync.Mutex
	closed                             bool
	start, finish                      time.Duration
	ok, other, errors, timeouts, reset int64
	bytes                              int64
	compared, mismatches               int64
	mismatch                           error // the first
	latency                            *hdrhistogram.Histogram
	sum                                float64 // of the latencies, in seconds
	counted                            int64
	most                               time.Duration
	warmedUp                           int64 // what ended before the measured part
}

func newTally(start, finish time.Duration) *tally {
	return &tally{start: start, finish: finish, latency: newHistogram()}
}

// add counts a request that ended now, and reports whether it was in time to be
// counted. In an open loop, current is where its connection notes it as in
// flight; a request is counted or in flight, never both and never neither.
func (t *tally) add(o outcome, latency, now time.Duration, current *atomic.Int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || now >= t.finish {
		return false
	}
	if current != nil {
		current.Store(none)
	}
	// A wrong answer is one in the warm-up as well.
	if o.wrong != nil {
		if t.mismatches++; t.mismatch == nil {
			t.mismatch = o.wrong
		}
	}
	if now < t.start {
		t.warmedUp++
		return true
	}
	t.reset += o.resets
	if o.compared {
		t.compared++
	}
	switch {
	case o.timedOut:
		t.timeouts++
	case o.code < 0:
		t.errors++
	}
	switch {
	case o.code < 0:
	case o.ok():
		t.ok++
		t.bytes += o.bytes
		t.took(latency)
	default:
		t.other++
		t.bytes += o.bytes
	}
	return true
}

func (t *tally) took(d time.Duration) {
	record(t.latency, d)
	t.sum += d.Seconds()
	t.counted++
	t.most = max(t.most, d)
}

// An output is the line that is printed.
type output struct {
	Generator   string     `json:"generator"`
	Version     string     `json:"version"`
	Start       time.Time  `json:"start"`
	Finish      time.Time  `json:"finish"`
	Requests    int64      `json:"requests"`
	Non2xx      int64      `json:"non2xx"`
	Errors      int64      `json:"errors"`
	Timeouts    int64      `json:"timeouts"`
	Resets      int64      `json:"resets"`
	Mismatches  int64      `json:"mismatches"`         // bodies that were not the route's
	Mismatch    string     `json:"mismatch,omitempty"` // the first
	Compared    int64      `json:"compared"`           // bodies that were looked at in full
	Bytes       int64      `json:"bytes"`
	AskedRate   int        `json:"asked_rate"`
	Unanswered  int64      `json:"unanswered"`
	Connections int        `json:"connections"`
	Latency     *latencies `json:"latency_s,omitempty"`
	SendLag     *lags      `json:"send_lag_s,omitempty"`

	warmedUp int64
}

type latencies struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
}

type lags struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// collect closes the tallies and adds them up. It waits for nobody: a
// connection whose answer does not come is left where it is.
func (g *generator) collect() *output {
	// Without its monotonic reading a time is printed as it is added to.
	begin := g.origin.Round(0)
	out := &output{
		Generator: "fortio", Version: version(),
		Start: begin.Add(g.start).UTC(), Finish: begin.Add(g.finish).UTC(),
		AskedRate: g.Rate, Connections: g.Connections,
	}
	var waiting, end int64
	if g.queue != nil {
		waiting, end = g.queue.close()
	}
	sum := newTally(g.start, g.finish)
	for _, t := range g.tallies {
		t.mu.Lock()
		t.closed = true
		out.Requests += t.ok
		out.Non2xx += t.other
		out.Errors += t.errors
		out.Timeouts += t.timeouts
		out.Resets += t.reset
		out.Compared += t.compared
		if out.Mismatches += t.mismatches; t.mismatch != nil && out.Mismatch == "" {
			out.Mismatch = t.mismatch.Error()
		}
		out.Bytes += t.bytes
		out.warmedUp += t.warmedUp
		sum.latency.Merge(t.latency)
		sum.sum += t.sum
		sum.counted += t.counted
		sum.most = max(sum.most, t.most)
		t.mu.Unlock()
	}
	if g.queue != nil {
		for _, c := range g.conns {
			if due := c.current.Load(); due != none {
				out.Unanswered++
				sum.took(g.finish - time.Duration(due))
			}
		}
		for n := waiting; n < end; n++ {
			out.Unanswered++
			sum.took(g.finish - g.queue.at(n))
		}
		q := quantiles(g.queue.lag, g.queue.most)
		out.SendLag = &lags{q(50), q(99), seconds(g.queue.most)}
	}
	if out.Requests > 0 {
		q := quantiles(sum.latency, sum.most)
		out.Latency = &latencies{
			Mean: round(sum.sum / float64(sum.counted)),
			P50:  q(50), P90: q(90), P99: q(99), P999: q(99.9), Max: seconds(sum.most),
		}
	}
	return out
}

// quantiles reads a histogram. It names the upper edge of a value's step, which
// can lie above the greatest value there was.
func quantiles(h *hdrhistogram.Histogram, most time.Duration) func(float64) float64 {
	return func(p float64) float64 {
		return min(seconds(time.Duration(h.ValueAtQuantile(p))*time.Microsecond), seconds(most))
	}
}

// seconds are those of d, to the microsecond.
func seconds(d time.Duration) float64 { return round(d.Seconds()) }

func round(s float64) float64 { return math.Round(s*1e6) / 1e6 }
