// Package profiles takes pprof profiles of a server under load, all kinds over
// one window and all of its processes at once, and says what they came to.
//
// Its stance: a profile is worth what is known of its window. Kinds that began
// apart, a process that did not answer, or a file that does not parse make the
// whole set an error; there is no set with a hole in it.
//
// Its limits: profiles are samples, taken by the process that they are of, at
// its cost. Mutex and block profiles hold what the server's own rates let in.
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

// A Set is the profiles of one window, each merged over the processes.
type Set struct {
	Processes int
	Started   time.Time     // of the earliest profile, by its own file
	Spread    time.Duration // from the earliest start to the latest, by the files
	Window    time.Duration
	Merged    map[Kind]*profile.Profile
}
