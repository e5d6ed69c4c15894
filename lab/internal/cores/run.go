package cores

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// RunTime is for how long something ran on some cores, but for a constant. Less the CPU time of known
// processes it is that of strangers. It is exact where the kernel keeps the scheduler's statistics, and
// else to a tick of a hundredth of a second. ok is false where the kernel tells neither.
func RunTime(cpus []int) (all time.Duration, ok bool) {
	if text, err := os.ReadFile("/proc/schedstat"); err == nil {
		return runTime(text, cpus, 7, 7, time.Nanosecond) // time for which tasks ran
	}
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, false
	}
	idle, ok := runTime(text, cpus, 4, 5, 10*time.Millisecond) // idle, and waiting for a disk
	return time.Since(epoch)*time.Duration(len(cpus)) - idle, ok
}

var epoch = time.Now()

// runTime sums up some fields of the lines of some cores. The core's name is field 0.
func runTime(text []byte, cpus []int, first, last int, unit time.Duration) (all time.Duration, ok bool) {
	for _, cpu := range cpus {
		_, rest, found := bytes.Cut(text, []byte("\ncpu"+strconv.Itoa(cpu)+" "))
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		fields := bytes.Fields(line)
		if !found || len(fields) < last {
			return 0, false
		}
		for _, field := range fields[first-1 : last] {
			n, err := strconv.ParseInt(string(field), 10, 64)
			if err != nil {
				return 0, false
			}
			all += time.Duration(n) * unit
		}
	}
	return all, len(cpus) > 0
}
