package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/floor/request"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

const (
	// inputSize is how much is read at once.
	inputSize = 64 << 10
	// atOnce is how many connections one wait returns.
	atOnce = 256
	// longestWait bounds a wait, during which Go cannot stop the world if its signal is lost.
	longestWait = time.Second
	// mostReads is how often one connection is read before it is another's turn.
	mostReads = 8
)

// The times of a stop, as in the Fiber server: for a while, answers say that the
// connection closes, so that clients which have sent a request lose none; then connections
// without a request are closed; then the others.
const (
	farewellTime = 300 * time.Millisecond
	drainTime    = 1800 * time.Millisecond
	leavingTick  = 5 * time.Millisecond
	// lingerTime is how long a connection is read after its last answer. If it were closed
	// with something unread, the kernel would reset it, and the client could lose the answer.
	lingerTime = time.Second
)

// A loop is one thread and its connections.
type loop struct {
	*writer
	reader   request.Reader
	limits   request.Limits
	times    times
	epoll    int
	listener int // -1 when it is closed
	file     *os.File
	wake     int // readable when the loop is to stop

	conns  []*conn // by descriptor
	open   int
	again  []*conn // that have more to do, though no event will say so
	resume []*conn // again, of the turn before
	events []unix.EpollEvent
	vector []unix.Iovec
	in     []byte

	origin  time.Time
	now     time.Duration // since origin, read once for each wait
	redate  time.Duration // when the date changes
	tick    time.Duration // between two looks at what takes too long
	sweep   time.Duration // when the next is due
	crowded bool          // there are no descriptors left, so the listener is not watched
	leaving bool
	left    time.Duration // when the stop began
}

func newLoop(s settings, ln *net.TCPListener, wake int, pool *catalog.Pool) (l *loop, err error) {
	l = &loop{
		writer: newWriter(pool), reader: request.Reader{Limits: s.limits}, limits: s.limits, times: s.times,
		epoll: -1, wake: wake, origin: time.Now(),
		events: make([]unix.EpollEvent, atOnce), vector: make([]unix.Iovec, 0, mostPieces), in: make([]byte, inputSize),
	}
	// So what takes too long is ended up to a quarter of the shortest time too late. More
	// looks would cost a server that has nothing to do.
	l.tick = min(s.times.idle, s.times.head, s.times.body, s.times.write) / 4
	// A copy of the descriptor, so that Go's own loop does not watch it.
	l.file, err = ln.File()
	if err = errors.Join(err, ln.Close()); err != nil {
		return nil, err
	}
	l.listener = int(l.file.Fd())
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if err = unix.SetNonblock(l.listener, true); err != nil {
		return nil, err
	}
	// Accepted connections have it from the listener.
	if err = unix.SetsockoptInt(l.listener, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return nil, err
	}
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, err
	}
	if err = watch(l.epoll, wake, unix.EPOLLIN); err != nil {
		return nil, err
	}
	return l, watch(l.epoll, l.listener, unix.EPOLLIN)
}

// run serves until it is stopped and everything under way is answered, or something fails.
func (l *loop) run() error {
	defer l.close()
	for {
		events, err := wait(l.epoll, l.events, l.patience())
		if err != nil {
			return fmt.Errorf("epoll: %w", err)
		}
		l.look()
		for i := range events {
			switch fd := int(events[i].Fd); fd {
			case l.listener:
				if err := l.accept(); err != nil {
					return err
				}
			case l.wake:
				if err := l.leave(); err != nil {
					return err
				}
			default:
				if fd < len(l.conns) && l.conns[fd] != nil {
					l.turn(l.conns[fd], events[i].Events)
				}
			}
		}
		if len(l.again) > 0 {
			l.again, l.resume = l.resume[:0], l.again
			for _, c := range l.resume {
				if c.fd >= 0 {
					l.turn(c, unix.EPOLLIN)
				}
			}
		}
		if l.now >= l.sweep {
			l.expire()
			if l.leaving && (l.open == 0 || l.now-l.left > farewellTime+drainTime) {
				return nil
			}
		}
	}
}

// patience is how long to wait for events, in milliseconds.
func (l *loop) patience() int {
	if len(l.again) > 0 {
		return 0
	}
	return int(min(max(l.sweep-l.now, 0), longestWait)/time.Millisecond) + 1
}

// look reads the clock, and writes the date anew when its second is over.
func (l *loop) look() {
	l.now = time.Since(l.origin)
	if l.now < l.redate {
		return
	}
	now := time.Now()
	l.setDate(now)
	l.redate = l.now + time.Second - time.Duration(now.Nanosecond())
}

// accept takes the connections that wait.
func (l *loop) accept() error {
	for {
		fd, _, err := unix.Accept4(l.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return nil
		case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE), errors.Is(err, unix.ENOBUFS),
			errors.Is(err, unix.ENOMEM):
			// The listener stays ready, so it would be all that the loop does.
			l.crowded = true
			return unix.EpollCtl(l.epoll, unix.EPOLL_CTL_DEL, l.listener, nil)
		case errors.Is(err, unix.EBADF), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOTSOCK):
			return fmt.Errorf("accept: %w", err)
		case err != nil:
			continue // the connection's own error
		}
		if err := watch(l.epoll, fd, everything); err != nil {
			_ = unix.Close(fd)
			return fmt.Errorf("epoll: %w", err)
		}
		for len(l.conns) <= fd {
			l.conns = append(l.conns, nil)
		}
		l.conns[fd] = &conn{fd: fd, since: l.now}
		l.open++
	}
}

// leave begins the stop. Connections that the kernel has completed are taken first: it
// would reset them.
func (l *loop) leave() error {
	err := errors.Join(unix.EpollCtl(l.epoll, unix.EPOLL_CTL_DEL, l.wake, nil), l.accept(), l.file.Close())
	l.listener, l.leaving, l.left, l.crowded = -1, true, l.now, false
	l.tick, l.sweep = leavingTick, l.now
	return err
}

// expire ends what has taken too long.
func (l *loop) expire() {
	l.sweep = l.now + l.tick
	if l.crowded {
		l.crowded = watch(l.epoll, l.listener, unix.EPOLLIN) != nil
	}
	for _, c := range l.conns {
		if c == nil {
			continue
		}
		late := l.now - c.since
		switch c.phase {
		case idle:
			if l.leaving && l.now-l.left > farewellTime {
				l.turn(c, unix.EPOLLIN) // a request may have come meanwhile
				if c.fd >= 0 && c.phase == idle {
					l.drop(c)
				}
			} else if late > l.times.idle {
				l.drop(c)
			}
		case inHead:
			if late > l.times.head {
				l.timeOut(c)
			}
		case inBody:
			if late > l.times.body {
				l.timeOut(c)
			}
		case writing:
			if late > l.times.write {
				l.drop(c)
			}
		case lingering:
			if late > lingerTime {
				l.drop(c)
			}
		}
	}
}

// drop closes a connection.
func (l *loop) drop(c *conn) {
	_ = unix.Close(c.fd)
	l.conns[c.fd] = nil
	c.fd = -1
	l.open--
}

func (l *loop) close() {
	for _, c := range l.conns {
		if c != nil {
			l.drop(c)
		}
	}
	if l.epoll >= 0 {
		_ = unix.Close(l.epoll)
	}
	_ = l.file.Close() // closed already after a stop
}
