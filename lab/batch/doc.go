// Package batch gathers events and hands them on in batches, for services that
// would otherwise make one request an event.
//
// Its stance: an event that was added is accounted for. It is delivered, or lost
// and counted as lost, or returned by Close; there is no fourth way. Memory is
// bounded from the start: all buffers are made by New, and adding an event
// allocates nothing.
//
// The package is a module of its own, and needs Go's standard library alone.
//
// A receiver that takes in a part of a batch is no exception: Send says so with a
// PartialError, and what is left of the batch is tried again, lost or returned by
// itself.
//
// # What is lost
//
// An event is lost when its batch failed and Retry, or its absence, gives it up;
// or when DropOldest makes room. Nothing is lost in silence. Flush and Close
// return a LostError, with how many events it was and why. For those who ask
// neither, or ignore what they say, the loss is logged to slog.Default: the
// first at once, then a sum every ten seconds. WithLogger names another logger;
// the only way to silence is to name one that discards. A Meter is told of each
// loss as it happens.
//
// An event that DropNewest drops is refused: its Add returned ErrFull. It was
// never taken in, so that LostError does not have it; the log and the Meter do.
// What Add took in, by returning nil, is then what was delivered, what
// LostErrors sum up to, what Close returned and what is Held. (Flushes at the
// same time are told of the same loss, and then the sum is too high: better than
// a Flush that returns nil for what another was told of.)
//
// # Who owns what
//
// Add takes the event itself, as an assignment does: what it points to is
// shared with whoever else points there. Send gets a slice that belongs to the
// batcher and is used again once Send has returned; a Send that keeps events
// for longer has to copy them.
//
// # What adding costs
//
// Two atomic operations and a copy, which is little more than a bare mutex and
// an append take, and no more where a hundred goroutines add than where one
// does: up to as many buffers are being filled as there are processors, and
// goroutines that get in each other's way find one each. MaxBytes has every
// event go a longer way. make bench in the repository shows it beside other
// ways.
//
// # When order matters
//
// The price is order: events of one goroutine can leave in different batches, in
// either order. Where the receiver can sort, by a time or a number in the event,
// that is the cheaper way. Where it cannot, since it takes what comes last for
// what is newest, there is Ordered: batches then leave in the order in which
// events were added, one after the other, and each event in its place. It gives
// up the buffers but one, so that goroutines wait for each other to add, and all
// batches in flight but one, so that no more than a batch is delivered in the
// time that the receiver takes to answer; and a batch that is tried again holds
// up those behind it. A batch that fails for good leaves a gap, and one that was
// taken in although it failed comes twice, but nothing overtakes. Several
// workers that take events from one channel keep no order either.
//
// # Metrics
//
// A Meter has five methods. package batchexpvar is one for /debug/vars; one for
// OpenTelemetry is as small: an up-down counter each for Queued and InFlight, a
// counter each for Delivered and Dropped, and in Sent three histograms, of the
// batch's size, how long it took, and waited and took together.
//
// # Limits
//
// Nothing is kept on disk: what is held when a process ends without Close is
// gone, and nobody is there to say so. Delivery is at least once: a Send that
// fails after its receiver took the batch in is tried again if Retry says so.
// Under DropOldest what is dropped is the oldest batch that waits, whole.
package batch
