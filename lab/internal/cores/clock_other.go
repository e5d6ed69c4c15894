//go:build !linux

package cores

import "time"

// ProcessTime always fails on this system.
func ProcessTime(int) (time.Duration, bool) { return 0, false }
