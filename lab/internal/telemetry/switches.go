package telemetry

import "github.com/prometheus/procfs"

// Switches are the context switches of threads so far, by the threads' ids: first those with
// which a thread went to sleep, then those that took it off its core.
type Switches map[int][2]int64

// SwitchesOf reads all threads of some processes. A thread that has ended takes its counts
// with it: no other place of the kernel's has them.
func SwitchesOf(pids []int) Switches {
	out := Switches{}
	for _, pid := range pids {
		threads, _ := procfs.AllThreads(pid)
		for _, t := range threads {
			if of, err := t.NewStatus(); err == nil {
				out[t.PID] = [2]int64{int64(of.VoluntaryCtxtSwitches), int64(of.NonVoluntaryCtxtSwitches)}
			}
		}
	}
	return out
}

// Since adds up the switches since an earlier moment, and says how many threads have begun and
// ended since then. Of those that did both nothing is seen.
func (s Switches) Since(before Switches) (switches [2]int64, begun, ended int) {
	for tid, now := range s {
		was, known := before[tid]
		if !known {
			begun++
		}
		switches[0], switches[1] = switches[0]+now[0]-was[0], switches[1]+now[1]-was[1]
	}
	return switches, begun, len(before) - (len(s) - begun)
}

// Forks is how many threads and processes this machine has started since it was booted; 0 if
// the kernel does not tell.
func Forks() int64 {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0
	}
	stat, _ := fs.Stat()
	return int64(stat.ProcessCreated)
}
