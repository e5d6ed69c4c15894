package load

import (
	"crypto/tls"
	"sync/atomic"
)

// A target is one server, as all threads see it.
type target struct {
	Target
	addr     string      // host and port
	secure   *tls.Config // nil: no TLS
	host     string
	options  Options
	answers  Bodies // nil: compare answers with each other
	mix      mix
	failed   string // the reason for passing over it
	requests int64  // of the slots that count
	bytes    int64
}

// A kind is what a thread counts of one of a target's requests.
type kind struct {
	nth        int // of the target's
	heads      headCache
	comparer   comparer
	latency    *Histogram
	label      string // its name in messages, among several
	unexpected int64  // answers with another status
	lost       int64  // requests without a valid answer
}

// smoothed is the number of answers over which their time is averaged.
const smoothed = 64

// A lane is one thread's part of a target: its connections and their counts. While the
// load goes on, only its thread uses it, except for the published counts.
type lane struct {
	target    *target
	conns     []*connection
	living    int   // connections that are not lost
	pending   int   // living connections without an answer in this slot
	inFlight  int   // requests
	budget    int   // requests that may still be sent in this slot
	response  int64 // how long answers take in a closed loop, in ns: a moving average
	impatient bool  // a connection was not closed by the server, though its end was announced

	paced    bool // an open loop
	schedule      // of an open loop
	taking   int  // the connection that took a request last
	lag      *Histogram
	unsent   *Histogram // latencies of requests that were due and never sent

	kinds   []kind        // by request of the target
	sum     TargetSummary // whose counts are of the whole time
	faultAt int64         // ns

	// What other threads see: the state after the last batch.
	shownRequests, shownBytes, shownAnswers atomic.Int64
}

func (l *lane) show() {
	l.shownRequests.Store(l.sum.Requests)
	l.shownBytes.Store(l.sum.Bytes)
	l.shownAnswers.Store(l.sum.Requests + l.sum.Non2xx)
}

// fault keeps the first fault, with the name of the request among several.
func (l *lane) fault(now int64, k *kind, text string) {
	if l.sum.Fault == "" {
		l.faultAt, l.sum.Fault = now, k.label+text
	}
}

// kind is that of the request at a place of the mix, or of its next turn.
func (l *lane) kind(place int) *kind {
	if len(l.kinds) == 1 {
		return &l.kinds[0]
	}
	m := &l.target.mix
	return &l.kinds[m.order[m.after(place)]]
}

// takes tells whether a connection can take a request.
func (c *connection) takes() bool {
	return c.state <= isRested && c.inFlight < c.lane.target.Pipelining
}

// taker is the next connection that can take a request, or nil. So a light load is spread over all
// connections, and over all of a server's workers.
func (l *lane) taker() *connection {
	if l.inFlight >= l.living*l.target.Pipelining {
		return nil
	}
	for range l.conns {
		if l.taking++; l.taking >= len(l.conns) {
			l.taking = 0
		}
		if c := l.conns[l.taking]; c.takes() {
			return c
		}
	}
	return nil
}

// A schedule is one thread's part of an open loop: each request is due at a time that is
// fixed before the first one is sent. Requests that wait are not a list but a range of
// numbers, so a backlog of any length takes no memory.
type schedule struct {
	epoch       int64   // ns of the load's clock
	every       float64 // ns between two requests of all threads
	first, step float64 // this thread has requests first, first+step, …
	noticed     int64   // the next request that becomes due
	taken       int64   // the next request
}

// unscheduled is the due time of a request that is not on the schedule.
const unscheduled = -1

func newSchedule(rate float64, thread, threads int) schedule {
	return schedule{every: 1e9 / rate, first: float64(thread), step: float64(threads)}
}

// begin counts from 0 again.
func (s *schedule) begin(now int64) { s.epoch, s.noticed, s.taken = now, 0, 0 }

func (s *schedule) at(k int64) int64 {
	return s.epoch + int64((float64(k)*s.step+s.first)*s.every)
}
