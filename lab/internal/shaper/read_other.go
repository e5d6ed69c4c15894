//go:build !linux

package shaper

import (
	"errors"

	"github.com/line-rate/line-rate/lab/load"
)

// Open fails here: the lab does not measure elsewhere.
func Open(string) (load.Queue, error) { return nil, errors.New("queues are read on Linux only") }
