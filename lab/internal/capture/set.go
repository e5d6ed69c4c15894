// Package capture takes pprof profiles of a server under load, all kinds over
// one window and all of its processes at once.
//
// Its stance: a profile is worth what is known of its window. Kinds that began
// apart, a process that did not answer, or a file that does not parse make the
// whole set an error; there is no set with a hole in it. Processes on this machine
// are told one moment to begin at.
//
// A profile holds what the load did and not what the asking for profiles did:
// the handlers that wait for the window's end would be most of a block profile.
// Their stacks are left out of Merged and added up in Own.
//
// Its limits: profiles are samples, taken by the process that they are of, at
// its cost. Mutex and block profiles hold what the server's own rates let in,
// and an event is in the window in which it ends. The runtime counts memory
// when it collects garbage. Each process is forced to do so just before the window, so
// heap is of its beginning; allocs goes from there to the last collection whose
// sweep was over in the window, and without one it is empty.
package capture

import (
	"time"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/profiles"
)

// A Set is the profiles of one window, each merged over the processes.
type Set struct {
	Processes int
	Started   time.Time     // of the earliest profile, by its own file
	Spread    time.Duration // from the earliest start to the latest, by the files; goroutine's apart
	Window    time.Duration

	// Merged has the processes' samples added up. Each profile's time is that
	// of its start, and its duration that of the window, as the processes have
	// it on average: they ran side by side, so durations do not add up.
	Merged map[profiles.Kind]*profile.Profile

	// Own is what taking the profiles came to in each kind, by its sample type.
	Own map[profiles.Kind]int64
}
