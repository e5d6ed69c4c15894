//go:build !linux

package speed

import (
	"errors"
	"time"
)

// Loop needs Linux to bind a thread; the lab does not measure elsewhere.
func Loop([]int) (time.Duration, error) {
	return 0, errors.New("only Linux can bind a thread to a core")
}
