package load

import (
	"errors"
	"fmt"
	"syscall"
)

// readable reads what has arrived on a connection, and sends the next requests. It
// reports whether there may be more to read; at the connection's end there always is.
func (w *thread) readable(c *connection, ended bool) (more bool) {
	n, errno := receive(c.fd, w.buffer)
	switch {
	case errno == syscall.EAGAIN:
		return false
	case errno == syscall.EINTR:
		return true
	case errno != 0 && (w.mayEnd(c) || w.crosses(c)):
		w.rest(c)
		return false
	case errno != 0:
		w.broke(c, fmt.Sprintf("the connection broke, %d requests in flight: %v", c.inFlight, errno))
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
	l, done, ok := c.lane, 0, false
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
	switch {
	case c.channel != nil && c.channel.session != nil && c.channel.session.Leaving():
		if c.state = isLeaving; c.inFlight == len(c.unasked) {
			w.reset(c)
			return false
		}
	case done == 0, l.target.Protocol == EventStream:
	case c.last:
		w.finish(c, ended)
		return c.state == isClosing
	case w.phase > counting || l != w.lane:
	case l.paced:
		l.offer(c)
		w.dispatch()
	default:
		w.send(c, done, now)
	}
	if c.channel != nil {
		w.sync(c)
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
		used, whole, err := c.parser.next(in, &c.kind.heads, c.kind.comparer.wants())
		if err != nil {
			w.malformed(c, err)
			return done, false
		}
		in = in[used:]
		if whole {
			k := c.kind
			w.took(c, k, c.pop(), now)
			if done++; c.last {
				return done, true
			}
		}
	}
	return done, true
}

// closed takes a connection that the server closed.
func (w *thread) closed(c *connection) {
	switch ch := c.channel; {
	case c.inFlight > 0 && c.parser.closed():
		w.now = w.load.clock.now()
		k := c.kind
		w.took(c, k, c.pop(), w.now)
		w.heard(c, w.now)
		w.finish(c, true)
	case w.mayEnd(c), w.crosses(c):
		w.rest(c)
	case !c.parser.between():
		w.broke(c, fmt.Sprintf("the server closed the connection within an answer, after %d bytes of body", c.parser.got))
	case ch != nil && ch.session != nil && !ch.session.Between():
		w.broke(c, fmt.Sprintf("the server closed the connection within an answer, %d requests in flight", c.inFlight))
	default:
		w.broke(c, fmt.Sprintf("the server closed the connection, %d requests in flight", c.inFlight))
	}
}

// mayEnd tells whether the end of a connection is no fault: it was announced, or nothing was under
// way on it. A request that was sent after a pause may have met the end on its way.
func (w *thread) mayEnd(c *connection) bool {
	switch ch := c.channel; {
	case c.state == isClosing:
		return true
	case c.inFlight > len(c.unasked) && !c.idle, !c.parser.between():
		return false
	default:
		return ch == nil || ch.session == nil || ch.session.Between()
	}
}

// perCrossing is how many answers there are at least to one request that crosses the end of its
// connection, once half of the connections have ended so.
const perCrossing = 500

// crosses tells whether the end of a connection met the requests on it on their way, and has them asked
// again (RFC 9112, 9.3.1), as often as a server does that ends idle workers: Apache closes the
// connections of a spare process between two requests. More is a server that drops requests.
func (w *thread) crosses(c *connection) bool {
	l := c.lane
	if !c.used || !c.parser.between() || c.channel != nil && c.channel.session != nil ||
		l.crossed >= int64(len(l.conns)/2)+(l.requests+l.non2xx)/perCrossing {
		return false
	}
	l.crossed += int64(c.inFlight)
	return true
}

// heard notes when an answer came.
func (w *thread) heard(c *connection, now int64) {
	c.since, c.used = now, true
	if w.phase == counting && c.lane == w.lane {
		if quiet := now - w.load.lastAnswer.Swap(now); quiet > w.silence {
			w.silence = quiet
		}
	}
}

// took counts one answer, which is in the parser, to a request that counts from a time.
func (w *thread) took(c *connection, k *kind, from, now int64) {
	l, p := c.lane, &c.parser
	l.bytes += p.answered()
	c.last = p.closes || l.target.Close
	if !l.paced {
		if l.response == 0 {
			l.response = now - from
		}
		l.response += (now - from - l.response) / smoothed
	}
	switch {
	case p.unexpected:
		l.non2xx++
		k.unexpected++
		k.statuses[p.status]++
		l.fault(now, k, fmt.Sprintf("status %d", p.status))
	case p.amiss:
		l.requests++
		k.comparer.wrong(k.heads.why)
	default:
		l.requests++
		k.comparer.take(p.body, p.length)
	}
	if w.slot.Counts && w.load.counts(from) {
		k.latency.Add(now - from)
	}
	if !c.first {
		c.first = true
		if w.phase == filling && l == w.lane {
			w.filled()
		}
	}
}

// malformed counts a malformed answer and ends the connection: nobody knows where the
// next answer begins.
func (w *thread) malformed(c *connection, err error) {
	l := c.lane
	l.errors += int64(max(c.inFlight, 1))
	l.fault(w.now, c.kind, err.Error())
	w.end(c)
}
