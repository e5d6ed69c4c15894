package cores

// A core that is shared with another program or virtual machine changes its speed for minutes at a time, and
// nothing in /proc shows it: on one such core the calibration loop took either 1.6 or 2.5 microseconds a pair
// of calls, which once turned a 28 % effect into a 45 % one. So the loop is timed on the server's core just
// before and after each group of trials. It makes a server's system calls, because a neighbour on the same
// core slows the kernel's paths by another factor than arithmetic. A dip within a trial goes unseen, and a
// group that is slow as a whole is slow for all of its conditions alike.
//
// passes, pairs of calls a pass, and bytes a pair, which is a write and a read. A pass takes 2 to 5 ms: long
// compared with the clock's resolution and short compared with a scheduler's slice, so the fastest of eight
// passes was most likely not interrupted.
const (
	passes = 8
	pairs  = 2000
	size   = 64
)

// SlowBy is how many times its reference a loop may take before the core counts as slow. It is the geometric
// middle of the two speeds seen, 1.6 and 2.5 microseconds: the square root of 2.5/1.6 is 1.25.
const SlowBy = 1.25
