package batch

import "time"

// A Meter is told what a Batcher does: a few times for each batch and not for each event,
// except that DropNewest drops events one by one. Its methods are called from several
// goroutines at once, some while others wait to add: they must not block, and must not
// call the Batcher.
//
// The number of events held, gathered ones included, comes from the Batcher: Held.
type Meter interface {
	// Queued is called with the size of a batch, in events, when it begins to wait to be
	// sent, and with minus its size when it stops waiting: when its sending begins, or
	// when it is dropped to make room. The sum of all calls is the number of events in
	// batches that wait. It includes neither events that are still gathered nor those in
	// flight.
	Queued(delta int)
	// Sent is called after each attempt, with the size of the batch in events, how long
	// the attempt took, how long the oldest event of the batch had waited since it was
	// added, and the error of the attempt. So where err is nil, took and waited together
	// are the longest latency from Add to delivery of any event in the batch. When the
	// rest of a batch is sent again, waited is still that of the whole batch.
	Sent(events int, took, waited time.Duration, err error)
	// Delivered is called once for a batch that was taken in, with its size, and also for
	// a part of a batch that was taken in, with the part's size. In that case Sent is
	// called first, with the PartialError.
	Delivered(events int)
	// Dropped is called for events that will not be delivered, with the reason.
	Dropped(events int, why Reason)
	// InFlight is called with 1 when the sending of a batch begins, and with -1 when it
	// has ended, after all attempts and the waits between them.
	InFlight(delta int)
}

// A Reason is why an event was dropped.
type Reason string

// The reasons.
const (
	Full   Reason = "full"   // there was no room, and the policy was not to wait
	Failed Reason = "failed" // its batch failed, and was not to be tried again
)

// none is the default Meter: it does nothing.
type none struct{}

func (none) Queued(int)                                    {}
func (none) Sent(int, time.Duration, time.Duration, error) {}
func (none) Delivered(int)                                 {}
func (none) Dropped(int, Reason)                           {}
func (none) InFlight(int)                                  {}
