package proc

import (
	"fmt"
	"os"
	"time"
)

// GroupTime is the CPU time that a control group has used, as a file of it tells: cpu.stat of version
// 2, in microseconds, or cpuacct.usage of version 1, in nanoseconds.
func GroupTime(file string) (time.Duration, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	var n time.Duration
	if _, err := fmt.Sscanf(string(text), "usage_usec %d", &n); err == nil {
		return n * time.Microsecond, nil
	}
	if _, err := fmt.Sscan(string(text), &n); err != nil {
		return 0, fmt.Errorf("%s: no CPU time: %w", file, err)
	}
	return n, nil
}
