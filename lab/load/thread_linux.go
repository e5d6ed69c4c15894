package load

import (
	"fmt"
	"math"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// bufferSize is how much is read at once: a dozen of the longer answers. Four times
	// as much was no cheaper, since it takes too much of a core's nearest caches.
	bufferSize = 64 << 10

	// tick is how often a thread checks for timeouts and broken connections.
	tick = int64(20e6)

	// wakeIndex marks the event by which another thread wakes this one.
	wakeIndex = -1
)

// A thread loads its connections of all targets, one target at a time.
type thread struct {
	load   *Loader
	leader *leader // of one thread only; nil in the others
	id     int
	tid    int
	poller *poller
	wakeFD int
	conns  []*connection // by index
	lanes  []*lane       // by target

	lane    *lane // of this slot
	slot    Slot
	stage   uint64        // when last checked
	turns   chan struct{} // each begins a turn
	done    chan error    // of each turn
	phase   int
	arrived bool // has reported that it has finished this phase
	now     int64
	tickAt  int64
	unsound int   // connections that are broken or being opened again
	silence int64 // the longest time without an answer in this slot, ns
	buffer  []byte
	plain   []byte // what TLS makes of it
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
		if err != nil {
			w.load.abort()
		}
		w.done <- err
	}
	w.stopOpening()
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
		if w.lane != nil && w.leader == nil {
			w.lane.show()
		}
		if w.follow(); w.phase == over {
			return nil
		}
		events, err = w.wait()
	}
}

// follow goes on to the current stage, which the leader sets.
func (w *thread) follow() {
	for {
		w.settle()
		if w.leader != nil {
			w.leader.step(w.now)
		}
		s := w.load.stage.Load()
		if s == w.stage {
			return
		}
		w.enter(s)
	}
}

// settle reports when this thread has finished a phase.
func (w *thread) settle() {
	if w.arrived {
		return
	}
	switch w.phase {
	case filling:
		w.arrived = w.lane.pending == 0 || w.slot.Requests > 0
	case counting:
		w.arrived = w.lane.budget == 0 && w.lane.inFlight == 0
	case draining, cutting:
		w.arrived = w.lane.inFlight == 0
	}
	if w.arrived && int(w.load.ready.Add(1)) == len(w.load.threads) && w.leader == nil {
		w.load.threads[0].wake()
	}
}

func (w *thread) wake() { _, _ = unix.Write(w.wakeFD, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// enter begins a stage.
func (w *thread) enter(stage uint64) {
	w.stage, w.phase, w.arrived = stage, int(stage%phases), false
	switch w.phase {
	case filling:
		w.slot = w.load.slot
		w.lane = w.lanes[w.slot.Target]
		w.fill()
	case counting:
		w.silence = 0
	case draining:
		if w.lane.paced {
			w.giveUp()
		}
	case cutting:
		for _, c := range w.lane.conns {
			if c.inFlight > 0 {
				text := fmt.Sprintf("no answer within %v after the slot had ended", time.Duration(w.load.drainTime))
				if depth := w.lane.target.Pipelining; depth > 1 {
					text += fmt.Sprintf("; the server may not take %d requests at a time on a connection", depth)
				}
				w.timedOut(c, text)
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
	if w.load.living.Add(int64(l.living)); l.target.Protocol == EventStream {
		return // it is not known when anything comes
	}
	l.pending = l.living
	w.load.pending.Add(int64(l.living))
	if l.paced {
		l.begin(w.load.fillBegan)
	}
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
	l := c.lane
	switch {
	case l != w.lane || w.phase > counting || l.target.Protocol == EventStream:
	case !l.paced:
		if n := l.target.Pipelining - c.inFlight; n > 0 {
			w.send(c, n, w.now)
		}
	case !c.first:
		w.send(c, 1, unscheduled)
		l.offer(c)
	default:
		l.offer(c)
	}
}

// wait waits for events, but no longer than until the next timed action.
func (w *thread) wait() ([]unix.EpollEvent, error) {
	until := w.tickAt
	if w.leader != nil {
		until = min(until, w.leader.deadline)
	}
	l := w.lane
	if l == nil || !l.paced || w.phase > counting {
		nap := int64(0)
		switch {
		case l == nil: // between two turns
		case l.target.Protocol == EventStream:
			nap = eventNap
		case !l.paced:
			nap = napFor(l.response)
		}
		return w.poller.waitUntil(until, nap)
	}
	next := l.at(l.noticed)
	if w.phase == filling || next < w.load.finish.Load() {
		until = min(until, next)
	}
	return w.poller.waitFor(until - w.load.clock.now())
}

const (
	// A server on the same machine pays for waking the client that waits for it. On
	// virtual cores a wake-up is an interrupt of some microseconds. It was seen to be a
	// tenth of what a request costs, and to come and go from one second to the next. In a
	// closed loop the client therefore sleeps for a moment, by its own timer, before an
	// event may wake it. The moment is a small part of the time that answers take, in
	// which a busy server has other requests to answer.
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
		w.flush(c)
	}
	// An event is reported only once, so everything there is must be read. A read that
	// did not fill the buffer returned everything, unless the connection has also ended.
	ended := e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0
	for reads := 0; e.Events&^unix.EPOLLOUT != 0 && c.generation == e.Pad && w.readable(c, ended); reads++ {
		if reads == inTurn {
			w.poller.again(c.fd, c.index, c.generation)
			return
		}
	}
}

// inTurn is how many reads in a row may fill the buffer. A server that sends as fast as its answers are
// read, as with large bodies and TLS, would hold a thread at one connection while the others time out.
const inTurn = 4

// lookAfter counts requests that timed out and opens broken connections again.
func (w *thread) lookAfter() {
	if w.unsound > 0 {
		for _, c := range w.conns {
			switch {
			case c.state == isBroken && w.now >= c.again:
				w.reopen(c)
			case c.state == isOpening && w.now-c.since > int64(dialTimeout):
				w.refused(c, fmt.Errorf("none within %v", dialTimeout))
			}
		}
	}
	if w.lane == nil {
		return
	}
	for _, c := range w.lane.conns {
		switch {
		case c.inFlight > 0 && c.state != isOpening && w.now-c.waits() > w.load.timeout:
			w.timedOut(c, fmt.Sprintf("no answer within %v", w.load.plan.Timeout()))
		case c.state == isClosing && w.now-c.since > closeWithin:
			c.lane.impatient = true
			w.reset(c)
		}
	}
}

// pause is after how long without a request a server may have closed a connection.
const pause = 20 * int64(time.Millisecond)

// timedOut gives up the requests in flight on a connection and the connection itself:
// otherwise their answers would be taken for those of later requests.
func (w *thread) timedOut(c *connection, text string) {
	c.lane.timeouts += int64(c.inFlight)
	c.lane.fault(w.now, c.kind, text)
	w.end(c)
}

// send writes n requests at once. They count from ns.
func (w *thread) send(c *connection, n int, ns int64) {
	if n = min(n, c.lane.budget); n == 0 {
		return
	}
	c.lane.budget -= n
	if c.inFlight == 0 {
		c.idle = w.now-c.since > pause
		c.since = w.now
	}
	if c.channel != nil && c.channel.session != nil {
		w.ask(c, n, ns)
		return
	}
	c.push(n, ns)
	if c.state == isRested {
		w.unsound++
		w.dial(c)
		return
	}
	w.write(c, n)
}

// write writes the next n requests of the mix.
func (w *thread) write(c *connection, n int) {
	m := &c.lane.target.mix
	from, size := m.ends[c.next], m.ends[c.next+n]-m.ends[c.next]
	c.next = m.after(c.next + n)
	if c.channel != nil {
		w.writeInto(c, from, size)
		return
	}
	if c.blocked {
		c.owed += size
		return
	}
	wrote, errno := transmit(c.fd, m.bytes[from:min(from+size, len(m.bytes))])
	if errno == 0 && wrote == size {
		return
	}
	c.at, c.owed, c.blocked = from, size, true
	if w.wrote(c, wrote, errno) {
		w.flush(c)
	}
}

// flush writes what the socket had no room for before, until there is no more or it is full
// again.
func (w *thread) flush(c *connection) {
	if c.channel != nil {
		w.flushOut(c)
		return
	}
	m := &c.lane.target.mix
	for ok := true; ok && c.blocked; {
		n, errno := transmit(c.fd, m.bytes[c.at:min(c.at+c.owed, len(m.bytes))])
		ok = w.wrote(c, n, errno)
	}
}

// wrote notes what was written, and tells whether to try for more.
func (w *thread) wrote(c *connection, n int, errno syscall.Errno) bool {
	switch errno {
	case 0:
	case syscall.EAGAIN:
		return false
	case syscall.EINTR:
		return true
	default: // the server closed the connection; it may have answered before, which reading tells
		c.blocked = false
		w.poller.again(c.fd, c.index, c.generation)
		return false
	}
	c.owed -= n
	c.at = (c.at + n) % c.lane.target.mix.size()
	c.blocked = c.owed > 0
	return true
}

// broke counts a connection that the server ended, and the requests in flight on it.
func (w *thread) broke(c *connection, text string) {
	l := c.lane
	l.resets++
	l.errors += int64(c.inFlight)
	l.fault(w.now, c.kind, text)
	w.end(c)
}
