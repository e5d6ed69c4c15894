package load

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// bufferSize is the most that one read takes: a dozen of the longer answers. Four times as much
	// was no cheaper, since it takes too much of a core's nearest caches.
	bufferSize = 64 << 10

	// tick is how often a thread checks for timeouts and broken connections.
	tick = int64(20e6)

	// wakeIndex marks the event by which another thread wakes this one.
	wakeIndex = -1

	// inTurn is how many reads in a row may fill the buffer. A server that sends as fast as its answers are
	// read, as with large bodies and TLS, would hold a thread at one connection while the others time out.
	inTurn = 4
)

// A thread loads its connections of all targets, one target at a time.
type thread struct {
	load   *Loader
	id     int // 0: it leads
	tid    int
	poller *poller
	wakeFD int
	conns  []*connection // by index
	lanes  []*lane       // by target
	turns  chan struct{} // each begins a turn
	done   chan error    // of each turn
	buffer []byte
	plain  []byte // the same after TLS

	slot    Slot
	lane    *lane // of this slot
	phase   int32
	arrived bool // has reported that it has finished this phase
	now     int64
	tickAt  int64
	silence int64 // the longest time without an answer in this slot, ns
}

// run carries out turns until there are no more.
func (w *thread) run() {
	runtime.LockOSThread()
	w.tid = unix.Gettid()
	// By default the kernel may add 50 microseconds to each sleep. If this call fails,
	// sleeps are longer, and send_lag_s shows it.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	w.done <- nil
	for range w.turns {
		err := w.turn()
		if err != nil { // it ends all threads
			w.load.stopped.Store(true) // so that a first one that still runs stops
			w.load.phase.Store(over)
			for _, other := range w.load.threads {
				other.wake()
			}
		}
		w.done <- err
	}
	for _, c := range w.conns { // what is being opened ends on the thread that drives it
		if c.channel != nil {
			c.channel.stop()
		}
	}
	close(w.done)
}

// turn loads until the turn is over or an error ends it.
func (w *thread) turn() error {
	// What ended since the last turn is noticed before anything is sent.
	w.now = w.load.clock.now()
	events, err := w.poller.poll(0)
	for {
		if err != nil {
			return fmt.Errorf("epoll: %w", err)
		}
		if len(events) == 0 {
			w.now = w.load.clock.now()
		}
		for i := range events {
			w.event(&events[i])
		}
		if l := w.lane; l != nil && l.paced && w.phase <= counting {
			w.now = w.load.clock.now()
			w.pump()
		}
		if w.now >= w.tickAt {
			w.tickAt = w.now + tick
			w.lookAfter()
		}
		if w.lane != nil && w.id > 0 {
			w.lane.show()
		}
		if w.follow(); w.phase == over {
			return nil
		}
		events, err = w.wait()
	}
}

// follow goes on to the current phase, and says when this thread has finished one.
func (w *thread) follow() {
	for {
		if !w.arrived {
			switch w.phase {
			case filling:
				w.arrived = w.lane.pending == 0 || w.slot.Requests > 0
			case counting:
				w.arrived = w.lane.budget == 0 && w.lane.inFlight == 0
			case draining, cutting:
				w.arrived = w.lane.inFlight == 0 || w.lane.target.Stream
			}
			if w.arrived && int(w.load.ready.Add(1)) == len(w.load.threads) && w.id > 0 {
				w.load.threads[0].wake()
			}
		}
		if w.id == 0 {
			w.load.lead(w.now)
		}
		phase := w.load.phase.Load()
		if phase == w.phase {
			return
		}
		w.enter(phase)
	}
}

func (w *thread) wake() { _, _ = unix.Write(w.wakeFD, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// enter begins a phase.
func (w *thread) enter(phase int32) {
	w.phase, w.arrived = phase, false
	switch phase {
	case filling:
		w.slot = w.load.slot
		w.lane = w.lanes[w.slot.Target]
		w.fill()
	case counting:
		w.silence = 0
	case draining:
		w.giveUp()
	case cutting:
		for _, c := range w.lane.conns {
			if c.inFlight > 0 {
				text := fmt.Sprintf("no answer within %v after the slot had ended", time.Duration(w.load.drainTime))
				if depth := w.lane.target.Pipelining; depth > 1 {
					text += fmt.Sprintf("; the server may not take %d requests at a time on a connection", depth)
				}
				w.fail(c, &c.lane.sum.Timeouts, c.inFlight, text)
			}
		}
	}
}

// fill sends the first requests of a slot.
func (w *thread) fill() {
	l := w.lane
	l.budget = math.MaxInt
	if all := w.slot.Requests; all > 0 { // each thread has its part
		n := min(len(w.load.threads), l.target.Connections)
		l.budget = (all + n - 1 - w.id) / n
	}
	if w.load.living.Add(int64(l.living)); l.target.Stream {
		return // nobody knows when anything comes
	}
	l.pending = l.living
	w.load.pending.Add(int64(l.living))
	l.begin(w.load.fillBegan)
	for _, c := range l.conns {
		c.first = false
		if c.state <= isRested {
			w.ready(c)
		}
	}
}

// filled counts a connection's first answer, or that none will come.
func (w *thread) filled() {
	w.lane.pending--
	w.load.pending.Add(-1)
}

// ready sends the first requests on a connection that is new to the slot, or newly
// opened. In an open loop that is one extra request, which is not on the schedule.
func (w *thread) ready(c *connection) {
	if c.lane == w.lane && w.phase <= counting && c.lane.paced && !c.first && c.inFlight == 0 {
		w.send(c, 1, unscheduled)
	}
	w.goOn(c, c.lane.target.Pipelining-c.inFlight)
}

// goOn sends the next n requests on a connection, or in an open loop what is due.
func (w *thread) goOn(c *connection, n int) {
	switch l := c.lane; {
	case w.phase > counting || l != w.lane || l.target.Stream:
	case l.paced:
		w.dispatch(c)
	default:
		w.send(c, n, w.now)
	}
}

// pump notices requests that have become due, and sends them. Being late with that is the
// client's own delay; the time that a request then waits for a connection is the
// server's.
func (w *thread) pump() {
	l := w.lane
	for {
		at := l.at(l.noticed)
		if at > w.now || w.phase == counting && at >= w.load.finish.Load() {
			return
		}
		if w.phase == counting && w.slot.Counts && w.load.counts(at) {
			l.lag.Add(w.now - at)
		}
		l.noticed++
		w.dispatch(nil)
		w.now = w.load.clock.now()
	}
}

// dispatch sends requests that are due on connections that can take them, first on c if there is one.
func (w *thread) dispatch(c *connection) {
	for l := w.lane; l.taken < l.noticed && l.budget > 0; l.taken++ {
		if c == nil || !c.takes() {
			if c = l.taker(); c == nil {
				return
			}
		}
		w.send(c, 1, l.at(l.taken))
	}
}

// giveUp counts requests that were due and are not sent when the slot ends.
func (w *thread) giveUp() {
	l, finish := w.lane, w.load.finish.Load()
	for l.paced && l.budget > 0 && l.at(l.taken) < finish {
		w.unanswered(l, l.unsent, l.at(l.taken), finish)
		l.taken++
	}
}

// unanswered counts a request of the counted window that got no answer, with the least
// latency that it can have: its age.
func (w *thread) unanswered(l *lane, among *Histogram, due, now int64) {
	if w.slot.Counts && l == w.lane && w.load.counts(due) {
		l.sum.Unanswered++
		among.Add(now - due)
	}
}

// wait waits for events, but no longer than until the next timed action.
func (w *thread) wait() ([]unix.EpollEvent, error) {
	until := w.tickAt
	if w.id == 0 {
		until = min(until, w.load.deadline)
	}
	l, nap := w.lane, int64(0)
	switch {
	case l == nil: // between two turns
	case l.paced && w.phase <= counting:
		next := l.at(l.noticed)
		if w.phase == filling || next < w.load.finish.Load() {
			until = min(until, next)
		}
		return w.poller.waitFor(until, w.load.clock.now())
	case l.target.Stream:
		nap = eventNap
	case !l.paced:
		nap = napFor(l.response)
	}
	return w.poller.waitUntil(until, nap)
}

const (
	// A server on the same machine pays for waking the client that waits for it. On
	// virtual cores a wake-up is an interrupt of some microseconds. We saw it make up a
	// tenth of a request's cost, and come and go from one second to the next. In a closed
	// loop the client therefore sleeps for a moment, by its own timer, before an event
	// may wake it. The moment is a small part of the time that answers take, in which a
	// busy server has other requests to answer.
	longestNap  = int64(100e3)
	eventNap    = int64(500e3) // to find several events costs less than to be woken for each
	shortestNap = int64(10e3)  // about the time that it takes to begin and to end a sleep
	napPart     = 8
)

// napFor is how long a thread without events sleeps, in ns, if answers take so long.
func napFor(response int64) int64 {
	if nap := response / napPart; nap >= shortestNap {
		return min(nap, longestNap)
	}
	return 0
}

// event handles one of the poller's events.
func (w *thread) event(e *unix.EpollEvent) {
	if e.Fd < 0 {
		return // another thread's call, or the timer: edge-triggered, so there is nothing to read
	}
	c := w.conns[e.Fd]
	if c.generation != e.Pad {
		return // of a socket that was closed in this batch
	}
	if c.state == isOpening {
		if w.opened(c); c.state != isOpen {
			return
		}
	}
	if c.blocked {
		c.blocked = false
		w.flush(c)
	}
	// The kernel reports an event only once, so read everything there is. A read that did not fill
	// the buffer returned everything, unless the connection has also ended.
	ended := e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0
	for reads := 0; e.Events&^unix.EPOLLOUT != 0 && c.generation == e.Pad && w.readable(c, ended); reads++ {
		if reads == inTurn {
			w.poller.again(c.fd, c.index, c.generation)
			return
		}
	}
}

// lookAfter counts requests that timed out, and opens again what has to be.
func (w *thread) lookAfter() {
	for _, c := range w.conns {
		waited := w.now - c.since
		switch {
		case c.state == isBroken && w.now >= c.again:
			w.reopen(c)
		case c.state == isOpening && waited > int64(dialTimeout):
			w.refused(c, fmt.Errorf("none within %v", dialTimeout))
		case c.inFlight > 0 && c.state != isOpening && !c.lane.target.Stream && w.now-c.waits() > w.load.timeout:
			w.fail(c, &c.lane.sum.Timeouts, c.inFlight, fmt.Sprintf("no answer within %v", w.load.plan.Timeout()))
		case c.state == isClosing && waited > closeWithin:
			c.lane.impatient = true
			w.reset(c)
		}
	}
}

// took counts the answer to a request.
func (w *thread) took(c *connection, f flight, now int64, a *Answer) {
	l, k, from := c.lane, f.kind, f.from
	l.sum.Bytes += a.Size
	if !l.paced {
		if l.response == 0 {
			l.response = now - from
		}
		l.response += (now - from - l.response) / smoothed
	}
	switch {
	case !k.heads.of.Expects(a.Status):
		l.sum.Non2xx++
		l.sum.Statuses[a.Status]++
		k.unexpected++
		l.fault(now, k, fmt.Sprintf("status %d", a.Status))
	case a.Amiss != nil:
		l.sum.Requests++
		k.comparer.refuse(a.Amiss)
	default:
		l.sum.Requests++
		k.comparer.take(a.Body, a.Length)
	}
	if w.slot.Counts && w.load.counts(from) {
		k.latency.Add(now - from)
	}
	if !c.first {
		c.first = true
		if w.phase == filling && l == w.lane {
			w.filled()
		}
	}
}

// heard notes when an answer came.
func (w *thread) heard(c *connection, now int64) {
	c.since, c.used = now, true
	if w.phase == counting && c.lane == w.lane {
		if quiet := now - w.load.lastAnswer.Swap(now); quiet > w.silence {
			w.silence = quiet
		}
	}
}
