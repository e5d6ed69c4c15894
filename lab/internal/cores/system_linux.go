package cores

import (
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Allowed lists the CPUs that this process may run on; a container or taskset may have narrowed them.
func Allowed() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, err
	}
	var cpus []int
	for cpu := 0; len(cpus) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// TimeLoop runs the calibration loop on the first of the given CPUs, or anywhere if none is given, and returns
// the time of one pair of calls in the fastest pass.
func TimeLoop(cpus []int) (perCall time.Duration, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		// Never unlocked: the thread, and its binding to a CPU, ends with this goroutine.
		runtime.LockOSThread()
		if len(cpus) > 0 {
			var set unix.CPUSet
			set.Set(cpus[0])
			if err = unix.SchedSetaffinity(0, &set); err != nil {
				err = fmt.Errorf("cannot run on CPU %d: %w", cpus[0], err)
				return
			}
		}
		perCall, err = fastest()
	}()
	<-done
	return perCall, err
}

func fastest() (best time.Duration, err error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("socketpair: %w", err)
	}
	defer unix.Close(ends[0])
	defer unix.Close(ends[1])
	var buf [size]byte
	for i := range passes {
		start := time.Now()
		for range pairs {
			if n, err := unix.Write(ends[0], buf[:]); n != size {
				return 0, fmt.Errorf("the loop wrote %d of %d bytes (%v)", n, size, err)
			}
			if n, err := unix.Read(ends[1], buf[:]); n != size {
				return 0, fmt.Errorf("the loop read %d of %d bytes (%v)", n, size, err)
			}
		}
		if took := time.Since(start); i == 0 || took < best {
			best = took
		}
	}
	return best / pairs, nil
}
