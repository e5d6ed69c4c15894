// Package profiles says what a pprof profile of a server under load came to: which
// kinds there are, how much of each was work of which kind, and in which packages. It
// makes of a profile what a page can draw: a tree of calls with the small branches
// folded, and a list of the symbols that cost most.
//
// Its stance: shares cover every sample, so that a claim can say that something is
// gone. Sums are exact, in the profile's own unit, and only what leaves is rounded.
// Which package and group a symbol is of, and what kind of work a stack is about, is
// said here and nowhere else, so that a claim, a table and a drawing cannot differ
// about it. Pruning a tree loses names and never time: what is folded stands as
// "other" beside its siblings, so that every frame still is the sum of what is above
// it and of its own.
//
// Its limits: it asks nobody for a profile; package capture does. It goes by names
// alone: a package that is inlined to nothing leaves none, a stack that was cut lacks
// its callers, and a module's root is told by its host's habits. A sampled profile
// says where time went, not what would be saved if it went nowhere. Nor does a
// difference of two profiles say why they differ: of that, the throughput of each is
// a part.
package profiles

import (
	"fmt"
	"slices"

	"github.com/google/pprof/profile"
)

// A Kind is a kind of profile, by net/http/pprof's name except for "cpu".
type Kind string

// CPU, Mutex, Block and Allocs describe a window; Heap and Goroutine describe
// the moment at which it begins.
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

// SampleType is the name of the sample type that is used for a kind.
func (k Kind) SampleType() string {
	switch k {
	case Mutex, Block:
		return "delay"
	case Heap:
		return "inuse_space"
	case Allocs:
		return "alloc_space"
	}
	return string(k) // "cpu" or "goroutine"
}

// OfMoment tells whether a kind describes one moment, even if its file has a
// duration.
func (k Kind) OfMoment() bool { return k == Heap || k == Goroutine }

// Words name a profile of the kind in a sentence.
func (k Kind) Words() string {
	if k == CPU {
		return "CPU profile"
	}
	return string(k) + " profile"
}

// Total is the sum over all of a profile's samples, by its kind's sample type.
func Total(p *profile.Profile, k Kind) (int64, error) {
	at := slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == k.SampleType() })
	if at < 0 {
		return 0, fmt.Errorf("it has no sample type %q", k.SampleType())
	}
	var sum int64
	for _, s := range p.Sample {
		sum += s.Value[at]
	}
	return sum, nil
}
