//go:build !linux

package main

import (
	"errors"
	"time"
)

// A ticker is Linux's: Go's own loses ticks in an idle process, which would look like the variant's loss.
type ticker struct{}

func newTicker(time.Duration) (*ticker, error) {
	return nil, errors.New("--pacing ticker needs Linux; use open")
}

func (*ticker) wait() (at time.Time, ok bool) { return }
func (*ticker) Close() error                  { return nil }
