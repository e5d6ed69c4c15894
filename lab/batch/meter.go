package batch

import "time"

// A Meter is told what a Batcher does: a few times a batch and never once an
// event, except that DropNewest drops events one by one. Its methods are called
// from several goroutines at once, some while others wait to add: they must not
// block, nor call the Batcher.
//
// How many events are held, those that no batch has yet among them, is asked of
// the Batcher: Held.
type Meter interface {
	// Queued is called with the size of a batch, in events, when it begins to
	// wait to be sent, and with minus its size when it no longer does: its
	// sending begins, or it is dropped to make room. The sum of all calls is the
	// events in batches that wait; those that are still gathered and those in
	// flight are not among them.
	Queued(delta int)
	// Sent is called after each attempt: the size of the batch in events, how
	// long the attempt took, how long the oldest event of the batch had waited
	// since it was added, and how the attempt failed. So took and waited together
	// are the latency from Add to delivered, where err is nil, of the event that
	// waited longest; no other of its batch waited longer. Of what is left after a
	// part was taken in, waited is still the whole batch's.
	Sent(events int, took, waited time.Duration, err error)
	// Delivered is called once for a batch that was taken in, with its size, and
	// for a part of one that was, with the part's. The attempt that came to a part
	// is told to Sent first, with its PartialError.
	Delivered(events int)
	// Dropped is called for events that will not be delivered, and why.
	Dropped(events int, why Reason)
	// InFlight is called with 1 when the sending of a batch begins, and with -1
	// when it has ended, all its attempts and the waits between them included.
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

func (none) Queued(int)                                    {}
func (none) Sent(int, time.Duration, time.Duration, error) {}
func (none) Delivered(int)                                 {}
func (none) Dropped(int, Reason)                           {}
func (none) InFlight(int)                                  {}
