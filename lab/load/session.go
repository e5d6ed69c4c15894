package load

import (
	"bytes"
	"errors"
)

// HTTP2 is the Protocol of a target that is asked in HTTP/2.
const HTTP2 = "h2"

// A Session is the client's side of one connection in a protocol in which several requests
// are in flight at once and are answered in any order. It has no socket.
type Session interface {
	// Ready tells whether the server has said what it takes, so that it can be asked.
	Ready() bool
	// Ask says a request of the target, by its index. Its answer will name the place, which is one of as
	// many as the target's Pipelining and free. keep asks for the body.
	Ask(place, request int, keep bool) error
	// Take takes what has come.
	Take(in []byte)
	// Next reads on to the next answer; nil if no more is complete. It holds until the next call of
	// Next.
	Next() (*Answer, error)
	// Out is what is to be written. Who writes it resets it.
	Out() *bytes.Buffer
	// Between tells that nothing has come that is not complete.
	Between() bool
	// Leaving tells whether the server has announced the end of the connection, without an error.
	// It gets no more requests, and what it will not answer comes as an Answer with Again.
	Leaving() bool
}

// An Answer is what came for one request.
type Answer struct {
	Place  int
	Status int
	Length int64  // of the body
	Size   int64  // on the connection, with its heads
	Body   []byte // nil if dropped, as every body of more than MaxKept bytes is
	Amiss  error  // what is wrong with its head, by the request's check
	Err    error  // why there is none: the server gave up this request alone
	Again  bool   // there is none, and it is to be asked on another connection
}

// ErrEnded is in the error of a Session whose server has said that it ends the connection.
var ErrEnded = errors.New("the server ended the connection")
