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
	"cmp"
	_ "embed"
	"fmt"
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

// A KindDoc is a kind of profile; taxonomy.toml says what its fields mean.
type KindDoc struct {
	Kind    Kind   `json:"kind"`
	Name    string `json:"name"` // "CPU profile"
	Of      string `json:"of"`   // "CPU time"
	Per     string `json:"per"`  // "time", "bytes" or "goroutines"
	Meaning string `json:"-"`

	SampleType string `json:"-" toml:"sample_type"`
	Events     string `json:"-"` // as sample_type if its values are counts themselves
	Unit       string `json:"-"` // s, B or count
}

//go:embed taxonomy.toml
var taxonomyText []byte

var taxonomy = strict.Embedded[struct {
	Kind []KindDoc
	Work []WorkDoc
}](taxonomyText)

// Kinds returns the names of all kinds, in the order of taxonomy.toml.
func Kinds() []Kind { return strict.Map(taxonomy.Kind, func(d KindDoc) Kind { return d.Kind }) }

// Doc returns the words of one kind.
func (k Kind) Doc() KindDoc {
	d, _ := strict.Find(taxonomy.Kind, func(d KindDoc) bool { return d.Kind == k })
	return d
}

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

// Analyse sums up a profile. A profile without samples is valid: a server in which no lock was contended has such a mutex
// profile. Shares are of the kind's value (time or bytes), not of the number of samples.
func Analyse(kind Kind, p *pprof.Profile) (Profile, error) {
	doc, per := kind.Doc(), 1.
	if doc.Unit == "s" {
		per = 1e9 // pprof has nanoseconds
	}
	out := Profile{Kind: kind, Unit: doc.Unit, DurationS: words.Significant(float64(p.DurationNanos)/1e9, 12),
		Work: map[string]float64{}, Packages: map[string]float64{}}
	value, err := p.SampleIndexByName(doc.SampleType)
	events, none := p.SampleIndexByName(doc.Events)
	if err = cmp.Or(err, none); err != nil {
		return out, fmt.Errorf("the %s profile has other sample types: %w", kind, err)
	}
	total, stacks := 0., map[string]bool{}
	for _, s := range p.Sample {
		v := float64(s.Value[value])
		if v == 0 {
			continue
		}
		if total += v; events != value {
			out.Events += float64(s.Value[events])
		}
		stack := StackOf(s)
		stacks[strings.Join(stack, "\n")] = true
		out.Work[string(WorkOf(stack))] += v
		// A package counts once for a sample, however often it is on the stack. With a sample without a stack, no package is
		// known to be absent.
		seen := strict.Collect(stack, PackageOf)
		if len(stack) == 0 {
			seen[NoSymbol] = true
		}
		for name := range seen {
			out.Packages[name] += v
		}
	}
	for _, shares := range []map[string]float64{out.Work, out.Packages} {
		for name := range shares {
			// More digits than the samples of any profile resolve, and few enough to read.
			shares[name] = words.Significant(shares[name]/total, 9)
		}
	}
	out.Stacks, out.Total = len(stacks), words.Significant(total/per, 12)
	return out, nil
}
