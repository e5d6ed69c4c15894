package load

import (
	"errors"
	"fmt"
	"net"
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
	isOpen = iota
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
	reopened   uint8
	lane       *lane
	parser     parser
	owed       int   // bytes of requests still to be written
	inFlight   int   // requests
	since      int64 // ns: of the last answer, or of sending if none was in flight then
	again      int64 // ns: when to open it again
	// The times from which requests in flight count, oldest at head: a ring.
	times []int64
	head  int
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
	return ns
}

// dial opens a socket and waits for the connection.
func dial(addr unix.Sockaddr) (int32, error) {
	fd, err := socket(addr)
	if err != nil {
		return -1, err
	}
	// The kernel's connect obeys this limit as well.
	limit := unix.NsecToTimeval(int64(dialTimeout))
	err = unix.SetsockoptTimeval(int(fd), unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit)
	for err == nil {
		err = unix.Connect(int(fd), addr)
		if err == nil {
			return fd, unix.SetNonblock(int(fd), true)
		}
		if errors.Is(err, unix.EINTR) {
			err = nil
		}
	}
	unix.Close(int(fd))
	if errors.Is(err, unix.EINPROGRESS) {
		err = fmt.Errorf("no connection within %v", dialTimeout)
	}
	return -1, err
}

func socket(addr unix.Sockaddr) (int32, error) {
	family := unix.AF_INET
	if _, ok := addr.(*unix.SockaddrInet6); ok {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	// Requests must leave as soon as they are written.
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		unix.Close(fd)
		return -1, err
	}
	// Some hosts' default is bbr, which paces each request with its own timer. Every
	// kernel has reno; if it may not be chosen, the default works as well and only costs
	// more.
	_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno")
	return int32(fd), nil
}

// address resolves a URL's host and port.
func address(host, port string) (unix.Sockaddr, error) {
	if port == "" {
		port = "80"
	}
	tcp, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	if ip := tcp.IP.To4(); ip != nil {
		return &unix.SockaddrInet4{Port: tcp.Port, Addr: [4]byte(ip)}, nil
	}
	a := &unix.SockaddrInet6{Port: tcp.Port, Addr: [16]byte(tcp.IP.To16())}
	if tcp.Zone != "" {
		nic, err := net.InterfaceByName(tcp.Zone)
		if err != nil {
			return nil, err
		}
		a.ZoneId = uint32(nic.Index)
	}
	return a, nil
}

// reopen begins to open a broken connection again.
func (w *thread) reopen(c *connection) {
	c.reopened++
	c.since = w.now
	fd, err := socket(c.lane.target.addr)
	if err == nil {
		c.fd, c.state = fd, isOpening
		c.generation++
		if err = unix.SetNonblock(int(fd), true); err == nil {
			if err = unix.Connect(int(fd), c.lane.target.addr); errors.Is(err, unix.EINPROGRESS) {
				err = nil
			}
		}
		if err == nil {
			err = w.poller.watch(fd, c.index, c.generation)
		}
	}
	if err != nil {
		w.refused(c, err)
	}
}

// opened looks whether opening a connection again has worked.
func (w *thread) opened(c *connection) {
	errno, err := unix.GetsockoptInt(int(c.fd), unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = syscall.Errno(errno)
	}
	if err != nil {
		w.refused(c, err)
		return
	}
	c.state = isOpen
	w.unsound--
	w.ready(c)
}

// refused counts a connection that could not be opened again.
func (w *thread) refused(c *connection, err error) {
	c.lane.errors++
	c.lane.fault(w.now, fmt.Sprintf("no new connection: %v", err))
	if c.state == isOpening {
		unix.Close(int(c.fd))
	}
	w.unsound--
	c.fd = -1
	w.abandon(c)
}

// end closes an open connection. Requests in flight on it stay without an answer.
func (w *thread) end(c *connection) {
	l := c.lane
	for c.inFlight > 0 {
		w.unanswered(l, c.pop(), w.now)
	}
	c.head, c.owed, c.blocked = 0, 0, false
	c.parser.reset()
	unix.Close(int(c.fd)) // this takes it out of epoll too
	c.fd = -1
	w.abandon(c)
}

// abandon schedules a closed connection to be opened again, or gives it up for good.
func (w *thread) abandon(c *connection) {
	c.generation++
	if c.reopened < mostReopened {
		c.state = isBroken
		c.again = w.now + leastPause<<c.reopened
		w.unsound++
		return
	}
	c.state = isLost
	c.lane.living--
	if w.phase == filling && c.lane == w.lane {
		w.load.living.Add(-1)
		if !c.first {
			w.filled()
		}
	}
}
