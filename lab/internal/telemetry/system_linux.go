package telemetry

import (
	"fmt"
	"syscall"
	"time"
	"unsafe"
)

// slurp reads a small file of /proc in one go, into a buffer large enough for
// all of it. This takes half the system calls of os.ReadFile, which asks for a
// size that /proc does not know, registers the file for polling, and reads
// until the end. The calls are raw: the kernel answers them at once, so Go's
// scheduler need not hand over the core and wake threads beside a busy server.
func slurp(path string, buf []byte) ([]byte, error) {
	name, err := syscall.BytePtrFromString(path)
	if err != nil {
		return nil, err
	}
	const here = -0x64 // AT_FDCWD
	at := here
	fd, _, errno := syscall.RawSyscall6(syscall.SYS_OPENAT, uintptr(at), uintptr(unsafe.Pointer(name)),
		syscall.O_RDONLY|syscall.O_CLOEXEC, 0, 0, 0)
	if errno != 0 {
		return nil, fmt.Errorf("%s: %w", path, errno)
	}
	n, _, errno := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)))
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOSE, fd, 0, 0)
	if errno != 0 {
		return nil, fmt.Errorf("%s: %w", path, errno)
	}
	if n == 0 || int(n) == len(buf) {
		return nil, fmt.Errorf("%s: %d bytes, which are not all or none", path, n)
	}
	return buf[:n], nil
}

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
