// Package profile takes pprof profiles of servers under load, and sums them up.
//
// Take asks each process of a server once for all kinds of profile of one window, and merges them over the processes. A
// process, a kind or a sample that is missing makes the whole set an error. Package endpoint is the server's side, and
// package kernel samples programs that have none.
//
// Analyse gives a profile's shares: of each kind of work, and of each package. Shares cover every sample, so that a claim
// can say that something is gone. Only this package says what kind of work a stack is, so claims, tables and comparisons
// agree. It goes by names alone: a package that was fully inlined has none, and a stack that was cut off lacks its
// callers. A sampled profile says where time went, not what would be saved by removing it.
package profile

import (
	"fmt"
	"slices"
	"strings"

	pprof "github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Kind is a kind of profile, by net/http/pprof's name except for "cpu".
type Kind string

// CPU, Mutex, Block and Allocs describe a window; Heap and Goroutine describe the moment at which it begins.
const (
	CPU       Kind = "cpu"
	Mutex     Kind = "mutex"
	Block     Kind = "block"
	Heap      Kind = "heap"
	Goroutine Kind = "goroutine"
	Allocs    Kind = "allocs"
)

// A KindDoc has the words of a kind of profile for pages.
type KindDoc struct {
	Kind    Kind   `json:"kind"`
	Name    string `json:"name"` // "CPU profile"
	Of      string `json:"of"`   // what its values are of: "CPU time"
	Per     string `json:"per"`  // "time", "bytes" or "goroutines"
	Meaning string `json:"-"`    // what it counts, in a sentence

	SampleType string `json:"-"`
	Events     string `json:"-"` // the sample type that counts its events; empty if its values are counts themselves
	Unit       string `json:"-"` // s, B or count
}

// docs are in the order in which pages show them.
var docs = []KindDoc{
	{CPU, "CPU profile", "CPU time", "time", "CPU time, by where it was spent.", "cpu", "samples", "s"},
	{Mutex, "mutex profile", "waiting for locks, told at who held them", "time",
		"Time that goroutines waited for a mutex, by who held it.", "delay", "contentions", "s"},
	{Block, "block profile", "time blocked", "time", "Time that goroutines were blocked, by where they waited.", "delay",
		"contentions", "s"},
	{Heap, "heap profile", "live memory", "bytes", "Bytes of live objects, by where they were allocated.", "inuse_space",
		"inuse_objects", "B"},
	{Goroutine, "goroutine profile", "goroutines", "goroutines", "Goroutines at one moment, by where each of them was.",
		"goroutine", "", "count"},
	{Allocs, "profile of allocations", "memory allocated", "bytes", "Bytes allocated, live or not, by where that was.",
		"alloc_space", "alloc_objects", "B"},
}

// KindDocs returns the words of all kinds, in the order of Kinds.
func KindDocs() []KindDoc { return docs }

// Doc returns the words of one kind.
func (k Kind) Doc() KindDoc {
	d, _ := strict.First(docs, func(d KindDoc) bool { return d.Kind == k })
	return d
}

// Kinds returns all kinds, in the order in which pages show them.
func Kinds() []Kind { return strict.Called(docs, func(d KindDoc) Kind { return d.Kind }) }

// OfMoment tells whether a kind describes one moment.
func (k Kind) OfMoment() bool { return k == Heap || k == Goroutine }

// A Profile is one kind of profile of a trial's profiled window, of all the server's processes together. Shares are of the
// total.
type Profile struct {
	Kind      Kind    `json:"kind"`
	Unit      string  `json:"unit,omitempty"`
	Total     float64 `json:"total,omitempty"`
	Events    float64 `json:"events,omitempty"`
	Stacks    int     `json:"stacks,omitempty"`
	DurationS float64 `json:"duration_s,omitempty"`
	// Work and Packages each cover every sample: what is missing there was not in the profile.
	Work     map[string]float64 `json:"work,omitempty"`
	Packages map[string]float64 `json:"packages"`
}

// Parked is the mean number of blocked goroutines in a block profile: their blocked time over the window's. It includes
// goroutines that wait for work. It is 0 for other profiles.
func Parked(p Profile) float64 {
	if p.Kind != Block || p.DurationS == 0 {
		return 0
	}
	return words.Significant(p.Total/p.DurationS, 9)
}

// columnOf finds a sample type among a sample's values.
func columnOf(p *pprof.Profile, kind Kind, sampleType string) (int, error) {
	at := slices.IndexFunc(p.SampleType, func(t *pprof.ValueType) bool { return t.Type == sampleType })
	if at < 0 || sampleType == "" {
		return 0, fmt.Errorf("the %s profile has no sample type %q; it has %v", kind, sampleType, p.SampleType)
	}
	return at, nil
}

// Analyse sums up a profile. A profile without samples is valid: a server in which no lock was contended has such a mutex
// profile. Shares are of the kind's value (time or bytes), not of the number of samples.
func Analyse(kind Kind, p *pprof.Profile) (Profile, error) {
	out := Profile{Kind: kind, Work: map[string]float64{}, Packages: map[string]float64{}}
	doc, per := kind.Doc(), 1.
	if doc.Unit == "s" {
		per = 1e9 // pprof has nanoseconds
	}
	value, err := columnOf(p, kind, doc.SampleType)
	events := value
	if doc.Events != "" && err == nil {
		events, err = columnOf(p, kind, doc.Events)
	}
	if err != nil {
		return out, err
	}
	total, stacks := int64(0), map[string]bool{}
	for _, s := range p.Sample {
		v := s.Value[value]
		if total += v; v < 0 || total < 0 {
			return out, fmt.Errorf("the %s profile has a sample of %d, as a difference of profiles; shares cannot show that", kind, v)
		} else if v == 0 {
			continue
		}
		if events != value {
			out.Events += float64(s.Value[events])
		}
		stack := StackOf(s)
		stacks[strings.Join(stack, "\n")] = true
		out.Work[string(WorkOf(stack))] += float64(v)
		// A package counts once for a sample, however often it is on the stack. With a sample without a stack, no package is
		// known to be absent.
		seen := map[string]bool{}
		for _, name := range stack {
			seen[PackageOf(name)] = true
		}
		if len(stack) == 0 {
			seen[NoSymbol] = true
		}
		for name := range seen {
			out.Packages[name] += float64(v)
		}
	}
	for _, shares := range []map[string]float64{out.Work, out.Packages} {
		for name := range shares {
			// More digits than the samples of any profile resolve, and few enough to read.
			shares[name] = words.Significant(shares[name]/float64(total), 9)
		}
	}
	out.Unit, out.Stacks = doc.Unit, len(stacks)
	out.Total = words.Significant(float64(total)/per, 12)
	if !kind.OfMoment() {
		out.DurationS = words.Significant(float64(p.DurationNanos)/1e9, 12)
	}
	return out, nil
}
