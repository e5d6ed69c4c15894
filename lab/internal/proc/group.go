package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// GroupTime is the CPU time that a control group has used, as a file of it tells: cpu.stat of version
// 2, in microseconds, or cpuacct.usage of version 1, in nanoseconds.
func GroupTime(file string) (time.Duration, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	number, unit := strings.TrimSpace(string(text)), time.Nanosecond
	if rest, ok := strings.CutPrefix(number, "usage_usec "); ok {
		number, _, _ = strings.Cut(rest, "\n")
		unit = time.Microsecond
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: no CPU time: %w", file, err)
	}
	return time.Duration(n) * unit, nil
}
