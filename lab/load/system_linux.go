package load

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// raw makes a system call without telling Go's scheduler, which does extra work for every
// call that might block. This one cannot, since the sockets are non-blocking. Calls for
// sockets only cost the kernel a little less than read and write.
func raw(call uintptr, fd int32, p []byte, flags uintptr) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall6(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)),
		flags, 0, 0)
	return int(n), errno
}

func receive(fd int32, p []byte) (int, syscall.Errno) { return raw(unix.SYS_RECVFROM, fd, p, 0) }
func transmit(fd int32, p []byte) (int, syscall.Errno) {
	return raw(unix.SYS_SENDTO, fd, p, unix.MSG_NOSIGNAL)
}

// A poller waits for events on one thread's connections. Events are edge-triggered: the
// kernel need not look again at a connection that has been read to its end.
type poller struct {
	fd     int32
	timer  int32
	armed  int64 // when the timer goes off; 0: it is not set
	coarse bool  // a kernel older than 5.11, whose epoll knows only milliseconds: its timer waits
	events []unix.EpollEvent
}

// atOnce is how many events are taken at once. Each has its own reading of the clock.
const atOnce = 128

// timerIndex marks the event of the poller's own timer.
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
	return p.control(unix.EPOLL_CTL_ADD, fd, index, generation)
}

// again reports what a connection still has to read once more, after the others' events.
func (p *poller) again(fd, index, generation int32) {
	_ = p.control(unix.EPOLL_CTL_MOD, fd, index, generation)
}

func (p *poller) control(what int, fd, index, generation int32) error {
	e := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&(1<<32-1), Fd: index,
		Pad: generation}
	return unix.EpollCtl(int(p.fd), what, int(fd), &e)
}

// The waits are raw calls, so Go's scheduler sees a thread that is busy and leaves it
// alone. If it knew of each wait, it would check the thread a thousand times a second,
// which takes a tenth of a core on a small machine. The price: Go cannot stop the world
// during a wait, which lasts for a tick at most.

// waitUntil waits for events or until a time. It seldom sets the timer, because setting
// one for each wait would cost as much as the wait. If there are no events it first
// sleeps for nap nanoseconds, during which no event wakes it.
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
		// A sleep that a signal cuts short was long enough.
		_, _, _ = unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, uintptr(unsafe.Pointer(&t)), 0, 0, 0)
	}
	const forEver = -1
	return p.poll(forEver)
}

// poll waits for events for so many milliseconds.
func (p *poller) poll(ms int) ([]unix.EpollEvent, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd), uintptr(unsafe.Pointer(&p.events[0])), atOnce,
		uintptr(ms), 0, 0)
	return p.came(n, errno)
}

// waitFor waits for events or until a time, exactly; it is now.
func (p *poller) waitFor(at, now int64) ([]unix.EpollEvent, error) {
	if p.coarse {
		return p.waitUntil(at, 0)
	}
	limit := unix.NsecToTimespec(max(at-now, 0))
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.fd), uintptr(unsafe.Pointer(&p.events[0])), atOnce,
		uintptr(unsafe.Pointer(&limit)), 0, 0)
	if errno == unix.ENOSYS || errno == unix.EPERM { // EPERM: a sandbox may answer this for a call that it does not know
		p.coarse = true
		return p.waitUntil(at, 0)
	}
	return p.came(n, errno)
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
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // this clock always exists
	return clock{time.Now(), t.Nano()}
}

func (c clock) now() int64 { return c.at + int64(time.Since(c.origin)) }

// Bits of the number of a CPU clock, as in the kernel's posix-timers.h.
const (
	byScheduler = 2
	ofThread    = 4
)

// processTime is the CPU time of this process in nanoseconds.
func processTime() int64 { return cpuTime(unix.CLOCK_PROCESS_CPUTIME_ID) }

// threadTime is that of one of its threads.
func threadTime(tid int) int64 { return cpuTime(int32(^tid<<3 | ofThread | byScheduler)) }

func cpuTime(clock int32) int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(clock, &t) // of a process or a thread that is there
	return t.Nano()
}
