package run

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hold waits until a time of CLOCK_MONOTONIC without letting go of the thread's
// turn: Go is not told of the system call.
func hold(at int64) {
	t := unix.NsecToTimespec(at)
	for {
		if _, _, errno := syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME,
			uintptr(unsafe.Pointer(&t)), 0, 0, 0); errno != syscall.EINTR {
			return
		}
	}
}

// hasten lets the calling thread have a core before others where the kernel allows
// it: the servers may fill all cores, and what they used is to be read in time.
func hasten() { _ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), -15) }
