// Package loop is what the lab's servers on epoll share: threads that each wait for their connections, read one, and
// write at once all that a handler answers to what was read.
//
// What a client can send or leave unread has a limit, and what it can leave undone a time.
//
// Limits: Linux. A connection stays with the thread that it was given to, however busy that is.
package loop

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// MostQueued ends the gathering of answers for one write, and bounds what a client that does not read can make the
// server keep.
const MostQueued = 256 << 10

const (
	// inputSize is the most that one read takes, and more than the longest head.
	inputSize = 64 << 10
	// mostReads is how often one connection is read before it is another's turn.
	mostReads = 8
	// longestTick bounds the time between two looks at what takes too long, at whether the server is to stop, and at
	// connections for which there were no descriptors.
	longestTick = 100 * time.Millisecond
)

// A Handler answers requests. It belongs to a thread.
type Handler interface {
	// Answer appends to out the answers to the whole requests at the beginning of in, until out has
	// MostQueued bytes. It returns how much of in they were; last says that no later request gets
	// an answer, and closing asks for that.
	Answer(c *Conn, in, out []byte, closing bool) (used int, all []byte, last bool)
	// The loop calls Flush after the answers to all requests of one wait.
	Flush()
	// The loop calls Tick when the second has changed.
	Tick(now time.Time)
}

// A Stream is what goes on after the last answer of a connection: its handler writes to it until the client ends its
// side.
type Stream interface {
	Sent() // what the socket had no room for has left
	Gone() // the connection is closed
}

// A Server is threads that share a listener.
type Server struct {
	threads           []*thread
	next              int // the thread that gets the next connection
	timeout, farewell time.Duration
	leaving           atomic.Bool // the server is to stop
}

// New makes a server with a thread for each handler. It takes the listener over. A client may take the timeout to send
// a request or to read some of its answers; a stream has none. At a stop, answers say for the farewell's time that the
// connection closes, so that clients which have sent a request at a stop lose none.
func New(ln *net.TCPListener, timeout, farewell time.Duration, handlers ...Handler) (*Server, error) {
	s := &Server{timeout: timeout, farewell: farewell}
	for _, h := range handlers {
		epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
		if err != nil {
			return nil, err
		}
		t := &thread{Handler: h, server: s, epoll: epoll, in: make([]byte, inputSize), origin: time.Now()}
		s.threads = append(s.threads, t)
	}
	return s, s.threads[0].listen(ln)
}

// Serve serves until all threads have stopped, or one fails. Then the program ends, and with it what is still open.
func (s *Server) Serve() error {
	ended := make(chan error, len(s.threads))
	for _, t := range s.threads {
		go func() { ended <- t.run() }()
	}
	for range s.threads {
		if err := <-ended; err != nil {
			return err
		}
	}
	return nil
}

// Stop makes all threads end when everything that has come is answered.
func (s *Server) Stop() { s.leaving.Store(true) }

// A thread has connections.
type thread struct {
	Handler
	server   *Server
	epoll    int
	listener *os.File // nil: another thread's, or closed
	accepts  int      // its descriptor

	conns  []*Conn // by descriptor
	open   int
	events [256]unix.EpollEvent
	in     []byte
	out    []byte // the output that waits

	origin time.Time
	now    time.Duration // since origin, read once for each wait
	second time.Duration // when the second changes
	sweep  time.Duration // when the next look at what takes too long is due
	end    time.Duration // of the stop; 0: there is none
}

// A Conn is one connection between two events.
type Conn struct {
	Stream Stream // set with the last answer: what goes on after it; nil: nothing

	fd    int
	since time.Duration // of its last answer, or of the last bytes that the client took
	last  bool          // with the last answer in the queue: drop all input
	rest  []byte        // of requests that were read and not answered yet
	owed  []byte        // of answers that the socket has not taken yet
}

// Write gives a text to the socket. What that has no room for is owed, and leaves before any other text.
func (c *Conn) Write(text []byte) error {
	n := 0
	if !c.Owes() {
		var errno syscall.Errno
		if n, errno = call(unix.SYS_WRITE, c.fd, text); errno != 0 && errno != unix.EAGAIN {
			return errno
		}
	}
	c.owed = append(c.owed, text[n:]...)
	return nil
}

// Owes tells whether something of a text waits for room.
func (c *Conn) Owes() bool { return len(c.owed) > 0 }

// listen makes the thread take connections, for itself and for the others in turn.
func (t *thread) listen(ln *net.TCPListener) (err error) {
	// A copy of the descriptor, so that Go's own loop does not watch it.
	t.listener, err = ln.File()
	if err = errors.Join(err, ln.Close()); err != nil {
		return err
	}
	t.accepts = int(t.listener.Fd())
	return errors.Join(unix.SetNonblock(t.accepts, true),
		unix.SetsockoptInt(t.accepts, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1), // accepted connections have it from there
		t.watch(unix.EPOLL_CTL_ADD, t.accepts))
}

// watch tells the thread of each change of a descriptor. Changes are enough, since a connection is read until
// its socket is empty, and they spare the kernel a second look at each.
func (t *thread) watch(op, fd int) error {
	const everything = unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&(1<<32-1)
	return unix.EpollCtl(t.epoll, op, fd, &unix.EpollEvent{Events: everything, Fd: int32(fd)})
}

// run serves until the server is to stop and everything that has come is answered, or something fails.
func (t *thread) run() error {
	for {
		n, errno := wait(t.epoll, t.events[:], t.sweep-t.now)
		if errno != 0 {
			return fmt.Errorf("epoll: %w", errno)
		}
		if t.now = time.Since(t.origin); t.now >= t.second {
			now := time.Now()
			t.Tick(now)
			t.second = t.now + time.Second - time.Duration(now.Nanosecond())
		}
		for _, e := range t.events[:n] {
			if fd := int(e.Fd); t.listener != nil && fd == t.accepts {
				t.accept()
			} else {
				t.turn(t.conn(fd), e.Events)
			}
		}
		t.Flush()
		if t.now >= t.sweep {
			t.expire()
		}
		if t.end > 0 && (t.open == 0 || t.now >= t.end) {
			return nil
		}
	}
}

// accept takes the connections that wait. Without a descriptor for one, it tries again at the next sweep.
func (t *thread) accept() {
	for {
		fd, _, err := unix.Accept4(t.accepts, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err == unix.ECONNABORTED {
			continue
		}
		if err != nil {
			return
		}
		to := t.server.threads[t.server.next%len(t.server.threads)]
		t.server.next++
		if to.watch(unix.EPOLL_CTL_ADD, fd) != nil {
			_ = unix.Close(fd)
		}
	}
}

// conn gives the connection of a descriptor, of which the first event says that it is there.
func (t *thread) conn(fd int) *Conn {
	t.conns = append(t.conns, make([]*Conn, max(0, fd+1-len(t.conns)))...)
	if t.conns[fd] == nil {
		t.conns[fd] = &Conn{fd: fd, since: t.now}
		t.open++
	}
	return t.conns[fd]
}

// expire ends what has taken too long, and begins the stop.
func (t *thread) expire() {
	t.sweep = t.now + min(longestTick, t.server.timeout/4)
	for _, c := range t.conns {
		if c != nil && c.Stream == nil && t.now-c.since > t.server.timeout {
			t.drop(c)
		}
	}
	if t.listener != nil {
		t.accept()
	}
	if t.end == 0 && t.server.leaving.Load() {
		t.end = t.now + t.server.farewell
		_ = t.listener.Close()
		t.listener = nil
	}
}

// turn does all that a connection is ready for.
func (t *thread) turn(c *Conn, events uint32) {
	held := c.Owes() // then whole requests can be in rest, and come before what can be read
	if held && !t.pay(c) {
		return
	}
	if held && c.Stream != nil {
		c.Stream.Sent()
	}
	for range mostReads {
		n, emptied := copy(t.in, c.rest), false
		if !held {
			got, errno := call(unix.SYS_READ, c.fd, t.in[n:])
			switch {
			case errno == unix.EAGAIN:
				return
			case errno != 0, got == 0:
				t.drop(c)
				return
			}
			// An end of the stream behind what was read has no event of its own if it came
			// before this one.
			emptied = got < len(t.in)-n && events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) == 0
			if n += got; c.last {
				continue
			}
		}
		held = false
		if !t.serve(c, t.in[:n]) || emptied {
			return
		}
	}
	_ = t.watch(unix.EPOLL_CTL_MOD, c.fd) // an event for the rest
}

// serve answers the requests in in, and keeps the rest. It reports whether the connection is to be read on.
func (t *thread) serve(c *Conn, in []byte) bool {
	for len(in) > 0 && !c.last && !c.Owes() {
		var used int
		used, t.out, c.last = t.Answer(c, in, t.out[:0], t.end > 0)
		in = in[used:]
		if len(t.out) == 0 {
			break
		}
		c.since = t.now
		if c.Write(t.out) != nil {
			t.drop(c)
			return false
		}
	}
	if c.rest = nil; !c.last {
		c.rest = append(c.rest, in...) // nothing, mostly
	}
	if len(c.rest) == len(t.in) {
		t.drop(c) // a head without an end
		return false
	}
	if c.Owes() {
		return false
	}
	// It reads the client's input to the end, or a reset could overtake the answer.
	if c.last && c.Stream == nil && unix.Shutdown(c.fd, unix.SHUT_WR) != nil {
		t.drop(c)
		return false
	}
	return true
}

// pay writes what a connection is owed. It reports whether the output is empty.
func (t *thread) pay(c *Conn) bool {
	n, errno := call(unix.SYS_WRITE, c.fd, c.owed)
	if errno != 0 {
		if errno != unix.EAGAIN {
			t.drop(c)
		}
		return false
	}
	if c.owed, c.since = c.owed[n:], t.now; !c.Owes() {
		c.owed = nil
	}
	return c.owed == nil
}

// drop closes a connection.
func (t *thread) drop(c *Conn) {
	t.conns[c.fd] = nil
	t.open--
	_ = unix.Close(c.fd)
	if c.Stream != nil {
		c.Stream.Gone()
	}
}

// call makes a system call without telling Go's scheduler. Telling it is for calls that may block, which
// these cannot, since sockets are non-blocking; it was a tenth of what a request costs.
func call(number uintptr, fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall(number, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return max(int(n), 0), errno
}

// wait waits for events. Here too the scheduler does not know. If it did, it would check the thread a
// thousand times a second whenever work comes after a pause, which cost some hundredths of a request in
// turns of 50 ms. So the thread keeps its right to run Go code while it waits. Every ten or twenty
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
