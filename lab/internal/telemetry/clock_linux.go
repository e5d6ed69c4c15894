package telemetry

import (
	"syscall"
	"time"
	"unsafe"
)

// processCPU is the CPU time of a process by the kernel's clock for it, whoever
// it belongs to: in nanoseconds, with its threads that have ended. A process
// that has ended has the clock until somebody has waited for it.
func processCPU(pid int) (time.Duration, bool) {
	const byScheduler = 2 // CPUCLOCK_SCHED; the low bits of a clock's number say what it counts, the others whose it is
	clock := int32(^pid<<3 | byScheduler)
	var t syscall.Timespec
	// A raw call, as of slurp, and for the same reason.
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, uintptr(clock), uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}

// uptime is the time since the machine was started, as starts of processes are
// given.
func uptime() time.Duration {
	const boottime = 7
	var t syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, boottime, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		return 0
	}
	return time.Duration(t.Nano())
}
