package main

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxHead is the most that is read at once, and so the longest head. It also bounds the
// answers that wait to be written to a connection: no more is read from it until it has
// taken them.
const maxHead = 16 << 10

// A conn is one connection between two events.
type conn struct {
	rest []byte // of a request whose end is not read yet
	owed []byte // of answers that the socket has not taken yet
}

// A loop is all that its one thread uses.
type loop struct {
	*answers
	epoll    int
	listener int
	conns    map[int]*conn
	in, out  []byte // used for one connection after the other
}

// serve answers ln's connections until something fails.
func serve(ln *net.TCPListener, a *answers) error {
	runtime.LockOSThread()
	// A copy of the descriptor, so that Go's own loop does not watch it.
	file, err := ln.File()
	if err != nil {
		return err
	}
	defer file.Close()
	l := &loop{answers: a, listener: int(file.Fd()), conns: map[int]*conn{}, in: make([]byte, maxHead)}
	if err := unix.SetNonblock(l.listener, true); err != nil {
		return err
	}
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	if err := l.watch(unix.EPOLL_CTL_ADD, l.listener, unix.EPOLLIN); err != nil {
		return err
	}
	events := make([]unix.EpollEvent, 256)
	for {
		n, err := unix.EpollWait(l.epoll, events, -1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("epoll: %w", err)
		}
		for _, e := range events[:max(n, 0)] {
			if fd := int(e.Fd); fd == l.listener {
				if err := l.accept(); err != nil {
					return err
				}
			} else if !l.turn(fd, l.conns[fd]) {
				delete(l.conns, fd)
				unix.Close(fd)
			}
		}
	}
}

func (l *loop) watch(op, fd int, events uint32) error {
	return unix.EpollCtl(l.epoll, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

func (l *loop) accept() error {
	for {
		fd, _, err := unix.Accept4(l.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return nil
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.ECONNABORTED):
			continue
		case err != nil:
			return fmt.Errorf("accept: %w", err)
		}
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		if err := l.watch(unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN); err != nil {
			return fmt.Errorf("epoll: %w", err)
		}
		l.conns[fd] = &conn{}
	}
}

// turn does what a connection is ready for, and reports whether it stays open.
func (l *loop) turn(fd int, c *conn) bool {
	if len(c.owed) > 0 {
		n, err := write(fd, c.owed)
		if err != nil {
			return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR)
		}
		if c.owed = c.owed[n:]; len(c.owed) > 0 {
			return true
		}
		c.owed = nil
		return l.watch(unix.EPOLL_CTL_MOD, fd, unix.EPOLLIN) == nil
	}
	kept := copy(l.in, c.rest)
	n, err := read(fd, l.in[kept:])
	if err != nil {
		return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR)
	}
	if n == 0 {
		return false
	}
	out, rest := l.reply(l.out[:0], l.in[:kept+n])
	l.out = out
	if len(rest) == maxHead {
		return false // a head that is too long
	}
	c.rest = append(c.rest[:0], rest...)
	if len(out) == 0 {
		return true
	}
	n, err = write(fd, out)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
		n, err = 0, nil
	}
	if err != nil {
		return false
	}
	if n < len(out) {
		c.owed = append([]byte(nil), out[n:]...)
		return l.watch(unix.EPOLL_CTL_MOD, fd, unix.EPOLLOUT) == nil
	}
	return true
}

// raw makes a system call without telling Go's scheduler, which does extra work for every
// call that might block. This one cannot, since the sockets are non-blocking. That extra
// work was a tenth of what a request costs.
func raw(call uintptr, fd int, p []byte) (int, error) {
	n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

func read(fd int, p []byte) (int, error)  { return raw(unix.SYS_READ, fd, p) }
func write(fd int, p []byte) (int, error) { return raw(unix.SYS_WRITE, fd, p) }
