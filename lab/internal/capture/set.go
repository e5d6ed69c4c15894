// Package capture takes pprof profiles of a server under load: all kinds over
// one window and all of its processes at once.
//
// A set is only useful if all its profiles cover the same window. Kinds that
// began at different times, a process that did not answer, or a file that does
// not parse make the whole set an error. Processes on this machine are told a
// common time to begin.
//
// Profiling itself is excluded: the handlers that wait for the window's end
// would be most of a block profile. Their stacks are removed from Merged and
// summed in Own.
//
// Profiles are samples, taken by the profiled process and at its cost. Mutex
// and block profiles depend on the server's sampling rates, and an event counts
// in the window in which it ends. The runtime counts memory when it collects
// garbage. Each process is forced to collect garbage just before the window, so
// heap describes the window's beginning. allocs covers the time from there to
// the last collection whose sweep ended within the window; without one it is
// empty.
package capture

import (
	"time"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/profiles"
)

// A Set is the profiles of one window, each merged over the processes.
type Set struct {
	Processes int
	Started   time.Time     // start of the earliest profile, by its file
	Spread    time.Duration // from the earliest start to the latest, by the files; without goroutine profiles
	Window    time.Duration

	// Merged has the processes' samples added up. A profile's time is its start,
	// and its duration the processes' average: they ran side by side, so durations
	// do not add up.
	Merged map[profiles.Kind]*profile.Profile

	// Own is the cost of profiling itself in each kind, in the kind's sample type.
	Own map[profiles.Kind]int64
}
