package run

import (
	"math"
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

func newClock() clock {
	before := time.Now()
	return clock{before, monotonic()}
}

func (c clock) now() time.Time { return c.began.Add(time.Since(c.began)).UTC() }

// at converts a reading of the monotonic clock, in ns. The load generators
// print such readings: all processes of a machine share the clock.
func (c clock) at(ns int64) time.Time { return c.began.Add(time.Duration(ns - c.mono)) }

// since is the time of such a reading in seconds since the run began.
func (c clock) since(ns int64) float64 { return float64(ns-c.mono) / 1e9 }

// monotonic is the monotonic clock's reading now, in ns.
func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // never fails on Linux
	return t.Nano()
}

// wallAhead is by how many ns this host's wall clock is ahead of its monotonic
// clock. Of a few readings the one that was interrupted least counts.
func wallAhead() (ns int64) {
	least := int64(math.MaxInt64)
	for range 9 {
		before := monotonic()
		wall := time.Now().UnixNano()
		if took := monotonic() - before; took < least {
			least, ns = took, wall-before-took/2
		}
	}
	return ns
}
