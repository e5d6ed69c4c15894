package stream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// mostOpening is how many connections of a thread are opened at once: fewer than any
	// server's queue has room for.
	mostOpening = 64

	mostReopened = 5 // how often a connection is: a server that closes each one must not be flooded
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
		err = w.watch(unix.EPOLL_CTL_ADD, c)
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
		w.last = w.now
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

// watch has epoll tell of a connection, or with EPOLL_CTL_MOD tell once more what it still has to read.
func (w *thread) watch(how int, c *connection) error {
	e := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&(1<<32-1),
		Fd: int32(w.indexOf(c)), Pad: c.generation}
	return unix.EpollCtl(w.epoll, how, c.fd, &e)
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
