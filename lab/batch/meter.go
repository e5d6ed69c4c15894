package batch

import "time"

// A Meter is told what a Batcher does: once a batch, except for Dropped. Its
// methods are called from several goroutines at once and must not block.
type Meter interface {
	// Sent is called after each attempt: how many events, how long the attempt
	// took, how long its oldest event had waited for it, and how it failed.
	Sent(events int, took, waited time.Duration, err error)
	// Delivered is called once for a batch that was taken in.
	Delivered(events int)
	// Dropped is called for events that will not be delivered, and why.
	Dropped(events int, why Reason)
	// InFlight is called with 1 when the sending of a batch begins, and with -1
	// when it has ended.
	InFlight(delta int)
}

// A Reason is why an event was dropped.
type Reason string

// The reasons.
const (
	Full   Reason = "full"   // there was no room, and the policy was not to wait
	Failed Reason = "failed" // its batch failed, and was not to be tried again
)

// none is the meter of a Batcher that has none.
type none struct{}

func (none) Sent(int, time.Duration, time.Duration, error) {}
func (none) Delivered(int)                                 {}
func (none) Dropped(int, Reason)                           {}
func (none) InFlight(int)                                  {}
