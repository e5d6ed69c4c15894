package cores

import (
	"syscall"
	"time"
	"unsafe"
)

// byScheduler is CPUCLOCK_SCHED: the low bits of a clock's number say what it counts,
// the others give the process.
const byScheduler = 2

// ProcessTime is the CPU time of any user's process, including its ended threads.
// An ended process keeps its clock until its parent has waited for it; after
// that ok is false.
func ProcessTime(pid int) (t time.Duration, ok bool) {
	clock := int32(^pid<<3 | byScheduler)
	var spec syscall.Timespec
	// A normal system call tells Go's scheduler, which costs more than the reading.
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, uintptr(clock), uintptr(unsafe.Pointer(&spec)), 0)
	if errno != 0 {
		return 0, false
	}
	return time.Duration(spec.Nano()), true
}
