// Package profiles sums up a pprof profile of a server under load: its kind, the
// share of each kind of work, and the share of each package. It also turns a
// profile into what a page can draw: a tree of calls with small branches folded,
// and a list of the symbols that cost most.
//
// Shares cover every sample, so that a claim can say that something is gone.
// Sums are exact, in the profile's own unit; only results are rounded. Only this
// package says which package and group a symbol belongs to, and which kind of
// work a stack is, so that claims, tables and drawings agree. Folding a tree loses
// names but never time: folded frames are summed in a sibling named "other", so
// that every frame is still the sum of its children and its own value.
//
// The package does not take profiles; package capture does. It uses names alone: a
// package that was fully inlined has none, a stack that was cut off lacks its
// callers, and a module's root is guessed from its host. A sampled profile says
// where time went, not what would be saved by removing it. A difference of two
// profiles does not say why they differ: the throughput of each matters too.
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

// Names lists the names of all kinds.
func Names() (names []string) {
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return names
}

// Meaning says in a sentence what the kind's profile counts.
func (k Kind) Meaning() string {
	return map[Kind]string{
		CPU:       "CPU time, by where it was spent.",
		Mutex:     "Time that goroutines waited for a mutex, by who held it.",
		Block:     "Time that goroutines were blocked, by where they waited.",
		Heap:      "Bytes of live objects, by where they were allocated.",
		Goroutine: "Goroutines at one moment, by where each of them was.",
		Allocs:    "Bytes allocated, live or not, by where that was.",
	}[k]
}

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
