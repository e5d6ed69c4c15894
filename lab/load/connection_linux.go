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
	// A load opens a broken connection again at most so often, after a wait that grows
	// each time. So it does not flood a server that is gone, and does not take a server
	// that closes each connection for a slow one.
	mostReopened = 5
	leastPause   = int64(20 * time.Millisecond)

	dialTimeout = 3 * time.Second

	// closeWithin is how long a server may take to close a connection of which it announced the end, or
	// was asked for it. One that does not is not waited for again.
	closeWithin = 20 * int64(time.Millisecond)

	// perCrossing is how many answers there are at least to one request that crosses the end of its
	// connection, once half of the connections have ended so.
	perCrossing = 500

	// pause is after how long without a request a server may have closed a connection.
	pause = 20 * int64(time.Millisecond)
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
	blocked    bool // the socket is full, and there is more to write to it
	last       bool // the answer that came last is the last one
	idle       bool // nothing has come since it was asked after a pause
	used       bool // an answer has come since it was opened
	reopened   uint8
	to         unix.Sockaddr // this connection's own, since connecting writes into it
	lane       *lane
	channel    *channel // nil: HTTP/1.1 in plain text
	parser     parser
	next       int      // the place in the mix of the next request to be sent
	at         int      // where in the mix the bytes begin that are still to be written
	owed       int      // how many these are
	flights    []flight // by place: in HTTP/1.1 a ring
	head       int      // the oldest one's place in it
	inFlight   int      // requests
	kept       int      // of these, those of a session that are to be asked again on the next connection
	since      int64    // ns: of the last answer, or of sending if none was in flight then
	again      int64    // ns: when to open it again
}

// A flight is a request in flight, or a free place.
type flight struct {
	kind *kind // nil: free
	from int64 // ns: from when it counts
	sent int64 // ns
}

// fly puts a request in flight, and returns its place.
func (c *connection) fly(f flight) (place int) {
	for place = c.head + c.inFlight; ; place++ {
		if place >= len(c.flights) {
			place -= len(c.flights)
		}
		if c.flights[place].kind == nil {
			break
		}
	}
	c.flights[place] = f
	c.inFlight++
	c.lane.inFlight++
	return place
}

// land frees a place.
func (c *connection) land(place int) flight {
	f := c.flights[place]
	c.flights[place].kind = nil
	c.inFlight--
	c.lane.inFlight--
	if place == c.head {
		if c.head++; c.head == len(c.flights) {
			c.head = 0
		}
	}
	return f
}

// kind is that of the oldest request in flight, or of the next one.
func (c *connection) kind() *kind {
	if k := c.flights[c.head].kind; k != nil {
		return k
	}
	return c.lane.kind(c.next)
}

// connect opens a connection for the first time.
func (w *thread) connect(c *connection) (err error) {
	t := c.lane.target
	if c.fd, err = t.connect(); err != nil {
		return err
	}
	if c.to, err = unix.Getpeername(int(c.fd)); err != nil {
		return err
	}
	if t.channeled() {
		if c.channel, err = t.newChannel(); err == nil {
			err = c.channel.await(c.fd, w.buffer)
		}
		if err != nil {
			return err
		}
	}
	return w.poller.watch(c.fd, c.index, 0)
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
	defer c.Close() // not the copy made here, which Go's poller does not know
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		return -1, err
	}
	own := -1
	failed := raw.Control(func(fd uintptr) { own, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if err = cmp.Or(failed, err); err == nil && t.Unix == "" {
		err = prepare(own)
	}
	return int32(own), err
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

// reopen begins to open a connection again; with a new connection for each request, when one is sent.
func (w *thread) reopen(c *connection) {
	if c.lane.target.Close && c.inFlight == 0 {
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

// opened goes on with opening a connection again.
func (w *thread) opened(c *connection) {
	t, done := c.lane.target, true
	var err error
	if c.channel == nil {
		errno := 0
		if errno, err = unix.GetsockoptInt(int(c.fd), unix.SOL_SOCKET, unix.SO_ERROR); err == nil && errno != 0 {
			err = syscall.Errno(errno)
		}
		if err == nil && t.channeled() {
			c.channel, err = t.newChannel()
		}
	}
	if err == nil && c.channel != nil {
		done, err = c.channel.open(c.fd, w.buffer)
	}
	switch {
	case err != nil:
		w.refused(c, err)
		return
	case !done:
		return
	}
	c.state, c.since, c.last, c.used, c.kept = isOpen, w.now, false, false, 0
	// It asks again what the last connection did not answer.
	if c.session() == nil {
		w.write(c, c.inFlight)
	} else {
		for place := range c.flights {
			if c.flights[place].kind != nil {
				c.flights[place].sent = w.now
				w.ask(c, place)
			}
		}
		w.flush(c)
	}
	if w.listen(c); c.state == isOpen {
		w.ready(c)
	}
}

// fail counts n faults of a connection, says what the first one is, and ends the connection. Requests in flight on
// it stay without an answer.
func (w *thread) fail(c *connection, count *int64, n int, text string) {
	*count += int64(n)
	c.lane.fault(w.now, c.kind(), text)
	for place := range c.flights {
		if c.flights[place].kind != nil {
			w.lost(c.lane, c.land(place))
		}
	}
	w.shut(c)
	if c.reopened < mostReopened {
		c.state, c.again = isBroken, w.now+leastPause<<c.reopened
		c.reopened++
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

// refused counts a connection that could not be opened again.
func (w *thread) refused(c *connection, err error) {
	w.fail(c, &c.lane.sum.Errors, 1, fmt.Sprintf("no new connection: %v", err))
}

// broke counts a connection that the server ended, and the requests in flight on it.
func (w *thread) broke(c *connection, text string) {
	c.lane.sum.Resets++
	w.fail(c, &c.lane.sum.Errors, c.inFlight, text)
}

// malformed counts a malformed answer and ends the connection: nobody knows where the
// next answer begins.
func (w *thread) malformed(c *connection, err error) {
	w.fail(c, &c.lane.sum.Errors, max(c.inFlight, 1), err.Error())
}

// lost counts a request that has no valid answer.
func (w *thread) lost(l *lane, f flight) {
	f.kind.lost++
	w.unanswered(l, f.kind.latency, f.from, w.now)
}

// shut closes a connection's socket, and forgets what came and what was to be written.
func (w *thread) shut(c *connection) {
	if c.channel != nil {
		c.channel.stop()
		c.channel = nil
	}
	c.parser.reset()
	c.at, c.owed, c.blocked, c.idle = c.lane.target.mix.ends[c.next], 0, false, false
	unix.Close(int(c.fd)) // which takes it out of epoll too
	c.fd = -1
	c.generation++
}

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

// rest closes a connection whose end is no fault, and opens it again. It asks again what was in
// flight there.
func (w *thread) rest(c *connection) {
	fresh := c.state == isOpen && c.inFlight == 0 && w.now-c.since < pause
	if n := len(c.lane.target.mix.order); c.session() == nil {
		c.next = (c.next%n - c.inFlight%n + n) % n
	}
	w.shut(c)
	if !c.lane.target.Close {
		c.lane.sum.Reopened++
		if fresh { // a server that takes connections only to close them must not be flooded
			c.state, c.again = isBroken, w.now+closeWithin
			return
		}
	}
	w.reopen(c)
}

// send writes n requests at once. They count from ns.
func (w *thread) send(c *connection, n int, ns int64) {
	l := c.lane
	if n = min(n, l.budget); n <= 0 {
		return
	}
	l.budget -= n
	if c.inFlight == 0 {
		c.idle = w.now-c.since > pause
		c.since = w.now
	}
	if c.session() != nil {
		for range n {
			place := c.fly(flight{l.kind(c.next), ns, w.now})
			c.next = l.target.mix.after(c.next + 1)
			if !w.ask(c, place) {
				return
			}
		}
		w.flush(c)
		return
	}
	for i := range n {
		c.fly(flight{l.kind(c.next + i), ns, w.now})
	}
	if c.state == isRested {
		w.dial(c)
		return
	}
	w.write(c, n)
}

// write writes the next n requests of the mix.
func (w *thread) write(c *connection, n int) {
	m := &c.lane.target.mix
	c.owed += m.ends[c.next+n] - m.ends[c.next]
	c.next = m.after(c.next + n)
	for c.channel != nil && c.owed > 0 {
		piece := c.unwritten()
		_, _ = c.channel.stream.Write(piece) // where TLS has failed reading tells why
		c.wrote(len(piece))
	}
	w.flush(c)
}

// unwritten is the next piece of the mix that is to be written.
func (c *connection) unwritten() []byte {
	all := c.lane.target.mix.bytes
	return all[c.at:min(c.at+c.owed, len(all))]
}

// wrote notes that n more bytes have been.
func (c *connection) wrote(n int) {
	m := &c.lane.target.mix
	if c.owed -= n; c.owed == 0 {
		c.at = m.ends[c.next]
	} else {
		c.at = (c.at + n) % m.size()
	}
}

// flush writes what there is to write, until there is no more or the socket is full.
func (w *thread) flush(c *connection) {
	if c.blocked {
		return
	}
	ch := c.channel
	if ch != nil {
		ch.say()
	}
	for {
		piece := c.unwritten()
		if ch != nil {
			piece = ch.out.Bytes()
		}
		if c.blocked = len(piece) > 0; !c.blocked {
			return
		}
		n, errno := transmit(c.fd, piece)
		switch {
		case errno == syscall.EAGAIN:
			return
		case errno == syscall.EINTR:
		case errno != 0: // the server closed the connection; it may have answered before, which reading tells
			c.blocked = false
			w.poller.again(c.fd, c.index, c.generation)
			return
		case ch != nil:
			ch.out.Next(n)
		default:
			c.wrote(n)
		}
	}
}

// readable reads what has arrived on a connection, and sends the next requests. It
// reports whether there may be more to read; at the connection's end there always is.
func (w *thread) readable(c *connection, ended bool) (more bool) {
	n, errno := receive(c.fd, w.buffer)
	switch {
	case errno == syscall.EAGAIN:
		return false
	case errno == syscall.EINTR:
		return true
	case errno != 0:
		if !w.excuse(c) {
			w.broke(c, fmt.Sprintf("the connection broke, %d requests in flight: %v", c.inFlight, errno))
		}
		return false
	case n == 0:
		w.closed(c)
		return false
	case c.state == isClosing: // what comes behind the last answer is none
		return ended || n == len(w.buffer)
	}
	// Everything that this read returned has arrived by now. Time spent on it from here
	// on is the client's own.
	now := w.load.clock.now()
	w.now, c.idle = now, false
	done, ok := 0, false
	if c.channel == nil {
		done, ok = w.answers(c, w.buffer[:n], now)
	} else {
		done, ok = w.through(c, w.buffer[:n], now)
	}
	if !ok {
		return false
	}
	if done > 0 {
		w.heard(c, now)
	}
	switch s := c.session(); {
	case s != nil && s.Leaving():
		if c.state = isLeaving; c.inFlight == c.kept {
			w.reset(c)
			return false
		}
	case done > 0 && c.last:
		w.finish(c, ended)
		return c.state == isClosing
	case done > 0:
		w.goOn(c, done)
	}
	if c.channel != nil {
		w.flush(c)
	}
	return ended || n == len(w.buffer)
}

// answers reads answers in HTTP/1.1. done is the number of those that are complete; ok is
// false if the connection has ended.
func (w *thread) answers(c *connection, in []byte, now int64) (done int, ok bool) {
	for len(in) > 0 {
		if c.inFlight == 0 {
			w.malformed(c, errors.New("an answer that nobody asked for"))
			return done, false
		}
		k := c.flights[c.head].kind
		used, whole, err := c.parser.next(in, &k.heads, c.parser.sink == nil && k.comparer.wants())
		if err != nil {
			w.malformed(c, err)
			return done, false
		}
		in = in[used:]
		if c.parser.sink != nil {
			if err := w.streamed(c, k, used); err != nil {
				w.malformed(c, err)
				return done, false
			}
			if c.last = whole; whole { // ask again, on the next connection
				return done + 1, true
			}
			continue
		}
		if whole {
			w.answered(c, now)
			if done++; c.last {
				return done, true
			}
		}
	}
	return done, true
}

// listen asks a new connection of a stream once.
func (w *thread) listen(c *connection) {
	if c.lane.target.Stream {
		if c.parser.sink = c.lane.target.options.Stream(); c.inFlight == 0 {
			c.lane.budget = 1
			w.send(c, 1, w.now)
		}
	}
}

// streamed counts what came of a stream, or says what is wrong with it.
func (w *thread) streamed(c *connection, k *kind, size int) error {
	p, sum := &c.parser, &c.lane.sum
	sum.Requests += int64(p.events)
	sum.Bytes += int64(size)
	p.events = 0
	if p.status >= 200 && !k.heads.of.Expects(p.status) {
		return fmt.Errorf("status %d", p.status)
	}
	return p.amiss
}

// answered counts the answer that is in the parser.
func (w *thread) answered(c *connection, now int64) {
	c.last = c.parser.closes || c.lane.target.Close
	w.took(c, c.land(c.head), now, &c.parser.answer)
	c.parser.answer.Size = 0
}

// closed takes a connection that the server closed.
func (w *thread) closed(c *connection) {
	s := c.session()
	switch {
	case c.inFlight > 0 && c.parser.closed():
		w.now = w.load.clock.now()
		w.answered(c, w.now)
		w.heard(c, w.now)
		w.finish(c, true)
	case w.excuse(c):
	case !c.parser.between():
		w.broke(c, fmt.Sprintf("the server closed the connection within an answer, after %d bytes of body", c.parser.got))
	case s != nil && !s.Between():
		w.broke(c, fmt.Sprintf("the server closed the connection within an answer, %d requests in flight", c.inFlight))
	default:
		w.broke(c, fmt.Sprintf("the server closed the connection, %d requests in flight", c.inFlight))
	}
}

// excuse opens a connection again if its end is no fault, and tells whether it is none. It is none if the
// server announced the end, if nothing was under way, or if a request after a pause may have crossed it. Where
// it met others on theirs, they are asked again (RFC 9112, 9.3.1), as often as a server does that ends idle
// workers: Apache closes the connections of a spare process between two requests. More is a server that drops
// requests.
func (w *thread) excuse(c *connection) bool {
	l, s := c.lane, c.session()
	switch {
	case c.state == isClosing:
	case !c.parser.between() || s != nil && !s.Between():
		return false
	case c.inFlight == c.kept || c.idle:
	case s != nil || !c.used || l.sum.Crossed >= int64(len(l.conns)/2)+(l.sum.Requests+l.sum.Non2xx)/perCrossing:
		return false
	default:
		l.sum.Crossed += int64(c.inFlight)
	}
	w.rest(c)
	return true
}
