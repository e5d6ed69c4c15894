// Package batch gathers events and hands them on in batches, for services that
// would otherwise make one request an event.
//
// Its stance: an event that was added is accounted for. It is delivered, or
// counted as dropped under the policy that the caller chose, or returned by
// Close; there is no fourth way. Memory is bounded from the start: all buffers
// are made by New, and adding an event allocates nothing.
//
// # Who owns what
//
// Add takes the event itself, as an assignment does: what it points to is
// shared with whoever else points there. Send gets a slice that belongs to the
// batcher and is used again once Send has returned; a Send that keeps events
// for longer has to copy them.
//
// # Order
//
// Adding is cheap from many goroutines at once because each processor has a
// buffer of its own. The price is order: events of one goroutine can leave in
// different batches, in either order. Ordered gives up the buffers but one, and
// all batches in flight but one, and with them most of the speed; batches then
// leave in the order in which events were added, and a batch that is tried
// again holds up those behind it.
//
// # Limits
//
// Nothing is kept on disk. Delivery is at least once: a Send that fails after
// its receiver took the batch in is tried again if Retry says so. Under
// DropOldest what is dropped is the oldest batch that waits, whole.
package batch
