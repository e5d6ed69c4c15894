// Package profiles takes pprof profiles of a server under load, all kinds over
// one window and all of its processes at once, and says what they came to.
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
// when it collects garbage. Each process is made to just before the window, so
// heap is of its begin; allocs goes from there to the last collection whose
// sweep was over in the window, and without one it is empty.
package profiles

import (
	"time"

	"github.com/google/pprof/profile"
)

// A Kind is a kind of profile, by the name that net/http/pprof has for it but
// for "cpu".
type Kind string

// The kinds. CPU, Mutex, Block and Allocs are of a window; Heap and Goroutine
// are of the moment in which it begins.
const (
	CPU       Kind = "cpu"
	Mutex     Kind = "mutex"
	Block     Kind = "block"
	Heap      Kind = "heap"
	Goroutine Kind = "goroutine"
	Allocs    Kind = "allocs"
)

// Kinds returns all kinds, in the order in which pages show them.
func Kinds() []Kind { return []Kind{CPU, Mutex, Block, Heap, Goroutine, Allocs} }

// SampleType is the sample type that a kind is read by, as the profile names it.
func (k Kind) SampleType() string {
	switch k {
	case Mutex, Block:
		return "delay"
	case Heap:
		return "inuse_space"
	case Allocs:
		return "alloc_space"
	}
	return string(k) // "cpu", "goroutine"
}

// OfMoment tells whether a profile of the kind is of one moment, whatever its
// file says of a duration.
func (k Kind) OfMoment() bool { return k == Heap || k == Goroutine }

// Words name a profile of the kind in a sentence.
func (k Kind) Words() string {
	if k == CPU {
		return "CPU profile"
	}
	return string(k) + " profile"
}

// A Set is the profiles of one window, each merged over the processes.
type Set struct {
	Processes int
	Started   time.Time     // of the earliest profile, by its own file
	Spread    time.Duration // from the earliest start to the latest, by the files; goroutine's apart
	Window    time.Duration

	// Merged has the processes' samples added up. Each profile's time is that
	// of its start, and its duration that of the window, as the processes have
	// it on average: they ran side by side, so durations do not add up.
	Merged map[Kind]*profile.Profile

	// Own is what taking the profiles came to in each kind, by its sample type.
	Own map[Kind]int64
}
