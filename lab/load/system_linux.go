package main

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// raw makes a call that cannot block, since the sockets are non-blocking,
// without telling Go's scheduler, which takes part of every call that might.
// What is for sockets alone costs the kernel a little less than read and write.
func raw(call uintptr, fd int32, p []byte, flags uintptr) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall6(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), flags, 0, 0)
	return int(n), errno
}

func receive(fd int32, p []byte) (int, syscall.Errno) { return raw(unix.SYS_RECVFROM, fd, p, 0) }
func transmit(fd int32, p []byte) (int, syscall.Errno) {
	return raw(unix.SYS_SENDTO, fd, p, unix.MSG_NOSIGNAL)
}

// A poller waits for events of one thread's connections. They are told once,
// when something has changed: the kernel need not look at a connection again
// that has been read to its end.
type poller struct {
	fd     int32
	timer  int32
	armed  int64 // when the timer is to go off; 0: it is not set
	coarse bool  // a kernel older than 5.11, whose epoll knows only milliseconds
	events []unix.EpollEvent
}

// atOnce is how many events are taken at once. Each is handled with a clock
// reading of its own.
const atOnce = 128

// timerIndex marks the event that the poller's own timer is.
const timerIndex = -2

func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	timer, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	p := &poller{fd: int32(fd), timer: int32(timer), events: make([]unix.EpollEvent, atOnce)}
	return p, p.watch(p.timer, timerIndex, 0)
}

func (p *poller) close() {
	unix.Close(int(p.timer))
	unix.Close(int(p.fd))
}

func (p *poller) watch(fd, index, generation int32) error {
	e := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&(1<<32-1), Fd: index, Pad: generation}
	return unix.EpollCtl(int(p.fd), unix.EPOLL_CTL_ADD, int(fd), &e)
}

// The waits are raw calls. Go's scheduler sees a thread that is busy, and lets
// it be; told of each wait, it looks after the thread a thousand times a second,
// which on a small machine is a tenth of a core. The price is that nothing else
// of Go's can stop the world for as long as a wait lasts, which is a tick.

// waitUntil waits for events or for a time, both rarely the timer: setting a
// timer for each wait costs as much as the wait. Where there are none it first
// sleeps for nap nanoseconds, in which no event wakes it.
func (p *poller) waitUntil(at, nap int64) ([]unix.EpollEvent, error) {
	if at != p.armed {
		p.armed = at
		when := unix.ItimerSpec{Value: unix.NsecToTimespec(max(at, 1))}
		if err := unix.TimerfdSettime(int(p.timer), unix.TFD_TIMER_ABSTIME, &when, nil); err != nil {
			return nil, err
		}
	}
	if nap > 0 {
		if events, err := p.poll(0); len(events) > 0 || err != nil {
			return events, err
		}
		t := unix.NsecToTimespec(nap)
		// One that is cut short by a signal was long enough.
		_, _, _ = unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, uintptr(unsafe.Pointer(&t)), 0, 0, 0)
	}
	const forEver = -1
	return p.poll(forEver)
}

// poll waits for events for so many milliseconds.
func (p *poller) poll(ms int) ([]unix.EpollEvent, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd), uintptr(unsafe.Pointer(&p.events[0])), atOnce, uintptr(ms), 0, 0)
	return p.came(n, errno)
}

// waitFor waits for events for at most so many nanoseconds.
func (p *poller) waitFor(ns int64) ([]unix.EpollEvent, error) {
	limit := unix.NsecToTimespec(max(ns, 0))
	if !p.coarse {
		n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.fd), uintptr(unsafe.Pointer(&p.events[0])), atOnce, uintptr(unsafe.Pointer(&limit)), 0, 0)
		if errno != unix.ENOSYS && errno != unix.EPERM { // which a sandbox may say of a call that it does not know
			return p.came(n, errno)
		}
		p.coarse = true
	}
	// ppoll knows nanoseconds on any kernel.
	set := [1]unix.PollFd{{Fd: p.fd, Events: unix.POLLIN}}
	if _, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&set[0])), 1, uintptr(unsafe.Pointer(&limit)), 0, 0, 0); errno != 0 {
		return p.came(0, errno)
	}
	return p.poll(0)
}

func (p *poller) came(n uintptr, errno syscall.Errno) ([]unix.EpollEvent, error) {
	switch errno {
	case 0:
		return p.events[:n], nil
	case unix.EINTR:
		return nil, nil
	}
	return nil, errno
}

// A clock is CLOCK_MONOTONIC in nanoseconds, read without a system call.
type clock struct {
	origin time.Time
	at     int64
}

func newClock() clock {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // it is always there
	return clock{time.Now(), t.Nano()}
}

func (c clock) now() int64 { return c.at + int64(time.Since(c.origin)) }
