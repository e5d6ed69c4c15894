// Package generator is what the load generators have in common: what a trial of
// any of them comes to, and what makes it invalid.
//
// Its stance: a generator's own averages and summaries are not believed. The
// packages that read a generator's output take counts and times from it, and
// the figures are computed alike for all. What a generator cannot say is
// missing from its results, not nought.
package generator

import (
	"fmt"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
)

// A Result is one trial.
type Result struct {
	Start, Finish time.Time
	Metrics       map[string]float64 // by the names of package metric
	Below         map[string]float64 // latencies under the resolution
	Faults        []Fault

	// CutMeanS is the mean, in seconds, of latencies cut down to whole
	// milliseconds: the mean latency lies less than a millisecond above. Only
	// autocannon has it, printed to a hundredth of a millisecond.
	CutMeanS float64

	// Of an open loop, else nil.
	Open *Open
}

// An Open is what only a trial at a fixed rate has.
type Open struct {
	// Unanswered is how many requests were due in the trial and had no answer
	// at its end. They stand among the latencies with their age at the end.
	Unanswered float64
	// SendLag is how late the generator itself was, in seconds. A latency of
	// that size says nothing of the server.
	SendLagP50S, SendLagP99S, SendLagMaxS float64
}

// A Fault is something that makes a trial invalid, however rare.
type Fault struct {
	Gate   string
	Detail string
}

// The gates of the faults.
const (
	Non2xx     = gate.Non2xx
	Timeouts   = gate.Timeouts
	Errors     = gate.Errors
	Resets     = gate.Resets
	Mismatches = gate.Mismatches
	NoRequests = gate.NoRequests
	RateShort  = gate.RateShort
)

var what = map[string]string{
	Non2xx:     "%.0f answers were not 2xx",
	Timeouts:   "%.0f requests timed out",
	Errors:     "%.0f connection errors",
	Resets:     "%.0f connections were reset",
	Mismatches: "%.0f bodies were not as expected",
}

// Count adds the fault that a gate counts, if there was one.
func (r *Result) Count(gate string, n float64) {
	if n > 0 {
		r.Faults = append(r.Faults, Fault{Gate: gate, Detail: fmt.Sprintf(what[gate], n)})
	}
}

// Fault adds a fault.
func (r *Result) Fault(gate, format string, args ...any) {
	r.Faults = append(r.Faults, Fault{Gate: gate, Detail: fmt.Sprintf(format, args...)})
}

// Largest bounds every figure: beyond it a number no longer counts by ones.
const Largest = 1 << 53
