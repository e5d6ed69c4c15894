package machine

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

// A core that another program or virtual machine shares changes its speed for minutes at a time, and nothing
// in /proc shows it. On one such core the calibration loop took either 1.6 or 2.5 microseconds a pair of
// calls, which once turned a 28 % effect into a 45 % one. So the lab times the loop on the server's core
// just before and after each group of trials. It makes a server's system calls, because a neighbour on the
// same core slows the kernel's paths by another factor than arithmetic. A dip within a trial goes unseen,
// and a group that is slow as a whole is slow for all of its conditions alike.
//
// passes, pairs of calls a pass, and bytes a pair, which is a write and a read. A pass takes 2 to 5 ms: long
// compared with the clock's resolution and short compared with a scheduler's slice, so the fastest of eight
// passes was most likely not interrupted.
const (
	passes = 8
	pairs  = 2000
	size   = 64
)

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
