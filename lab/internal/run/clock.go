package run

import (
	"time"

	"golang.org/x/sys/unix"
)

// A clock shows the wall clock's time as it was when the run began, moved on by
// the monotonic clock: one that is set back in mid-run must not put trials before
// those that they came after.
type clock struct {
	began time.Time
	mono  int64 // the monotonic clock at that time, in ns
}

func newClock() clock {
	var t unix.Timespec
	before := time.Now()
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // never fails on Linux
	return clock{before, t.Nano()}
}

func (c clock) now() time.Time { return c.began.Add(time.Since(c.began)).UTC() }

// at is the time of a reading of the monotonic clock, which a load generator
// prints: all processes of one machine share it.
func (c clock) at(ns int64) time.Time { return c.began.Add(time.Duration(ns - c.mono)) }

// since is the time of such a reading since the run began, in seconds.
func (c clock) since(ns int64) float64 { return float64(ns-c.mono) / 1e9 }
