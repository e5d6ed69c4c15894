// Package speed measures how fast a core is, by a fixed loop of socket calls.
//
// A core shared with another program or virtual machine changes its speed for
// minutes at a time, and nothing in /proc shows it. On one such core this loop
// was seen to take either 1.6 or 2.5 microseconds a pair of calls, which once
// turned a 28 % effect into a 45 % one. So the loop is timed on the server's
// core just before and after each trial, and a rule on its time never looks at
// the trial's result. It makes a server's system calls, because a neighbour on
// the same core slows the kernel's paths by another factor than arithmetic.
//
// It measures one core, before and after a trial but not during it, so a dip
// within a trial goes unseen. Some cores switch between their speeds several
// times a second: such a core counts as fast if it reaches full speed at all,
// and the effect on trials shows in blocks and intervals. A core is compared
// with itself within one block: if a whole block is slow, all of its conditions
// are slowed alike, and their ratios still hold. What the server's CPU use
// means does not hold then, since the neighbour may have filled the core.
package speed

import "time"

// The work of one call of Loop: passes, pairs of calls a pass, and bytes a
// pair, which is a write and a read. A pass takes 2 to 5 ms: long compared with
// the clock's resolution and short compared with a scheduler's slice, so the
// fastest of eight passes was most likely not interrupted.
const (
	passes = 8
	pairs  = 2000
	size   = 64
)

// SlowBy is how many times its reference a loop may take before the core counts
// as slow. It is the geometric middle of the two speeds seen, 1.6 and 2.5
// microseconds: the square root of 2.5/1.6 is 1.25.
const SlowBy = 1.25

// Slow tells whether a core was slower than the reference, its best time in the
// same block or run. A missing time counts as slow.
func Slow(reference, seen time.Duration) bool {
	if reference <= 0 || seen <= 0 {
		return true
	}
	return float64(seen) > SlowBy*float64(reference)
}
