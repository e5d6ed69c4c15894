// Package batchexpvar shows what a batcher does at /debug/vars.
//
// It has sums and counts only: a distribution of latencies needs a metrics library.
// batch.Meter is small enough to be implemented for any.
package batchexpvar

import (
	"expvar"
	"time"

	"github.com/line-rate/line-rate/lab/batch"
)

// A Meter counts in an expvar map. Its keys in events: queued, delivered, dropped_full,
// dropped_failed, and attempted (the events of all attempts). In batches: attempts,
// failed_attempts and in_flight. So attempted divided by attempts is the mean size.
// send_ns and wait_ns are sums over attempts: how long they took, and how long their
// oldest events had waited.
type Meter struct{ vars *expvar.Map }

var _ batch.Meter = Meter{}

// New counts in a map, which expvar.NewMap makes and publishes under a name.
func New(vars *expvar.Map) Meter { return Meter{vars} }

// Queued keeps the number of events in batches that wait.
func (m Meter) Queued(delta int) { m.vars.Add("queued", int64(delta)) }

// Sent counts an attempt.
func (m Meter) Sent(events int, took, waited time.Duration, err error) {
	m.vars.Add("attempts", 1)
	m.vars.Add("attempted", int64(events))
	if err != nil {
		m.vars.Add("failed_attempts", 1)
	}
	m.vars.Add("send_ns", took.Nanoseconds())
	m.vars.Add("wait_ns", waited.Nanoseconds())
}

// Delivered counts events.
func (m Meter) Delivered(events int) { m.vars.Add("delivered", int64(events)) }

// Dropped counts events by reason.
func (m Meter) Dropped(events int, why batch.Reason) {
	m.vars.Add("dropped_"+string(why), int64(events))
}

// InFlight keeps the number of batches being sent.
func (m Meter) InFlight(delta int) { m.vars.Add("in_flight", int64(delta)) }
