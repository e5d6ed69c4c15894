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

// threadCPU is the CPU time of the calling thread.
func threadCPU() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	return cpuOf(thread)
}

// ownCPU is the CPU time of the lab. While a trial runs, all of it is the cost
// of sampling.
func ownCPU() time.Duration { return cpuOf(syscall.RUSAGE_SELF) }

func cpuOf(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
