package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// inputSize is how much is read at once, and more than the longest head.
	inputSize = 64 << 10
	// mostReads is how often one connection is read before it is another's turn.
	mostReads = 8
	// mostQueued ends the gathering of answers for one write, and bounds what a client that
	// does not read can make the server keep.
	mostQueued = 256 << 10
	// longestTick bounds the time between two looks at what takes too long, at whether the
	// server is to stop, and at connections for which there were no descriptors.
	longestTick = 100 * time.Millisecond
	// farewellTime is how long answers say that the connection closes, so that clients which
	// have sent a request at a stop lose none.
	farewellTime = 500 * time.Millisecond
)

// A handler answers requests. It belongs to a thread.
type handler interface {
	// answer appends to out the answers to the whole requests at the beginning of in, until
	// out has mostQueued bytes, and returns how much of in they were. last says that no
	// request behind them is answered; closing asks for that.
	answer(in, out []byte, closing bool) (used int, all []byte, last bool)
	// tick is called when the second has changed.
	tick(now time.Time)
}

// A loop is one thread and its connections.
type loop struct {
	handler
	server   *server
	epoll    int
	listener *os.File // nil: another loop's, or closed
	accepts  int      // its descriptor

	conns  []*conn // by descriptor
	open   int
	events [256]unix.EpollEvent
	in     []byte
	out    []byte // what is to be written

	origin time.Time
	now    time.Duration // since origin, read once for each wait
	second time.Duration // when the second changes
	sweep  time.Duration // when the next look at what takes too long is due
	end    time.Duration // of the stop; 0: there is none
}

// A conn is one connection between two events.
type conn struct {
	fd    int
	since time.Duration // of its last answer, or since the client last took some of it
	last  bool          // the last answer is queued: what is read is dropped
	rest  []byte        // of requests that were read and not answered yet
	owed  []byte        // of answers that the socket has not taken yet
}

func newLoop(srv *server, h handler) (l *loop, err error) {
	l = &loop{handler: h, server: srv, in: make([]byte, inputSize), origin: time.Now()}
	l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	return l, err
}

// listen makes the loop take connections, for itself and for the others in turn.
func (l *loop) listen(ln *net.TCPListener) (err error) {
	// A copy of the descriptor, so that Go's own loop does not watch it.
	l.listener, err = ln.File()
	if err = errors.Join(err, ln.Close()); err != nil {
		return err
	}
	l.accepts = int(l.listener.Fd())
	return errors.Join(unix.SetNonblock(l.accepts, true),
		unix.SetsockoptInt(l.accepts, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1), // accepted connections have it from there
		l.watch(unix.EPOLL_CTL_ADD, l.accepts))
}

// watch tells the loop of each change of a descriptor. Changes are enough, since a connection is read until
// its socket is empty, and they spare the kernel a second look at each.
func (l *loop) watch(op, fd int) error {
	const everything = unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&(1<<32-1)
	return unix.EpollCtl(l.epoll, op, fd, &unix.EpollEvent{Events: everything, Fd: int32(fd)})
}

// run serves until the server is to stop and everything that has come is answered, or something fails.
func (l *loop) run() error {
	defer l.close()
	for {
		n, errno := wait(l.epoll, l.events[:], l.sweep-l.now)
		if errno != 0 {
			return fmt.Errorf("epoll: %w", errno)
		}
		l.look()
		for _, e := range l.events[:n] {
			if fd := int(e.Fd); l.listener != nil && fd == l.accepts {
				l.accept()
			} else {
				l.turn(l.conn(fd), e.Events)
			}
		}
		if l.now >= l.sweep {
			l.expire()
		}
		if l.end > 0 && (l.open == 0 || l.now >= l.end) {
			return nil
		}
	}
}

// look reads the clock.
func (l *loop) look() {
	if l.now = time.Since(l.origin); l.now >= l.second {
		now := time.Now()
		l.tick(now)
		l.second = l.now + time.Second - time.Duration(now.Nanosecond())
	}
}

// accept takes the connections that wait. Without a descriptor for one, it tries again at the next sweep.
func (l *loop) accept() {
	for {
		fd, _, err := unix.Accept4(l.accepts, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err == unix.ECONNABORTED || err == unix.EINTR {
			continue
		}
		if err != nil {
			return
		}
		to := l.server.loops[l.server.next%len(l.server.loops)]
		l.server.next++
		if to.watch(unix.EPOLL_CTL_ADD, fd) != nil {
			_ = unix.Close(fd)
		}
	}
}

// conn gives the connection of a descriptor, of which the first event says that it is there.
func (l *loop) conn(fd int) *conn {
	for len(l.conns) <= fd {
		l.conns = append(l.conns, nil)
	}
	if l.conns[fd] == nil {
		l.conns[fd] = &conn{fd: fd, since: l.now}
		l.open++
	}
	return l.conns[fd]
}

// expire ends what has taken too long, and begins the stop.
func (l *loop) expire() {
	l.sweep = l.now + min(longestTick, l.server.timeout/4)
	for _, c := range l.conns {
		if c != nil && l.now-c.since > l.server.timeout {
			l.drop(c)
		}
	}
	if l.listener != nil {
		l.accept()
	}
	if l.end == 0 && l.server.leaving.Load() {
		if l.end = l.now; !l.server.null {
			l.end += farewellTime
		}
		if l.listener != nil {
			_ = l.listener.Close()
			l.listener = nil
		}
	}
}

// turn does all that a connection is ready for.
func (l *loop) turn(c *conn, events uint32) {
	held := len(c.owed) > 0 // then whole requests can be in rest, and come before what can be read
	if held && !l.pay(c) {
		return
	}
	for range mostReads {
		n, emptied := copy(l.in, c.rest), false
		if !held {
			got, errno := call(unix.SYS_READ, c.fd, l.in[n:])
			switch {
			case errno == unix.EAGAIN:
				return
			case errno == unix.EINTR:
				continue
			case errno != 0, got == 0:
				l.drop(c)
				return
			}
			// An end of the stream behind what was read has no event of its own if it came
			// before this one.
			emptied = got < len(l.in)-n && events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) == 0
			if n += got; c.last {
				continue
			}
		}
		held = false
		if !l.serve(c, l.in[:n]) || emptied {
			return
		}
	}
	_ = l.watch(unix.EPOLL_CTL_MOD, c.fd) // an event for what is left
}

// serve answers the requests in in, and keeps the rest. It reports whether the connection is to be read on.
func (l *loop) serve(c *conn, in []byte) bool {
	for len(in) > 0 && !c.last && len(c.owed) == 0 {
		var used int
		used, l.out, c.last = l.answer(in, l.out[:0], l.end > 0)
		in = in[used:]
		if len(l.out) == 0 {
			break
		}
		c.since = l.now
		n, errno := call(unix.SYS_WRITE, c.fd, l.out)
		if errno != 0 && errno != unix.EAGAIN {
			l.drop(c)
			return false
		}
		c.owed = append(c.owed, l.out[n:]...)
	}
	if c.rest = nil; !c.last {
		c.rest = append(c.rest, in...) // nothing, mostly
	}
	if len(c.rest) == len(l.in) {
		l.drop(c) // a head without an end
		return false
	}
	if len(c.owed) > 0 {
		return false
	}
	if c.last && unix.Shutdown(c.fd, unix.SHUT_WR) != nil { // the client is read to its end, or a reset could overtake the answer
		l.drop(c)
		return false
	}
	return true
}

// pay writes what a connection is owed. It reports whether all is written.
func (l *loop) pay(c *conn) bool {
	for len(c.owed) > 0 {
		n, errno := call(unix.SYS_WRITE, c.fd, c.owed)
		switch {
		case errno == unix.EAGAIN:
			return false
		case errno == unix.EINTR:
			continue
		case errno != 0:
			l.drop(c)
			return false
		}
		c.owed, c.since = c.owed[n:], l.now
	}
	c.owed = nil
	return true
}

// drop closes a connection.
func (l *loop) drop(c *conn) {
	l.conns[c.fd] = nil
	l.open--
	_ = unix.Close(c.fd)
}

func (l *loop) close() {
	for _, c := range l.conns {
		if c != nil {
			l.drop(c)
		}
	}
	if l.listener != nil {
		_ = l.listener.Close()
	}
	_ = unix.Close(l.epoll)
}

// call makes a system call without telling Go's scheduler. Telling it is for calls that may block, which
// these cannot, since sockets are non-blocking; it was a tenth of what a request costs.
func call(number uintptr, fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall(number, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return max(int(n), 0), errno
}

// wait waits for events. Here too the scheduler is not told: if it were, it would look after the thread a
// thousand times a second whenever work comes after a pause, which made requests dearer by some hundredths
// in turns of 50 ms. So the thread keeps its right to run Go code while it waits. Every ten or twenty
// milliseconds a signal of Go's ends the wait and makes it offer that to other goroutines.
func wait(epoll int, events []unix.EpollEvent, most time.Duration) (int, syscall.Errno) {
	ms := max(most, 0)/time.Millisecond + 1
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll),
		uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), uintptr(ms), 0, 0)
	if errno == unix.EINTR {
		return 0, 0
	}
	return int(n), errno
}
