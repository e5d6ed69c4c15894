//go:build !linux

package queue

import (
	"errors"

	"github.com/line-rate/line-rate/lab/internal/shaper"
)

// A Queue needs Linux; the lab does not measure elsewhere.
type Queue struct{}

// Open fails here.
func Open(string) (*Queue, error) { return nil, errors.New("queues are read on Linux only") }

// Close does nothing here.
func (*Queue) Close() {}

// Read fails here.
func (*Queue) Read() (shaper.Reading, error) {
	return shaper.Reading{}, errors.New("queues are read on Linux only")
}
