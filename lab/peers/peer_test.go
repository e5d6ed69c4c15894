package peers

import (
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/batch"
)

// The settings of all peers, as far as a peer can be set.
const (
	count    = 1_000  // events that make a batch
	capacity = 10_000 // events that wait
	inFlight = 4      // batches being sent at once
	interval = time.Second
)

// An event is 56 bytes, without pointers.
type event struct {
	n    uint64
	rest [6]uint64
}

// A sink takes batches. body appends the batch, encoded for the wire, to a slice; a sink
// that does not need it does not call body.
type sink interface {
	take(events int, body func([]byte) []byte)
}

// A queue is an open peer. It adds events by their numbers in a loop of its own, so that
// a peer is called as a service would call it. Behind an interface method each event
// would be copied once more, and passed to some peers in registers and to others in
// memory.
type queue interface {
	add(from, to uint64)
	close() // after the last add; it delivers what is left
}

// A peer is one way to get from events to batches.
type peer struct {
	name string
	full string // what it does with an event for which there is no room, and other conditions
	lose bool   // it may lose events
	each bool   // an add returns only when its batch has been answered
	sink bool   // it uses the sink; if not, added events are forgotten
	own  bool   // each producer has a queue of its own
	open func(sink) queue
}

// queues opens a peer, and returns the queue that each of so many producers adds to.
func (p peer) queues(s sink, producers int) queues {
	if !p.own {
		return slices.Repeat(queues{p.open(s)}, producers)
	}
	var q queues
	for range producers {
		q = append(q, p.open(s))
	}
	return q
}

type queues []queue

// close closes each queue once.
func (q queues) close() {
	for _, one := range slices.Compact(q) {
		one.close()
	}
}

// ours is the peer with which all others are compared.
const ours = "lab/batch"

var peers = []peer{
	{name: ours, full: "waits", sink: true, open: func(s sink) queue { return openBatch(s) }},
	{name: "lab/batch, ordered", full: "waits; one batch in flight", sink: true,
		open: func(s sink) queue { return openBatch(s, batch.Ordered(), batch.InFlight(1)) }},
	{name: "no queue", full: "is sent by its producer, from a slice of its own: what there is to be had", sink: true,
		own: true, open: openSlice},
	{name: "mutex and append", full: "overwrites another, and none is sent: the floor of what is shared", lose: true,
		open: openBare},
	{name: "mutex, swapped buffers", full: "waits, and everybody with it", sink: true, open: openSwap},
	{name: "channel, 10 workers", full: "waits; up to 10,000 more are in the workers' buffers", sink: true,
		open: openPool},
	{name: "copying worker", full: "waits; what is in flight is not bounded", sink: true, open: openCopying},
	{name: "bundler", full: "waits (AddWait)", sink: true, open: openBundler},
	{name: "eapache batcher", full: "waits for its batch's answer, always; a batch is what came within 1 ms", each: true,
		sink: true, open: openBatcher},
	{name: "OpenTelemetry log", full: "replaces the oldest, which is lost; carries no more than its number", lose: true,
		sink: true, open: openLog},
	{name: "OpenTelemetry spans", full: "waits (WithBlocking); is a pointer to one and the same span", sink: true,
		open: openSpans},
}

// encode appends events, or the items made of them.
func encode[T any](items []T, of func(T) event) func([]byte) []byte {
	return func(b []byte) []byte {
		for _, item := range items {
			b = of(item).append(b)
		}
		return b
	}
}

func same(e event) event { return e }
