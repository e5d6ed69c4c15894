package main

import (
	"fmt"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/generator"
)

const (
	// bufferSize is what is read at once: a dozen of the longer answers. Four
	// times that was no cheaper, since it crowds a core's nearest caches.
	bufferSize = 64 << 10

	// tick is how often a thread looks after timeouts and broken connections.
	tick = int64(20e6)

	// wakeIndex marks the event that another thread's call is.
	wakeIndex = -1
)

// A thread loads its connections of all targets, one target at a time.
type thread struct {
	load   *load
	leader *leader // of one thread, else nil
	id     int
	tid    int
	poller *poller
	wakeFD int
	conns  []*connection // by index
	lanes  []*lane       // by target

	lane    *lane // of this slot
	slot    generator.Slot
	stage   uint64 // as of the last look
	phase   int
	arrived bool // has told that it is through with this phase
	now     int64
	tickAt  int64
	unsound int   // connections that are broken or being opened
	silence int64 // the longest in this slot, ns
	buffer  []byte
}

// run loads until all slots are over, or something is broken that cannot.
func (w *thread) run() error {
	runtime.LockOSThread()
	w.tid = unix.Gettid()
	// The kernel may add 50 microseconds to each sleep by default. If this
	// fails, the sleeps are longer, and send_lag_s says so.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	w.load.started.Done()
	w.load.started.Wait()
	w.now = w.load.clock.now()
	for {
		if err := w.follow(); err != nil || w.phase == over {
			return err
		}
		events, err := w.wait()
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
	}
}

// follow goes on to the stage that is due. The leader decides which.
func (w *thread) follow() error {
	for {
		w.settle()
		if w.leader != nil {
			if err := w.leader.step(w.now); err != nil {
				return err
			}
		}
		s := w.load.stage.Load()
		if s == w.stage {
			return nil
		}
		w.enter(s)
	}
}

// settle tells when this thread is through with a phase.
func (w *thread) settle() {
	if w.arrived {
		return
	}
	switch w.phase {
	case filling:
		w.arrived = w.lane.pending == 0
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
		w.slot = w.load.plan.Slots[stage/phases]
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
				w.timedOut(c, "the slot had ended")
			}
		}
	}
}

// fill sends the first requests of a slot.
func (w *thread) fill() {
	l := w.lane
	l.pending = l.living
	w.load.pending.Add(int64(l.living))
	w.load.living.Add(int64(l.living))
	if l.paced {
		l.begin(w.load.fillBegan)
	}
	for _, c := range l.conns {
		c.first = false
		if c.state == isOpen {
			w.ready(c)
		}
	}
}

// filled counts the first answer of a connection, or that none will come.
func (w *thread) filled() {
	w.lane.pending--
	w.load.pending.Add(-1)
}

// ready sends what a connection that is new to the slot, or new at all, is to
// begin with. In an open loop that is one request of its own, not of the
// schedule.
func (w *thread) ready(c *connection) {
	l := c.lane
	switch {
	case l != w.lane || w.phase > counting:
	case !l.paced:
		w.send(c, l.target.Pipelining, w.now)
	case !c.first:
		w.send(c, 1, unscheduled)
		l.offer(c)
	default:
		l.offer(c)
	}
}

// wait waits for events, up to what comes by itself.
func (w *thread) wait() ([]unix.EpollEvent, error) {
	until := w.tickAt
	if w.leader != nil {
		until = min(until, w.leader.deadline)
	}
	l := w.lane
	if l == nil || !l.paced || w.phase > counting {
		nap := int64(0)
		if l != nil { // of an open loop it is none
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
	// A server on the same machine pays for waking the client that waits for it:
	// where cores are virtual that is an interrupt of some microseconds, which was
	// seen to be a tenth of what a request cost and to come and go from one second
	// to the next. A closed loop therefore sleeps for a moment, by its own timer,
	// before it lets itself be woken. The moment is a small part of the time that
	// answers take, in which a server that is busy has others to answer.
	longestNap  = int64(100e3)
	shortestNap = int64(10e3) // a sleep takes about that long to begin and to end
	napPart     = 8
)

// napFor is how long a thread without events sleeps, in ns, where answers take
// so long.
func napFor(response int64) int64 {
	if nap := response / napPart; nap >= shortestNap {
		return min(nap, longestNap)
	}
	return 0
}

// event handles one of the poller's.
func (w *thread) event(e *unix.EpollEvent) {
	if e.Fd < 0 {
		return // another thread's call, or the timer: told once, as all is
	}
	c := w.conns[e.Fd]
	if c.generation != e.Pad {
		return // of a socket that this batch has closed
	}
	if c.state == isOpening {
		w.opened(c)
		return
	}
	if c.blocked {
		w.flush(c)
	}
	// An event is told once, so all there is has to be read. What did not fill
	// the buffer was all, unless the connection's end has come as well.
	ended := e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0
	for e.Events&^unix.EPOLLOUT != 0 && c.generation == e.Pad && w.readable(c, ended) {
	}
}

// lookAfter counts what timed out and opens anew what broke.
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
		if c.inFlight > 0 && w.now-c.since > w.load.timeout {
			w.timedOut(c, "")
		}
	}
}

// timedOut gives up what is in flight on a connection, and with it the
// connection: the answers would else come to later requests.
func (w *thread) timedOut(c *connection, when string) {
	l := c.lane
	l.timeouts += int64(c.inFlight)
	text := fmt.Sprintf("no answer within %v", w.load.plan.Timeout())
	if when != "" {
		text = fmt.Sprintf("no answer within %v after %s", drainTime(w.load.plan), when)
	}
	l.fault(w.now, text)
	w.end(c)
}

// send writes n requests at once. They count from ns.
func (w *thread) send(c *connection, n int, ns int64) {
	if c.inFlight == 0 {
		c.since = w.now
	}
	c.push(n, ns)
	t := c.lane.target
	size := n * t.one
	if c.blocked {
		c.owed += size
		return
	}
	wrote, errno := transmit(c.fd, t.request[:size])
	if errno == 0 && wrote == size {
		return
	}
	w.owes(c, size, wrote, errno)
}

// flush writes what the socket had no room for. As one request is like the
// other, what is owed needs only a number.
func (w *thread) flush(c *connection) {
	t := c.lane.target
	from := (t.one - c.owed%t.one) % t.one
	part := t.request[from:min(from+c.owed, len(t.request))]
	wrote, errno := transmit(c.fd, part)
	w.owes(c, c.owed, wrote, errno)
}

func (w *thread) owes(c *connection, size, wrote int, errno syscall.Errno) {
	switch errno {
	case 0:
	case syscall.EAGAIN, syscall.EINTR:
		wrote = 0
	default:
		w.broke(c, fmt.Sprintf("a request was not taken: %v", errno))
		return
	}
	c.owed = size - wrote
	c.blocked = c.owed > 0
}

// broke counts a connection that the server ended, with what was in flight.
func (w *thread) broke(c *connection, text string) {
	l := c.lane
	l.resets++
	l.errors += int64(c.inFlight)
	l.fault(w.now, text)
	w.end(c)
}
