//go:build !linux

package shaper

import (
	"errors"
)

// A Queue needs Linux; the lab does not measure elsewhere.
type Queue struct{}

// Open fails here.
func Open(string) (*Queue, error) { return nil, errors.New("queues are read on Linux only") }

// Close does nothing here.
func (*Queue) Close() {}

// Read fails here.
func (*Queue) Read() (Reading, error) {
	return Reading{}, errors.New("queues are read on Linux only")
}
