package run

import (
	"time"

	"golang.org/x/sys/unix"
)

// A clock gives the wall clock's time at the start of the run plus the
// monotonic time since. If the wall clock is set back during the run, trials
// still follow one another in time.
type clock struct {
	began time.Time
	mono  int64 // the monotonic clock at that time, in ns
}

// monotonic is CLOCK_MONOTONIC in ns, which the load generators go by.
func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // never fails
	return t.Nano()
}

func newClock() clock { return clock{time.Now(), monotonic()} }

func (c clock) now() time.Time { return c.began.Add(time.Since(c.began)).UTC() }

// passed is the time since the run began.
func (c clock) passed() time.Duration { return c.now().Sub(c.began) }

// at converts a reading of the monotonic clock, in ns. The load generators
// print such readings: all processes of a machine share the clock.
func (c clock) at(ns int64) time.Time { return c.began.Add(time.Duration(ns - c.mono)) }

// since is the time of such a reading in seconds since the run began.
func (c clock) since(ns int64) float64 { return float64(ns-c.mono) / 1e9 }
