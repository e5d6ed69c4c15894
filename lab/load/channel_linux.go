package load

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A channel is what a connection has between its socket and its requests where it does not
// speak HTTP/1.1 in plain text: TLS, a session, or both. To TLS it is a net.Conn that never
// blocks: what is written waits to be flushed, and where nothing has come, reading gives an
// error that TLS takes for a passing one.
type channel struct {
	net.Conn // none: TLS needs only Read and Write
	tls      *tls.Conn
	stream   io.ReadWriter // the TLS, or the channel itself: into memory, and never blocks
	session  Session
	in, out  bytes.Buffer
	ended    bool // in, by the server

	// While it is opened, reading waits by handing over to who opens it.
	wait    func(struct{}) bool
	next    func() (struct{}, bool)
	stop    func()
	failure error
}

// errNothing is the error of a read where nothing has come. TLS takes it for a passing one.
var errNothing = os.ErrDeadlineExceeded

func (ch *channel) Read(p []byte) (int, error) {
	for ch.in.Len() == 0 {
		switch {
		case ch.ended:
			return 0, io.EOF
		case ch.wait == nil:
			return 0, errNothing
		case !ch.wait(struct{}{}):
			return 0, net.ErrClosed // nobody opens it any longer
		}
	}
	return ch.in.Read(p)
}

func (ch *channel) Write(p []byte) (int, error) { return ch.out.Write(p) }

// channeled tells whether the target's connections have channels.
func (t *target) channeled() bool { return t.secure != nil || t.Protocol != "" }

// newChannel is the channel of a new connection, still to be opened.
func (t *target) newChannel() (ch *channel, err error) {
	ch = &channel{}
	ch.stream = ch
	if t.secure != nil {
		ch.tls = tls.Client(ch, t.secure)
		ch.stream = ch.tls
	}
	if t.Protocol == HTTP2 {
		if ch.session, err = t.options.HTTP2(t.Target); err != nil {
			return nil, err
		}
	}
	// A handshake of TLS has its state on its stack. As a coroutine it runs on the thread that
	// drives it and needs no other.
	ch.next, ch.stop = iter.Pull(func(yield func(struct{}) bool) {
		ch.wait = yield
		ch.failure = ch.greet(t.Protocol == HTTP2)
		ch.wait = nil
	})
	return ch, nil
}

// greet does what comes before the first request.
func (ch *channel) greet(http2 bool) error {
	if ch.tls != nil {
		if err := ch.tls.Handshake(); err != nil {
			return fmt.Errorf("no TLS with it: %w", err)
		}
		if got := ch.tls.ConnectionState().NegotiatedProtocol; http2 && got != HTTP2 {
			return fmt.Errorf("it does not offer HTTP/2 by ALPN (it chose %q)", got)
		}
	}
	for buffer := make([]byte, mostHead); ch.session != nil; {
		ch.say()
		if ch.session.Ready() {
			ch.wait = nil // it reads what else has come, and waits for no more
		}
		n, err := ch.stream.Read(buffer)
		if err == errNothing {
			return nil
		}
		ch.session.Take(buffer[:n])
		if err == nil {
			_, err = ch.session.Next() // no request is under way
		}
		if err != nil {
			return fmt.Errorf("it does not speak as it was asked to: %w", err)
		}
	}
	return nil
}

// say passes on what the session says.
func (ch *channel) say() {
	if ch.session != nil && ch.session.Out().Len() > 0 {
		_, _ = ch.session.Out().WriteTo(ch.stream) // where TLS has failed reading tells why
	}
}

// open goes on with opening by what has come, and tells whether that is done.
func (ch *channel) open(fd int32, buffer []byte) (done bool, err error) {
	for {
		_, more := ch.next()
		if !more { // before, TLS may be in the middle of its handshake
			ch.say()
		}
		if ch.out.Len() > 0 { // a new socket has room for that
			if n, errno := transmit(fd, ch.out.Bytes()); errno != 0 || n < ch.out.Len() {
				return false, fmt.Errorf("it does not take the greeting: %w", errno)
			}
			ch.out.Reset()
		}
		if !more {
			return true, ch.failure
		}
		switch n, errno := receive(fd, buffer); {
		case errno == syscall.EAGAIN:
			return false, nil
		case errno == syscall.EINTR:
		case errno != 0:
			return false, errno
		default:
			ch.in.Write(buffer[:n])
			ch.ended = n == 0
		}
	}
}

// await opens a channel and waits for that.
func (ch *channel) await(fd int32, buffer []byte) error {
	defer ch.stop()
	for until := time.Now().Add(dialTimeout); ; {
		if done, err := ch.open(fd, buffer); done || err != nil {
			return err
		}
		left := time.Until(until)
		if left <= 0 {
			return fmt.Errorf("it does not answer the greeting within %v", dialTimeout)
		}
		set := []unix.PollFd{{Fd: fd, Events: unix.POLLIN}}
		if _, err := unix.Poll(set, int(left.Milliseconds())+1); err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// session is the connection's, or nil.
func (c *connection) session() Session {
	if c.channel == nil {
		return nil
	}
	return c.channel.session
}

// waits is since when a connection with requests in flight waits for one. Of a session that
// is since it sent the oldest, whatever came for others.
func (c *connection) waits() (since int64) {
	since = c.since
	if c.session() != nil {
		for _, f := range c.flights {
			if f.kind != nil {
				since = min(since, f.sent)
			}
		}
	}
	return since
}

// ask asks the request at a place in a session, and tells whether the connection goes on.
func (w *thread) ask(c *connection, place int) bool {
	k := c.flights[place].kind
	if err := c.channel.session.Ask(place, k.nth, k.comparer.wants()); err != nil {
		w.broke(c, err.Error())
		return false
	}
	return true
}

// through reads what has arrived on a channel. done is the number of answers; ok is false if
// the connection has ended.
func (w *thread) through(c *connection, in []byte, now int64) (done int, ok bool) {
	ch := c.channel
	if ch.tls == nil {
		return w.places(c, in, now)
	}
	for ch.in.Write(in); ; {
		n, err := ch.tls.Read(w.plain)
		switch {
		case err == errNothing:
			return done, true
		case errors.Is(err, io.EOF) && done > 0 && c.last:
			return done, true // the socket's end is still to come
		case errors.Is(err, io.EOF):
			w.closed(c)
			return done, false
		case err != nil:
			w.broke(c, fmt.Sprintf("TLS broke, %d requests in flight: %v", c.inFlight, err))
			return done, false
		}
		read := w.answers
		if ch.session != nil {
			read = w.places
		}
		n, ok = read(c, w.plain[:n], now)
		if done += n; !ok || c.last {
			return done, ok
		}
	}
}

// places counts the answers of a session.
func (w *thread) places(c *connection, in []byte, now int64) (done int, ok bool) {
	l, s := c.lane, c.channel.session
	for s.Take(in); ; done++ {
		a, err := s.Next()
		switch {
		case errors.Is(err, ErrEnded):
			w.broke(c, fmt.Sprintf("%v, %d requests in flight", err, c.inFlight))
			return done, false
		case err != nil:
			w.malformed(c, err)
			return done, false
		case a == nil:
			return done, true
		case a.Again:
			c.kept++
			continue
		}
		f := c.land(a.Place)
		if a.Err != nil {
			l.sum.Errors++
			l.fault(now, f.kind, a.Err.Error())
			w.lost(l, f)
			continue
		}
		w.took(c, f, now, a)
	}
}
