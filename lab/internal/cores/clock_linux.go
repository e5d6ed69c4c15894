package cores

import (
	"syscall"
	"time"
	"unsafe"
)

// The low bits of a clock's number say what it counts, the others give the
// process or thread.
const (
	byScheduler = 2 // CPUCLOCK_SCHED
	ofThread    = 4 // CPUCLOCK_PERTHREAD
)

// ProcessTime is the CPU time of any user's process, including its ended threads.
// An ended process keeps its clock until its parent has waited for it; after
// that ok is false.
func ProcessTime(pid int) (t time.Duration, ok bool) { return readClock(int32(^pid<<3 | byScheduler)) }

// ThreadTime is the CPU time of a thread of the calling process.
func ThreadTime(tid int) (t time.Duration, ok bool) {
	return readClock(int32(^tid<<3 | ofThread | byScheduler))
}

// readClock uses a raw system call: a normal one tells Go's scheduler, which
// costs more than the reading.
func readClock(clock int32) (time.Duration, bool) {
	var t syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, uintptr(clock), uintptr(unsafe.Pointer(&t)),
		0); errno != 0 {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
