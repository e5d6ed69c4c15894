//go:build !linux

package cores

import (
	"errors"
	"time"
)

// TimeLoop needs Linux to bind a thread; the lab does not measure elsewhere.
func TimeLoop([]int) (time.Duration, error) {
	return 0, errors.New("only Linux can bind a thread to a core")
}

// ProcessTime always fails on this system.
func ProcessTime(int) (time.Duration, bool) { return 0, false }
