// Package batch gathers events and hands them on in batches, for services that
// would otherwise make one request an event.
//
// Every event that was added is accounted for: it is delivered, or lost and counted as
// lost, or returned by Close. The same holds for a receiver that takes only a part of a
// batch: see PartialError. Memory has a bound from the start: New makes all buffers, and
// adding an event allocates nothing.
//
// # Losses
//
// A Batcher loses an event when its batch failed for the last time, or when DropOldest
// makes room. No loss is silent. Flush and Close return a LostError that says how many
// events were lost and why. For callers who call neither, or ignore their errors, the
// Batcher logs losses, and a Meter hears of each as it happens.
//
// An event that DropNewest drops is refused: Add returned ErrFull and never took it in.
// So LostError does not count it; the log and the Meter do. The events for which Add
// returned nil are the sum of those delivered, those in LostErrors, those that Close
// returned and those Held. Flushes that run at the same time report the same loss, and
// then the sum is too high.
//
// # Who owns what
//
// Add copies the event, as an assignment does: data that it points to is shared with
// everyone else who points there. Send gets a slice that belongs to the batcher and is
// used again once Send has returned; a Send that keeps events longer must copy them.
//
// # What adding costs
//
// Two atomic operations and a copy. That takes little more time than a plain mutex and an
// append, and does not grow when a hundred goroutines add instead of one. As many buffers
// fill at once as there are processors, and goroutines that collide soon have one each.
// With MaxBytes every event takes a slower path.
//
// # When order matters
//
// The price is order: events of one goroutine can leave in different batches, in either
// order. If the receiver can sort, by a time or a number in the event, that is the
// cheaper way. If it cannot, use Ordered: batches then leave in the order in which events
// were added, one after the other. Ordered fills only one buffer at a time, so that
// goroutines wait for each other to add. It has only one batch in flight, so it delivers
// at most one batch in the time that the receiver takes to answer. A batch that it tries
// again holds up those behind it. A batch that fails for good leaves a gap, and one that
// was taken in although it failed arrives twice, but no event overtakes another.
//
// # Limits
//
// It keeps nothing on disk: if a process ends without Close, the events that it holds are
// lost and nothing reports them. Delivery is at least once: a Send that fails after its
// receiver took the batch in is tried again if Retry says so. DropOldest drops the whole
// of the batch that has waited longest.
package batch
