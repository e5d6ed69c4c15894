package main

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls that every request makes are raw: Go's scheduler is not told of them. Telling
// it is for calls that may block, which these cannot, since sockets are non-blocking; it
// was a tenth of what a request costs.

func read(fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))),
		uintptr(len(p)))
	return int(n), errno
}

func write(fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))),
		uintptr(len(p)))
	return int(n), errno
}

// writev writes pieces in order. vector is memory for it.
func writev(fd int, pieces [][]byte, vector []unix.Iovec) (int, syscall.Errno) {
	vector = vector[:0]
	for _, p := range pieces {
		v := unix.Iovec{Base: unsafe.SliceData(p)}
		v.SetLen(len(p))
		vector = append(vector, v)
	}
	n, _, errno := unix.RawSyscall(unix.SYS_WRITEV, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(vector))),
		uintptr(len(vector)))
	return int(n), errno
}

// wait waits for events for at most so many milliseconds. Here too the scheduler is not
// told: if it were, it would look after the thread a thousand times a second whenever work
// comes after a pause, which made requests dearer by some hundredths in turns of 50 ms. So
// the thread keeps its right to run Go code while it waits. Every ten or twenty
// milliseconds a signal of Go's ends the wait and makes it offer that to other goroutines.
func wait(epoll int, events []unix.EpollEvent, ms int) ([]unix.EpollEvent, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll),
		uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), uintptr(ms), 0, 0)
	switch errno {
	case 0:
		return events[:n], nil
	case unix.EINTR:
		return nil, nil
	}
	return nil, errno
}

// everything is what a connection is watched for. Edges are enough, since a connection is
// read until its socket is empty, and they spare the kernel a second look at each.
const everything = unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&(1<<32-1)

func watch(epoll, fd int, events uint32) error {
	return unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}
