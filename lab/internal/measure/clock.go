package measure

import (
	"time"

	"golang.org/x/sys/unix"
)

// A Clock gives the wall clock's time at the start of the run plus the
// monotonic time since. If the wall clock is set back during the run, trials
// still follow one another in time.
type Clock struct {
	began time.Time
	mono  int64 // CLOCK_MONOTONIC at that time, in ns, which the load generators go by
}

// NewClock is the clock of a run that begins now.
func NewClock() Clock {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // never fails
	return Clock{time.Now(), t.Nano()}
}

// Now is the time.
func (c Clock) Now() time.Time { return c.began.Add(time.Since(c.began)).UTC() }

// At converts a reading of the monotonic clock, in ns. The load generators
// print such readings: all processes of a machine share the clock.
func (c Clock) At(ns int64) time.Time { return c.began.Add(time.Duration(ns - c.mono)) }

// Since is the time of such a reading in seconds since the run began.
func (c Clock) Since(ns int64) float64 { return float64(ns-c.mono) / 1e9 }
