package main

import (
	"net/http"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/floor/request"
)

// The phases of a connection: what it waits for, and so which time counts.
const (
	idle      = iota // for the first byte of a request
	inHead           // for the rest of a head
	inBody           // for the rest of a body
	writing          // for the client to read
	lingering        // for the client to close
)

// mostKept is the memory in bytes that a connection keeps for the beginning of a request
// when there is none.
const mostKept = 4 << 10

// A conn is one connection between two events.
type conn struct {
	fd    int
	phase uint8
	// ending: the last answer is queued, and nothing more is read as a request.
	ending bool
	// blank: the empty line was passed over that may stand before a request.
	blank bool
	// ended: the client sends nothing more than what is to be read now.
	ended bool
	// whole: rest may have whole requests.
	whole   bool
	since   time.Duration // when the phase began or, of writing, when the client last read
	body    request.Body  // of the request that is pending
	bodied  bool          // a request is pending
	pending reply         // to it
	rest    []byte        // of requests that were read and not answered yet
	owed    []byte        // of answers that the socket has not taken yet
}

// turn does all that a connection is ready for.
func (l *loop) turn(c *conn, events uint32) {
	c.ended = c.ended || events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0
	if len(c.owed) > 0 {
		if !l.pay(c) || len(c.owed) > 0 {
			return
		}
	} else if events&^unix.EPOLLOUT == 0 {
		return
	}
	if c.phase == lingering {
		l.linger(c)
		return
	}
	for range mostReads {
		n := copy(l.in, c.rest)
		emptied := false
		if !c.whole {
			got, errno := read(c.fd, l.in[n:])
			switch {
			case errno == unix.EAGAIN:
				return
			case errno == unix.EINTR:
				continue
			case errno != 0, got == 0:
				l.drop(c)
				return
			}
			// An end of the stream behind what was read has no event of its own if it
			// came before this one.
			emptied = got < len(l.in)-n && !c.ended
			n += got
		}
		c.whole = false
		answered, ok := l.serve(c, l.in[:n])
		if !ok {
			return
		}
		l.enter(c, answered)
		switch {
		case c.phase == writing:
			return
		case c.ending:
			l.endAnswers(c)
			return
		case emptied:
			return
		}
	}
	l.again = append(l.again, c)
}

// serve reads what is in in, answers the requests, and keeps the rest. It reports whether
// it has answered any, and whether the connection is still there.
func (l *loop) serve(c *conn, in []byte) (answered, ok bool) {
	for {
		used := l.consume(c, in)
		in = in[used:]
		if len(l.pieces) == 0 {
			break
		}
		answered = true
		if !l.send(c) {
			return answered, false
		}
		if c.ending {
			in = nil
		}
		if len(c.owed) > 0 {
			c.whole = len(in) > 0
			break
		}
		if !c.whole {
			break
		}
		c.whole = false
	}
	// rest may not be where in is: in is the loop's own memory.
	if c.rest = append(c.rest[:0], in...); len(in) == 0 && cap(c.rest) > mostKept {
		c.rest = nil
	}
	return answered, true
}

// consume queues the answers to the requests in in, and returns how much of it they were.
// It stops early, with c.whole set, if enough is queued for one write.
func (l *loop) consume(c *conn, in []byte) (used int) {
	for used < len(in) && !c.ending {
		if l.writer.full() {
			c.whole = true
			return used
		}
		if c.bodied {
			n, done, refused := c.body.Read(in[used:])
			used += n
			switch {
			case refused != 0:
				l.refuse(c, refused)
			case done:
				c.bodied = false
				l.reply(c, c.pending)
			}
			continue
		}
		if rest := in[used:]; !c.blank && len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n' {
			c.blank = true
			used += 2
			continue
		}
		n, refused := l.reader.Read(in[used:])
		if refused != 0 {
			l.refuse(c, refused)
			return used
		}
		if n == 0 {
			return used
		}
		used += n
		c.blank = false
		r := &l.reader.Request
		answer := l.find(r)
		if !r.Body() {
			l.reply(c, answer)
			continue
		}
		c.body, c.pending = request.NewBody(r, l.limits), answer
		c.bodied, c.since = true, l.now
		if r.Continue && used == len(in) {
			l.goOn()
		}
	}
	return used
}

// reply queues the answer to a request that was read to its end.
func (l *loop) reply(c *conn, a reply) {
	a.close = a.close || l.leaving
	c.ending = a.close
	l.answer(a)
}

// refuse queues the last answer of a connection whose requests cannot be told apart any
// more.
func (l *loop) refuse(c *conn, status int) {
	c.ending = true
	l.answer(reply{status: status, close: true})
}

// timeOut refuses a request that does not come to its end.
func (l *loop) timeOut(c *conn) {
	l.refuse(c, http.StatusRequestTimeout)
	if l.send(c) {
		c.rest = nil
		l.enter(c, true)
		if c.phase != writing {
			l.endAnswers(c)
		}
	}
}

// enter finds the phase that a connection is in now, and when it began.
func (l *loop) enter(c *conn, answered bool) {
	was := c.phase
	switch {
	case len(c.owed) > 0:
		c.phase = writing
	case c.bodied:
		c.phase = inBody
		return // it began with the head's end
	case len(c.rest) > 0:
		c.phase = inHead
	default:
		c.phase = idle
	}
	if c.phase != was || answered {
		c.since = l.now
	}
}

// send writes what is queued, and keeps what the socket does not take. It reports whether
// the connection is still there.
func (l *loop) send(c *conn) bool {
	n, errno := l.put(c.fd)
	switch {
	case errno == unix.EAGAIN, errno == unix.EINTR:
		n = 0
	case errno != 0:
		l.reset()
		l.drop(c)
		return false
	}
	if n < l.queued {
		for _, p := range l.pieces {
			skip := min(n, len(p))
			n -= skip
			c.owed = append(c.owed, p[skip:]...)
		}
	}
	l.reset()
	return true
}

func (l *loop) put(fd int) (int, syscall.Errno) {
	if len(l.pieces) == 1 {
		return write(fd, l.pieces[0])
	}
	return writev(fd, l.pieces, l.vector)
}

// pay writes what a connection is owed. It reports whether the connection is still there.
func (l *loop) pay(c *conn) bool {
	for len(c.owed) > 0 {
		n, errno := write(c.fd, c.owed)
		switch {
		case errno == unix.EAGAIN:
			return true
		case errno == unix.EINTR:
			continue
		case errno != 0:
			l.drop(c)
			return false
		}
		c.owed = c.owed[n:]
		c.since = l.now
	}
	c.owed = nil
	l.enter(c, true)
	if c.ending {
		l.endAnswers(c)
		return c.fd >= 0
	}
	return true
}

// endAnswers tells the client that nothing more comes, and waits for it to close.
func (l *loop) endAnswers(c *conn) {
	c.rest = nil
	if unix.Shutdown(c.fd, unix.SHUT_WR) != nil {
		l.drop(c)
		return
	}
	c.phase, c.since = lingering, l.now
	l.linger(c)
}

// linger drops what a client sends behind its last request.
func (l *loop) linger(c *conn) {
	for range mostReads {
		n, errno := read(c.fd, l.in)
		switch {
		case errno == unix.EAGAIN:
			return
		case errno == unix.EINTR:
		case errno != 0, n == 0:
			l.drop(c)
			return
		}
	}
	l.again = append(l.again, c)
}
