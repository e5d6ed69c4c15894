package telemetry

import (
	"syscall"
	"time"
	"unsafe"
)

// uptime is the time since boot, the clock by which the kernel gives a
// process's start.
func uptime() time.Duration {
	const boottime = 7
	var t syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, boottime, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		return 0
	}
	return time.Duration(t.Nano())
}
