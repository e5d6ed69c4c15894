package batch

import "time"

// A Meter hears what a Batcher does: a few times for each batch and not for each event,
// except that DropNewest drops events one by one. Several goroutines call its methods at
// once, some while others wait to add: a method must not block, and must not call the
// Batcher.
//
// The number of events held, gathered ones included, comes from the Batcher: Held.
type Meter interface {
	// Queued gets the size of a batch, in events, when the batch begins to wait, and
	// minus its size when it stops waiting: when it leaves, or makes room. The sum of all
	// calls is the number of events in batches that wait. It includes neither events that
	// are still gathered nor those in flight.
	Queued(delta int)
	// Sent comes after each attempt. It gets the size of the batch in events, the
	// duration of the attempt, the age of the batch's oldest event, and the error of the
	// attempt. So where err is nil, took and waited together are the longest latency from
	// Add to delivery of any event in the batch. When the rest of a batch is sent again,
	// waited is still that of the whole batch.
	Sent(events int, took, waited time.Duration, err error)
	// Delivered gets the size of each batch that the receiver took in, and of each part
	// of a batch. In that case Sent is called first, with the PartialError.
	Delivered(events int)
	// Dropped gets the number of events that will not arrive, with the reason.
	Dropped(events int, why Reason)
	// InFlight gets 1 when the sending of a batch begins, and -1 when it has ended, after all
	// attempts and the waits between them.
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
