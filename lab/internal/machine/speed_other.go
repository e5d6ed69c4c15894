//go:build !linux

package machine

import (
	"errors"
	"time"
)

// The lab does not measure on this system.

// Allowed knows nothing here.
func Allowed() ([]int, error) { return nil, nil }

// TimeLoop needs Linux to bind a thread.
func TimeLoop([]int) (time.Duration, error) {
	return 0, errors.New("only Linux can bind a thread to a core")
}
