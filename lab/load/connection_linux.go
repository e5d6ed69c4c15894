package load

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// A connection that broke is opened again at most so often in the whole load, after a
	// wait that grows each time: a server that is gone must not be flooded, and a server
	// that closes each connection must not be taken for a slow one.
	mostReopened = 5
	leastPause   = int64(20 * time.Millisecond)

	dialTimeout = 3 * time.Second
)

// The states of a connection.
const (
	isOpen    = iota
	isRested  // closed after its answer, and opened again for its next request
	isClosing // it waits for the server to close it, after its last answer
	isLeaving // its session takes no more requests
	isOpening
	isBroken // to be opened again
	isLost   // for good
)

// A connection belongs to one thread and one target.
type connection struct {
	fd         int32
	index      int32 // among the thread's
	generation int32 // of its socket, so that events of an earlier socket are recognised
	state      uint8
	first      bool // an answer has come in this slot
	blocked    bool // the socket is full, and requests still have to be written to it
	queued     bool // is in the lane's ring of connections that can take a request
	last       bool // the answer that came last is the last one
	idle       bool // nothing has come since it was asked after a pause
	used       bool // an answer has come since it was opened
	reopened   uint8
	to         unix.Sockaddr // this connection's own, since connecting writes into it
	lane       *lane
	channel    *channel // nil: HTTP/1.1 in plain text
	parser     parser
	kind       *kind // of the oldest request in flight, or of the next one
	oldest     int   // its place in the mix
	next       int   // the place of the next request to be sent
	owed       int   // bytes of requests still to be written
	at         int   // where in the mix they begin
	inFlight   int   // requests
	since      int64 // ns: of the last answer, or of sending if none was in flight then
	again      int64 // ns: when to open it again
	// The times from which requests in flight count, oldest at head: a ring. Of a session
	// they are by place.
	times []int64
	head  int
	// Of a session: from when requests count that are to be asked on the next connection.
	unasked []int64
}

// push notes n requests that count from ns.
func (c *connection) push(n int, ns int64) {
	at := c.head + c.inFlight
	for range n {
		if at >= len(c.times) {
			at -= len(c.times)
		}
		c.times[at] = ns
		at++
	}
	c.inFlight += n
	c.lane.inFlight += n
}

// pop takes the oldest request.
func (c *connection) pop() (ns int64) {
	ns = c.times[c.head]
	if c.head++; c.head == len(c.times) {
		c.head = 0
	}
	c.inFlight--
	c.lane.inFlight--
	if l := c.lane; len(l.kinds) > 1 {
		c.oldest = l.target.mix.after(c.oldest + 1)
		c.kind = &l.kinds[l.target.mix.order[c.oldest]]
	}
	return ns
}

// connect opens a target's connection and waits for it. Of a name's addresses the first that takes one
// counts; that of localhost may be missing from a host's table in one family.
func (t *target) connect() (fd int32, err error) {
	d, network, addr := net.Dialer{Timeout: dialTimeout, KeepAlive: -1}, "tcp", t.addr
	if t.Unix != "" {
		network, addr = "unix", t.Unix
	}
	c, err := d.Dial(network, addr)
	if port, ok := strings.CutPrefix(addr, "localhost:"); ok && errors.Is(err, syscall.ECONNREFUSED) {
		c, err = d.Dial(network, "[::1]:"+port)
	}
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		err = errno
	}
	if err != nil {
		return -1, err
	}
	defer c.Close() // not what is made of it here, of which Go's poller knows nothing
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		return -1, err
	}
	failed := raw.Control(func(own uintptr) {
		n := 0
		n, err = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0)
		fd = int32(n)
	})
	if err = cmp.Or(failed, err); err == nil && t.Unix == "" {
		err = prepare(int(fd))
	}
	return fd, err
}

// prepare sets a socket's options.
func prepare(fd int) error {
	// Some hosts' default is bbr, which paces each request with its own timer. Every
	// kernel has reno; if it may not be chosen, the default works as well and only costs
	// more.
	_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno")
	// Requests must leave as soon as they are written.
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
}

// begin begins to connect again to where a connection led. A Unix socket connects at once, or waits for
// room in the server's queue, of which no event would tell.
func (c *connection) begin() (int32, error) {
	family := unix.AF_INET
	switch c.to.(type) {
	case *unix.SockaddrInet6:
		family = unix.AF_INET6
	case *unix.SockaddrUnix:
		return c.lane.target.connect()
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	if err = prepare(fd); err == nil {
		err = unix.Connect(fd, c.to)
	}
	if err != nil && !errors.Is(err, unix.EINPROGRESS) {
		unix.Close(fd)
		return -1, err
	}
	return int32(fd), nil
}

// reopen begins to open a broken connection again.
func (w *thread) reopen(c *connection) {
	if c.lane.target.Close && c.inFlight == 0 {
		w.unsound--
		c.state = isRested
		w.ready(c)
		return
	}
	w.dial(c)
}

// dial begins to open a connection.
func (w *thread) dial(c *connection) {
	c.since = w.now
	fd, err := c.begin()
	if err == nil {
		c.fd, c.state = fd, isOpening
		c.generation++
		err = w.poller.watch(fd, c.index, c.generation)
	}
	if err != nil {
		w.refused(c, err)
	}
}

// opened looks whether opening a connection again has worked.
func (w *thread) opened(c *connection) {
	if c.channel != nil {
		w.greet(c)
		return
	}
	errno, err := unix.GetsockoptInt(int(c.fd), unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = syscall.Errno(errno)
	}
	t := c.lane.target
	if err == nil && t.channeled() {
		c.channel, err = t.newChannel()
	}
	switch {
	case err != nil:
		w.refused(c, err)
	case c.channel != nil:
		w.greet(c)
	default:
		w.isOpened(c)
	}
}

// isOpened takes a connection that was opened again, and asks what the last one was asked in vain.
func (w *thread) isOpened(c *connection) {
	c.state, c.since, c.last, c.used = isOpen, w.now, false, false
	w.unsound--
	again := c.unasked
	c.unasked = nil
	for _, from := range again {
		c.inFlight--
		c.lane.inFlight--
		w.ask(c, 1, from)
	}
	if len(again) == 0 && c.inFlight > 0 {
		w.write(c, c.inFlight)
	}
	if c.state == isOpen {
		w.ready(c)
	}
}

// refused counts a connection that could not be opened again.
func (w *thread) refused(c *connection, err error) {
	c.lane.errors++
	c.lane.fault(w.now, c.kind, fmt.Sprintf("no new connection: %v", err))
	c.state = isOpening // also where it came to no socket
	w.end(c)
}

// end closes a connection. Requests in flight on it stay without an answer.
func (w *thread) end(c *connection) {
	if c.state == isOpening {
		w.unsound--
	}
	w.dispose(c)
	for _, from := range c.unasked {
		c.inFlight--
		c.lane.inFlight--
		w.lost(c.lane, c.kind, from)
	}
	c.unasked = nil
	w.lose(c)
	c.head, c.owed, c.blocked, c.idle = 0, 0, false, false
	c.parser.reset()
	if c.fd >= 0 {
		unix.Close(int(c.fd)) // this takes it out of epoll too
	}
	c.fd = -1
	w.abandon(c)
}

// lose counts the requests in flight on a connection as without an answer.
func (w *thread) lose(c *connection) {
	for c.inFlight > 0 {
		k := c.kind
		w.lost(c.lane, k, c.pop())
	}
	c.oldest = c.next
	c.kind = &c.lane.kinds[c.lane.target.mix.order[c.next]]
}

// lost counts a request that has no valid answer.
func (w *thread) lost(l *lane, k *kind, from int64) {
	k.lost++
	w.unanswered(l, k.latency, from, w.now)
}

// closeWithin is how long a server may take to close a connection of which it announced the end, or
// was asked for it. One that does not is not waited for again.
const closeWithin = 20 * int64(time.Millisecond)

// finish takes the last answer of a connection. The server should close it: so it is the server's
// end that waits for a minute (TIME_WAIT), and the client's port is free.
func (w *thread) finish(c *connection, ended bool) {
	c.state, c.since = isClosing, w.now
	switch {
	case ended:
		w.rest(c)
	case c.lane.impatient:
		w.reset(c)
	}
}

// reset is rest where the server has not closed the connection. The client's port does not wait then.
func (w *thread) reset(c *connection) {
	_ = unix.SetsockoptLinger(int(c.fd), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	w.rest(c)
}

// rest closes a connection whose end is no fault, and opens it again: at once, or with a new
// connection for each request when one is sent. What is in flight on it is asked again.
func (w *thread) rest(c *connection) {
	l, fresh := c.lane, c.state == isOpen && c.inFlight == 0 && w.now-c.since < pause
	if c.channel != nil && c.channel.session != nil {
		for place, a := range c.channel.asked {
			if a.kind != nil {
				_, from := c.free(place)
				w.postpone(c, from)
			}
		}
	}
	w.dispose(c)
	c.next, c.owed, c.blocked, c.idle = c.oldest, 0, false, false
	c.parser.reset()
	unix.Close(int(c.fd))
	c.fd = -1
	c.generation++
	switch {
	case !l.target.Close && fresh: // a server that takes connections only to close them must not be flooded
		l.reopened++
		w.unsound++
		c.state, c.again = isBroken, w.now+closeWithin
	case !l.target.Close:
		l.reopened++
		w.unsound++
		w.dial(c)
	case c.inFlight > 0:
		w.unsound++
		w.dial(c)
	default:
		c.state = isRested
		switch {
		case w.phase > counting || l != w.lane:
		case l.paced:
			l.offer(c)
			w.dispatch()
		default:
			w.send(c, 1, w.now)
		}
	}
}

// postpone keeps a request of a session for the next connection.
func (w *thread) postpone(c *connection, from int64) {
	c.unasked = append(c.unasked, from)
	c.inFlight++
	c.lane.inFlight++
}

// abandon schedules a closed connection to be opened again, or gives it up for good.
func (w *thread) abandon(c *connection) {
	c.generation++
	if c.reopened < mostReopened {
		c.state = isBroken
		c.again = w.now + leastPause<<c.reopened
		c.reopened++
		w.unsound++
		return
	}
	c.state = isLost
	c.lane.living--
	if w.phase <= counting && c.lane == w.lane {
		w.load.living.Add(-1)
		if w.phase == filling && !c.first {
			w.filled()
		}
	}
}
