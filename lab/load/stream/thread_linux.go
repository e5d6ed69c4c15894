package stream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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

	// mostOpening is how many connections of a thread are opened at once: fewer than any
	// server's queue has room for.
	mostOpening = 64

	mostReopened = 5
)

// The stages of a thread.
const (
	opening = iota
	counting
	draining
)

// The states of a connection.
const (
	isNew = iota
	isOpening
	isAsking // until the head of the answer has come
	isReading
	isStalled // it reads no more, as the plan has it
	isWaiting // to be opened again
	isLost    // for good
)

// A connection belongs to one thread.
type connection struct {
	fd         int
	generation int32 // of its socket, so that events of an earlier socket are recognised
	state      uint8
	reopened   uint8
	known      bool // it has had an answer or a fault
	wasOpen    bool // at the window's end
	number     int  // among all
	path       *path
	since      int64 // when it began to be opened; when it is to be opened again
	opened     int64 // when it first began to be
	last       int64 // when the last event came
	events     int64
	ids        ledger
	body       body
	parser     Parser
	head       []byte
}

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
	if w.stage == draining && w.reading+w.opening == 0 {
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

// open begins to open a connection.
func (w *thread) open(c *connection) {
	route := &w.routes[c.number%len(w.routes)]
	c.since = w.now
	fd, err := w.begin(route, c.number < w.run.plan.Stalled)
	if errors.Is(err, unix.EAGAIN) && w.now-c.opened < int64(w.run.plan.timeout()) {
		c.state = isWaiting // until the Unix socket has room for it
		return
	}
	if c.state = isOpening; c.reopened > 0 {
		c.path.Reconnects++
	}
	w.opening++
	if c.fd = fd; err == nil {
		e := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&(1<<32-1),
			Fd: int32(w.indexOf(c)), Pad: c.generation}
		err = unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, fd, &e)
	}
	if err != nil {
		if errors.Is(err, unix.EADDRNOTAVAIL) {
			err = fmt.Errorf("%w: no port is free for it; the plan needs more addresses", err)
		}
		w.end(c, Refused, err)
	}
}

func (w *thread) indexOf(c *connection) int { return c.number / len(w.run.threads) }

// begin opens a socket and begins to connect it. One that will stall has little room for what it
// does not read, so that the server notices soon.
func (w *thread) begin(r *route, stalls bool) (int, error) {
	family := unix.AF_INET
	switch r.to.(type) {
	case *unix.SockaddrInet6:
		family = unix.AF_INET6
	case *unix.SockaddrUnix:
		family = unix.AF_UNIX
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	if stalls {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4096)
	}
	if err == nil && r.from != nil {
		// The port is then chosen when the other end is known, so it may be one that a
		// connection to another address has too.
		if err = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1); err == nil {
			err = unix.Bind(fd, r.from)
		}
	}
	if err == nil {
		if err = unix.Connect(fd, r.to); errors.Is(err, unix.EINPROGRESS) {
			err = nil
		}
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
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
	for e.Events&^unix.EPOLLOUT != 0 && c.generation == e.Pad && c.state != isStalled && w.read(c, ended) {
	}
}

// ask sends the request on a connection that was opened, and tells whether it could.
func (w *thread) ask(c *connection) bool {
	errno, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = syscall.Errno(errno)
	}
	if err != nil {
		w.end(c, Refused, err)
		return false
	}
	c.state = isAsking
	request := w.run.plan.request(c.path.name, c.parser.LastID())
	if c.reopened > 0 {
		c.parser.Reset()
	}
	// A new socket has room for a request.
	n, err := unix.SendmsgN(c.fd, request, nil, nil, unix.MSG_NOSIGNAL)
	if err == nil && n < len(request) {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.end(c, Reset, fmt.Errorf("the request was not taken: %w", err))
	}
	return err == nil
}

// read reads once, and tells whether there may be more.
func (w *thread) read(c *connection, ended bool) bool {
	n, errno := w.receive(c.fd)
	w.now = w.run.now()
	switch {
	case errno == unix.EAGAIN:
		return false
	case errno == unix.EINTR:
		return true
	case errno != 0:
		w.end(c, Reset, errno)
		return false
	case n == 0:
		w.closed(c)
		return false
	}
	c.path.Bytes += int64(n)
	in := w.buffer[:n]
	if c.state == isAsking {
		in = w.answer(c, in)
	}
	w.take(c, in)
	return n == bufferSize || ended
}

// take reads on in the body.
func (w *thread) take(c *connection, in []byte) {
	for len(in) > 0 && c.state == isReading {
		part, rest, err := c.body.next(in)
		if err != nil {
			w.end(c, Malformed, err)
			return
		}
		if in = rest; len(part) > 0 {
			w.events(c, part)
		}
	}
	if c.state == isReading && c.body.state == ofNothing {
		w.end(c, "", nil)
	}
}

// answer reads the head, or as much of it as there is, and returns what follows it.
func (w *thread) answer(c *connection, in []byte) []byte {
	c.head = append(c.head, in...)
	for c.state == isAsking {
		end := bytes.Index(c.head, endOfHead)
		if end < 0 {
			if len(c.head) > mostHead {
				w.end(c, Malformed, fmt.Errorf("a head of more than %d bytes", mostHead))
			}
			return nil
		}
		end += len(endOfHead)
		body, interim, kind, err := readHead(c.head[:end])
		if err != nil {
			w.end(c, kind, err)
			return nil
		}
		c.head = c.head[end:]
		if !interim {
			c.body, c.state = body, isReading
			w.waiting--
			w.opening--
			w.reading++
			w.isKnown(c)
		}
	}
	rest := c.head
	c.head = nil
	return rest
}

// isKnown notes that a connection has had an answer or a fault. The time runs when all have.
func (w *thread) isKnown(c *connection) {
	if c.known {
		return
	}
	c.known = true
	if w.run.pending.Add(-1) == 0 {
		// The other threads see it within a tick.
		w.run.begin.Store(w.now + max(int64(w.run.plan.WarmUp), 2*tick))
	}
}

// events counts the events of a part of a body.
func (w *thread) events(c *connection, part []byte) {
	p := c.path
	for {
		rest, ok, err := c.parser.Next(part)
		if err != nil && c.state == isReading {
			w.end(c, TooLarge, err)
		}
		if !ok {
			return
		}
		part = rest
		e := &c.parser.Event
		p.Events++
		c.events++
		if e.OwnID && len(e.ID) <= 18 { // digits that an int64 holds
			if id, ok := decimal(e.ID); ok {
				c.ids.note(id, &p.Counts)
			}
		}
		if w.stage == counting {
			if c.last != 0 {
				p.times.Gaps.Add(w.now - c.last)
			}
			if at, ok := publishedAt(e.Data, &p.hint); ok {
				late := w.sinceEpoch + w.now - at
				if late < 0 {
					p.Early++
				}
				p.times.Latency.Add(late)
			}
		}
		if c.events == 1 {
			p.times.FirstEvent.Add(w.now - c.opened)
			if c.number < w.run.plan.Stalled {
				w.stall(c)
			}
		}
		c.last = w.now
	}
}

// stall stops reading. What the same chunk has is still counted.
func (w *thread) stall(c *connection) {
	_ = unix.EpollCtl(w.epoll, unix.EPOLL_CTL_DEL, c.fd, nil)
	c.state = isStalled
	w.reading--
}

// closed handles a connection that the server has ended.
func (w *thread) closed(c *connection) {
	switch {
	case c.state == isAsking:
		w.end(c, Reset, errors.New("closed before the head of the answer had come"))
	case c.body.endsWithConnection():
		w.end(c, "", nil)
	default:
		w.end(c, Reset, errors.New("closed before the end of its body"))
	}
}

// end closes a connection, which had a fault if there is a kind. It is opened again, if that
// might help.
func (w *thread) end(c *connection, kind string, err error) {
	if kind != "" {
		w.fault(c, kind, err)
	}
	if c.state == isReading {
		c.path.Ends++
		if c.parser.Partial() {
			c.path.Cut++
		}
		w.reading--
		w.waiting++
	} else {
		w.opening--
	}
	if c.fd >= 0 {
		unix.Close(c.fd) // this takes it out of epoll too
	}
	c.fd, c.head = -1, nil
	c.generation++
	w.isKnown(c)
	if kind == Status || kind == ContentType || kind == TooLarge || c.reopened == mostReopened {
		c.state = isLost
		w.waiting--
		return
	}
	pause, ok := c.parser.Retry()
	if !ok {
		pause = w.run.plan.retry()
	}
	c.state, c.since = isWaiting, w.now+int64(pause)
	c.reopened++
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
