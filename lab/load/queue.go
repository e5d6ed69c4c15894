package main

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A schedule is when each request of an open loop is due, on the load's clock.
// Request 0 is the first of the measured part; those of the warm-up have the
// numbers below.
type schedule struct {
	start, finish time.Duration
	rate          int
}

// at is when request i is due.
func (s schedule) at(i int64) time.Duration {
	return s.start + time.Duration(i*int64(time.Second)/int64(s.rate))
}

// first is the number of the first request: the least that is not due before
// the load's clock begins.
func (s schedule) first() int64 {
	return -(int64(s.start) * int64(s.rate) / int64(time.Second))
}

// end is one more than the number of the last request: the least that is not
// due before the finish.
func (s schedule) end() int64 {
	n := int64(s.finish-s.start) * int64(s.rate) / int64(time.Second)
	for s.at(n) < s.finish {
		n++
	}
	return n
}

// A queue hands out what is due. What waits for a connection is no list but a
// range of numbers, so a backlog of any length takes no room.
type queue struct {
	schedule

	mu     sync.Mutex
	due    int64         // the next number to fall due
	taken  int64         // the next number to be taken
	idle   []*connection // a ring of those that wait
	head   int
	waits  int
	lag    *hdrhistogram.Histogram
	most   time.Duration
	closed bool
}

func newQueue(s schedule, conns []*connection) *queue {
	return &queue{schedule: s, due: s.first(), taken: s.first(), idle: make([]*connection, len(conns)), lag: newHistogram()}
}

// next gives c a request: one that waits, or else the next to fall due. The
// connections that wait are served in the order in which they came, which
// spreads a light load over all of them, and so over all of a server's workers.
func (q *queue) next(c *connection, clock func() time.Duration, stop <-chan struct{}) (due time.Duration, ok bool) {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return 0, false
	}
	if q.taken < q.due {
		at := q.at(q.taken)
		q.taken++
		c.current.Store(int64(at))
		q.mu.Unlock()
		return at, true
	}
	q.idle[(q.head+q.waits)%len(q.idle)] = c
	q.waits++
	q.mu.Unlock()
	select {
	case <-stop:
		return 0, false
	case n := <-c.hand:
		at := q.at(n)
		q.late(n, clock()-at)
		return at, true
	}
}

// release lets request n fall due: to a connection that waits, or to the
// backlog.
func (q *queue) release(n int64, now time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.due = n + 1
	if q.waits == 0 {
		q.record(n, now-q.at(n))
		return
	}
	c := q.idle[q.head]
	q.idle[q.head] = nil
	q.head = (q.head + 1) % len(q.idle)
	q.waits--
	q.taken++
	c.current.Store(int64(q.at(n)))
	c.hand <- n // has room: a connection waits for one at a time
}

// late takes down how late the generator itself was with request n: up to the
// moment when a connection that waited has it, or, if none waited, up to the
// moment when the pacer let it fall due. From there on the wait is the
// server's.
func (q *queue) late(n int64, by time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.record(n, by)
}

func (q *queue) record(n int64, by time.Duration) {
	if n < 0 || q.closed {
		return // of the warm-up, or too late
	}
	record(q.lag, by)
	q.most = max(q.most, by)
}

// close ends the handing out and returns the numbers that nobody has taken: all
// from the first on, also those that the pacer should have let fall due and did
// not.
func (q *queue) close() (first, end int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	return q.taken, q.end()
}

// pace lets each request fall due at its time.
func (q *queue) pace(clock func() time.Duration, stop <-chan struct{}) {
	sleep, done := sleeper()
	defer done()
	for n, end := q.first(), q.end(); n < end; n++ {
		at, now := q.at(n), clock()
		for now < at {
			select {
			case <-stop:
				return
			default:
			}
			sleep(min(at-now, longestSleep))
			now = clock()
		}
		q.release(n, now)
	}
}

// longestSleep bounds how long the pacer takes to see that it is to stop.
const longestSleep = 50 * time.Millisecond
