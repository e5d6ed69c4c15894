package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
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
	reopened   uint8
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

// dial opens a socket and waits for the connection.
func dial(addr unix.Sockaddr) (int32, error) {
	fd, err := socket(addr, 0)
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

func socket(addr unix.Sockaddr, flags int) (int32, error) {
	family := unix.AF_INET
	switch addr.(type) {
	case *unix.SockaddrInet6:
		family = unix.AF_INET6
	case *unix.SockaddrUnix:
		family = unix.AF_UNIX
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|flags, 0)
	if err != nil || family == unix.AF_UNIX {
		return int32(fd), err
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

// addresses resolves a target's host and port. A name may have several; the first that is reached
// is that of all connections.
func addresses(t Target, u *url.URL) (all []unix.Sockaddr, err error) {
	if t.Unix != "" {
		return []unix.Sockaddr{&unix.SockaddrUnix{Name: t.Unix}}, nil
	}
	port, err := net.LookupPort("tcp", cmp.Or(u.Port(), u.Scheme))
	if err != nil {
		return nil, err
	}
	found, err := net.DefaultResolver.LookupIPAddr(context.Background(), u.Hostname())
	if err != nil {
		return nil, err
	}
	if u.Hostname() == "localhost" { // which not every host's table has in both families
		found = append(found, net.IPAddr{IP: net.IPv6loopback})
	}
	for _, a := range found {
		if ip := a.IP.To4(); ip != nil {
			all = append(all, &unix.SockaddrInet4{Port: port, Addr: [4]byte(ip)})
			continue
		}
		six := &unix.SockaddrInet6{Port: port, Addr: [16]byte(a.IP.To16())}
		if a.Zone != "" {
			nic, err := net.InterfaceByName(a.Zone)
			if err != nil {
				return nil, err
			}
			six.ZoneId = uint32(nic.Index)
		}
		all = append(all, six)
	}
	return all, nil
}

// dial opens a connection to the first of a target's addresses that takes one, and keeps that alone.
func (t *target) dial() (fd int32, err error) {
	for i, a := range t.addrs {
		var failed error
		if fd, failed = dial(a); failed == nil {
			t.addrs = t.addrs[i : i+1]
			return fd, nil
		}
		err = cmp.Or(err, failed)
	}
	return -1, err
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
	fd, err := begin(c.lane.target.addrs[0])
	if err == nil {
		c.fd, c.state = fd, isOpening
		c.generation++
		err = w.poller.watch(fd, c.index, c.generation)
	}
	if err != nil {
		w.refused(c, err)
	}
}

// begin opens a socket and begins to connect it. A Unix socket connects at once, or waits for
// room in the server's queue, of which no event would tell.
func begin(addr unix.Sockaddr) (int32, error) {
	if _, ok := addr.(*unix.SockaddrUnix); ok {
		return dial(addr)
	}
	fd, err := socket(addr, unix.SOCK_NONBLOCK)
	if err != nil {
		return -1, err
	}
	if err := unix.Connect(int(fd), own(addr)); err != nil && !errors.Is(err, unix.EINPROGRESS) {
		unix.Close(int(fd))
		return -1, err
	}
	return fd, nil
}

// own is a copy: Connect writes into an address, and threads open connections to the same one.
func own(addr unix.Sockaddr) unix.Sockaddr {
	if a, ok := addr.(*unix.SockaddrInet4); ok {
		c := *a
		return &c
	}
	c := *addr.(*unix.SockaddrInet6)
	return &c
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
	c.state, c.since, c.last = isOpen, w.now, false
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
