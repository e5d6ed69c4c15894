// Package speed tells how fast a core is, by a fixed loop of socket calls.
//
// Its stance: a core that is shared with a neighbour changes its speed under
// you, for minutes at a time, and nothing in /proc says so. The same loop was
// seen bimodal on one such core, at 1.6 and at 2.5 microseconds a pair of
// calls, which once made a 45 % effect of a 28 % one. So the same small amount
// of work is timed on the server's core in the moments before and after each
// trial, and a rule on its time never looks at the trial's result. The calls are
// those of a server, because a neighbour on the same core slows the kernel's
// paths by another factor than arithmetic.
//
// Its limits: it measures one core, and before and after, not during; a dip
// that begins and ends within a trial goes unseen. Some cores flicker between
// their modes several times a second: such a core counts as at full speed if it
// reaches that at all, and what the flicker does to trials is for blocks and
// intervals to show. And it compares a core with itself within one block: all
// conditions of a block that is slow throughout are slowed alike, which leaves
// their ratios standing. It does not leave standing what filled the core.
package speed

import "time"

// The work of one call of Loop: passes of so many pairs of calls, each pair a
// write and a read of so many bytes. A pass takes 2 to 5 ms, long against the
// clock and short against a scheduler's slice, so that the fastest of eight has
// most likely met no interruption.
const (
	passes = 8
	pairs  = 2000
	size   = 64
)

// SlowBy is how many times its reference a loop may take before the core counts
// as slow. It is midway, in ratio, between the two modes seen, 1.6 and 2.5
// microseconds: the square root of 2.5/1.6 is 1.25.
const SlowBy = 1.25

// Slow tells whether a core was slower than the reference: the best time that it
// has shown in the same block, or run. A time that was not measured is no sign of
// speed, and counts as slow.
func Slow(reference, seen time.Duration) bool {
	if reference <= 0 || seen <= 0 {
		return true
	}
	return float64(seen) > SlowBy*float64(reference)
}
