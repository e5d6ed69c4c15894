package stream

import (
	"fmt"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	bufferSize = 64 << 10 // of one read
	atOnce     = 128      // events of epoll

	// tick is how often a thread looks at connections that wait, and at the stage. Go cannot
	// stop the world while a thread waits, and that is for a tick at most.
	tick = int64(10 * time.Millisecond)
)

// The stages of a thread.
const (
	opening = iota
	counting
	draining
)

// A path is what a thread counts of one.
type path struct {
	Counts
	name              string
	times             *Times
	atBegin, atFinish Counts // what had been counted at the window's edges
	hint              int    // where in its data the last event had its time
}

type faultCount struct {
	n, at int64
	first string
}

// A thread reads a part of the connections.
type thread struct {
	run                 *run
	epoll               int
	buffer              []byte
	ready               []unix.EpollEvent
	routes              []route
	conns               []connection
	paths               []path
	faults              map[string]*faultCount
	stage               int
	now, tickAt         int64
	last                int64 // when the last event came
	sinceEpoch          int64 // from 1970 to the run's origin
	fresh               int   // connections that have been opened at least once
	waiting             int   // connections that are opened, ask, or wait to be opened again
	opening             int   // the first two of those
	reading             int
	beginAt, finishAt   int64
	beginCPU, finishCPU int64
}

func (r *run) newThread(id, of int) (*thread, error) {
	routes, err := r.plan.routes() // of its own, since connecting writes into addresses
	if err != nil {
		return nil, err
	}
	w := &thread{run: r, routes: routes, buffer: make([]byte, bufferSize), ready: make([]unix.EpollEvent, atOnce),
		faults: map[string]*faultCount{}, sinceEpoch: r.origin.UnixNano() - 1}
	if w.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	shared := newTimes()
	for _, name := range r.plan.Paths {
		p := path{name: name, times: shared}
		if len(r.plan.Paths) <= MaxTimed {
			p.times = newTimes()
		}
		w.paths = append(w.paths, p)
	}
	for n := id; n < r.plan.Connections; n += of {
		w.conns = append(w.conns, connection{fd: -1, number: n, path: &w.paths[n%len(w.paths)],
			parser: Parser{Most: r.plan.Most}})
	}
	return w, nil
}

// carryOut reads until the plan's times have passed.
func (w *thread) carryOut() error {
	runtime.LockOSThread() // for good: the thread ends with its goroutine
	// By default the kernel may add 50 microseconds to each sleep. If this call fails, it does.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	for !w.run.stopped.Load() {
		w.now = w.run.now()
		if w.step() {
			return nil
		}
		if w.now >= w.tickAt {
			w.tickAt = w.now + tick
			w.lookAfter()
		}
		w.openNew()
		n, errno := w.wait(min(w.tickAt, w.edge()))
		if errno != 0 && errno != unix.EINTR {
			return fmt.Errorf("epoll: %w", errno)
		}
		for i := range n {
			w.event(&w.ready[i])
		}
	}
	return nil
}

// raw makes a system call of which Go's scheduler is not told, as package load does: it would do
// more work for each than the reading of an event takes.
func raw(call uintptr, fd int, p unsafe.Pointer, n, last uintptr) (int, syscall.Errno) {
	r, _, errno := unix.RawSyscall6(call, uintptr(fd), uintptr(p), n, last, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(r), 0
}

// wait waits for events until a time. If there are none it first naps, during which none wakes it.
func (w *thread) wait(until int64) (int, syscall.Errno) {
	n, errno := w.poll(0)
	if n > 0 || errno != 0 {
		return n, errno
	}
	if nap := unix.NsecToTimespec(int64(w.run.plan.nap())); nap.Nsec > 0 {
		// A sleep that a signal cuts short was long enough.
		_, _, _ = unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, uintptr(unsafe.Pointer(&nap)), 0, 0, 0)
	}
	const msec = int64(time.Millisecond)
	return w.poll((until - w.now + msec - 1) / msec)
}

func (w *thread) poll(ms int64) (int, syscall.Errno) {
	return raw(unix.SYS_EPOLL_PWAIT, w.epoll, unsafe.Pointer(&w.ready[0]), atOnce, uintptr(max(ms, 0)))
}

func (w *thread) receive(fd int) (int, syscall.Errno) {
	return raw(unix.SYS_RECVFROM, fd, unsafe.Pointer(&w.buffer[0]), bufferSize, 0)
}

// edge is when the stage ends; far off if nobody knows yet.
func (w *thread) edge() int64 {
	at, p := w.run.begin.Load(), w.run.plan
	switch {
	case at == 0:
		return w.now + tick
	case w.stage == opening:
		return at
	case w.stage == counting:
		return at + int64(p.Window)
	}
	return at + int64(p.Window+p.Drain)
}

// step goes on to the next stage when its time has come, and tells whether the last has ended.
func (w *thread) step() (done bool) {
	quiet := int64(w.run.plan.Quiet)
	if w.stage == draining && (w.reading+w.opening == 0 || quiet > 0 && w.now-max(w.last, w.finishAt) > quiet) {
		return true
	}
	if w.run.begin.Load() == 0 || w.now < w.edge() {
		return false
	}
	var cpu unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &cpu) // this clock always exists
	switch w.stage {
	case opening:
		w.beginAt, w.beginCPU = w.now, cpu.Nano()
		for i := range w.paths {
			w.paths[i].atBegin = w.paths[i].Counts
		}
	case counting:
		w.finishAt, w.finishCPU = w.now, cpu.Nano()
		for i := range w.paths {
			w.paths[i].atFinish = w.paths[i].Counts
		}
		for i := range w.conns {
			w.conns[i].wasOpen = w.conns[i].state == isReading || w.conns[i].state == isStalled
		}
	case draining:
		return true
	}
	w.stage++
	return w.step()
}

// openNew opens connections for the first time, as many at once as may be.
func (w *thread) openNew() {
	for w.fresh < len(w.conns) && w.opening < mostOpening {
		c := &w.conns[w.fresh]
		w.fresh++
		w.waiting++
		c.opened = w.run.now()
		w.open(c)
	}
}

// event handles one of epoll's events.
func (w *thread) event(e *unix.EpollEvent) {
	c := &w.conns[e.Fd]
	if c.generation != e.Pad || c.state == isStalled {
		return // of a socket that was closed, or left alone, in this batch
	}
	if c.state == isOpening && !w.ask(c) {
		return
	}
	// An event is reported only once, so everything there is must be read. A read that did not
	// fill the buffer returned everything, unless the connection has also ended.
	ended := e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0
	for reads := 0; e.Events&^unix.EPOLLOUT != 0 && c.generation == e.Pad && c.state != isStalled && w.read(c, ended); reads++ {
		if reads == inTurn {
			_ = w.watch(unix.EPOLL_CTL_MOD, c)
			return
		}
	}
}

// inTurn is how many reads in a row may fill the buffer: one server that never pauses must not keep the
// other connections waiting.
const inTurn = 4

// lookAfter opens connections again whose time has come, and ends those that wait in vain.
func (w *thread) lookAfter() {
	if w.waiting == 0 {
		return
	}
	for i := range w.conns[:w.fresh] {
		c := &w.conns[i]
		switch {
		case c.state == isWaiting && w.now >= c.since && w.stage != draining && w.opening < mostOpening:
			w.open(c)
		case (c.state == isOpening || c.state == isAsking) && w.now-c.since > int64(w.run.plan.timeout()):
			w.end(c, Timeout, fmt.Errorf("no answer within %v", w.run.plan.timeout()))
		}
	}
}

// fault counts a fault. c is nil where it is of no single connection.
func (w *thread) fault(c *connection, kind string, err error) {
	f := w.faults[kind]
	if f == nil {
		f = &faultCount{at: w.run.now(), first: err.Error()}
		if c != nil {
			f.first = fmt.Sprintf("connection %d, %s: %v", c.number, c.path.name, err)
		}
		w.faults[kind] = f
	}
	f.n++
}
