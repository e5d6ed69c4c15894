package load

import (
	"crypto/tls"
	"sync/atomic"
)

// A target is one server, as all threads see it.
type target struct {
	Target
	addr    string      // host and port
	secure  *tls.Config // nil: no TLS
	host    string
	options Options
	counted struct{ requests, bytes int64 } // of the slots that count
	answers Bodies                          // nil: answers are compared with each other
	mix     mix
}

// smoothed is the number of answers over which their time is averaged.
const smoothed = 64

// A lane is one thread's part of a target: its connections and their counts. While the
// load goes on, only its thread uses it, except for the published counts.
type lane struct {
	target   *target
	conns    []*connection
	living   int // connections that are not lost
	pending  int // living connections without an answer in this slot
	inFlight int // requests

	response int64 // how long answers take in a closed loop, in ns: a moving average

	impatient bool // a connection was not closed by the server, though its end was announced

	budget int  // requests that may still be sent in this slot
	paced  bool // an open loop
	schedule
	room       []*connection // a ring of connections that can take a request
	roomAt     int
	roomInUse  int
	kinds      []kind     // by request of the target
	unsent     *Histogram // latencies of requests that were due and never sent; nil in a closed loop
	lag        *Histogram
	requests   int64 // answers with an expected status
	bytes      int64 // of all answers
	non2xx     int64
	errors     int64
	timeouts   int64
	resets     int64
	reopened   int64 // connections whose end was no fault
	crossed    int64 // requests that met the end of their connection on their way
	unanswered int64
	faultAt    int64 // ns; 0: none yet
	faultText  string

	// What other threads see of it: as of the last batch.
	shownRequests, shownBytes, shownAnswers atomic.Int64
}

func (l *lane) show() {
	l.shownRequests.Store(l.requests)
	l.shownBytes.Store(l.bytes)
	l.shownAnswers.Store(l.requests + l.non2xx)
}

// fault keeps the first fault, with the name of the request among several.
func (l *lane) fault(now int64, k *kind, text string) {
	if l.faultAt != 0 {
		return
	}
	l.faultAt, l.faultText = now, k.label+text
}

// offer puts a connection behind the others that can take a request. So a light load is
// spread over all connections, and over all of a server's workers.
func (l *lane) offer(c *connection) {
	if c.queued || c.state > isRested || c.inFlight >= l.target.Pipelining {
		return
	}
	at := l.roomAt + l.roomInUse
	if at >= len(l.room) {
		at -= len(l.room)
	}
	l.room[at] = c
	l.roomInUse++
	c.queued = true
}

// taker is the connection that has waited longest for a request, or nil.
func (l *lane) taker() *connection {
	for l.roomInUse > 0 {
		c := l.room[l.roomAt]
		if l.roomAt++; l.roomAt == len(l.room) {
			l.roomAt = 0
		}
		l.roomInUse--
		c.queued = false
		if c.state <= isRested && c.inFlight < l.target.Pipelining {
			return c
		}
	}
	return nil
}
