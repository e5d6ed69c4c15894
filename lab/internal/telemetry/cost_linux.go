package telemetry

import (
	"syscall"
	"time"
)

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
