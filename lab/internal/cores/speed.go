package cores

// The work of one call of TimeLoop: passes, pairs of calls a pass, and bytes a
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
