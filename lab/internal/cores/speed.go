package cores

import "time"

// The work of one call of TimeLoop: passes of so many pairs of calls, each pair a
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
