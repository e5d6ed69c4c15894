package main

import (
	"encoding/binary"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A ticker ticks as time.Ticker does: ticks that come while nothing waits are lost,
// except one. It is a timer of the kernel, with a descriptor that Go's network poller
// waits for. Go's own ticker waits in epoll for whole milliseconds when a process has
// nothing else to do: in an idle process, one of 2000 ticks a second was seen to deliver
// 905. That loss would look like the variant's.
type ticker struct {
	file *os.File

	mu      sync.Mutex
	fd      int // -1 once it is stopped
	period  time.Duration
	since   time.Time // when the period was set
	expired int64     // ticks since then that were read, lost ones included
}

func newTicker(period time.Duration) (*ticker, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	t := &ticker{file: os.NewFile(uintptr(fd), "ticker"), fd: fd}
	return t, t.reset(period)
}

// reset changes the period from now on.
func (t *ticker) reset(period time.Duration) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fd < 0 {
		return nil
	}
	each := unix.NsecToTimespec(int64(period))
	t.period, t.since, t.expired = period, time.Now(), 0
	return os.NewSyscallError("timerfd_settime",
		unix.TimerfdSettime(t.fd, 0, &unix.ItimerSpec{Interval: each, Value: each}, nil))
}

// wait waits for a tick and returns its time, or false once the ticker is stopped.
func (t *ticker) wait() (at time.Time, ok bool) {
	var count [8]byte
	if _, err := t.file.Read(count[:]); err != nil {
		return at, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	at = t.since.Add(time.Duration(t.expired+1) * t.period)
	t.expired += int64(binary.NativeEndian.Uint64(count[:]))
	return at, true
}

func (t *ticker) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fd = -1
	t.file.Close()
}
