package load

import "errors"

// ErrNotReached is the error of Run if nothing listens at a target's address.
var ErrNotReached = errors.New("nothing listens there")

// Options are what a load needs beside its plan. The zero value is a load of servers whose
// right answers nobody knows.
type Options struct {
	// Each is called after each slot, by the thread that measures: what it does is in no slot.
	// An error ends the load, and is Run's.
	Each func(SlotReport) error
	// Hold is called when all slots have ended, with the connections still open.
	Hold func() error
	// Bodies gives the right bodies of a target that names its Answers, and here has its URL among
	// its Requests. A plan with such a target is refused without it.
	Bodies func(Target) (Bodies, error)
	// Queue opens the queue of a network device, in the network namespace of the thread that
	// calls it. A plan with a Wire is refused without it.
	Queue func(device string) (Queue, error)
	// HTTP2 makes the client's side of each connection that is to speak HTTP/2; New of package
	// load/h2 does. A plan with such a target is refused without it.
	HTTP2 func(Target) (Session, error)
	// Events gets what comes of a target that is an EventStream; the plan then has one thread. A plan with
	// such a target is refused without it.
	Events *Events
	// Version is what the summary says of the program.
	Version string
}

// Bodies are the right bodies of a target. All threads use them at once.
type Bodies interface {
	// Share says that one in so many bodies is to be compared in full; of the others only the
	// length is.
	Share() int
	// Length says what is wrong with a body's length in bytes; nil if nothing is.
	Length(n int) error
	// Body says what is wrong with a body; nil if nothing is. It does not keep the body.
	Body(body []byte) error
}

// A Queue counts what leaves a network device.
type Queue interface {
	Read() (Passed, error)
	Close()
}

// Passed is what has left a queue since it was made.
type Passed struct {
	Bytes, Packets uint64 // packets are segments; bytes are with the heads of every segment
	Drops          uint64 // packets that found the queue full
}
