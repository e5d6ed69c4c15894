//go:build !linux

package cores

import "time"

// ProcessTime reads nothing here.
func ProcessTime(int) (time.Duration, bool) { return 0, false }

// ThreadTime reads nothing here.
func ThreadTime(int) (time.Duration, bool) { return 0, false }
