package cores

import (
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/procfs"
)

var epoch = time.Now()

// RunTime is for how long something ran on some cores, but for a constant. Less the CPU time of known
// processes it is that of strangers. It is exact where the kernel keeps the scheduler's statistics, and
// else to a tick of a hundredth of a second. ok is false where the kernel tells neither.
func RunTime(cpus []int) (all time.Duration, ok bool) {
	fs, _ := procfs.NewDefaultFS()
	if scheduler, err := fs.Schedstat(); err == nil {
		seen := 0
		for _, c := range scheduler.CPUs {
			if cpu, err := strconv.Atoi(c.CPUNum); err == nil && slices.Contains(cpus, cpu) {
				all, seen = all+time.Duration(c.RunningNanoseconds), seen+1
			}
		}
		return all, seen > 0 && seen == len(cpus)
	}
	stat, err := fs.Stat()
	all = time.Since(epoch) * time.Duration(len(cpus))
	for _, cpu := range cpus {
		c, seen := stat.CPU[int64(cpu)]
		if err != nil || !seen {
			return 0, false
		}
		all -= time.Duration((c.Idle + c.Iowait) * float64(time.Second))
	}
	return all, len(cpus) > 0
}
