// Package profiles sums up a pprof profile of a server under load: its kind, the
// share of each kind of work, and the share of each package. It also lists the
// symbols that cost most.
//
// Shares cover every sample, so that a claim can say that something is gone.
// Sums are exact, in the profile's own unit; only results are rounded. Only this
// package says which package and group a symbol belongs to, and which kind of
// work a stack is, so that claims and tables agree.
//
// The package does not take profiles; package capture does. It uses names alone: a
// package that was fully inlined has none, a stack that was cut off lacks its
// callers, and a module's root is guessed from its host. A sampled profile says
// where time went, not what would be saved by removing it.
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
