package profiles

import "github.com/line-rate/line-rate/lab/internal/strict"

// A KindDoc has the words of a kind of profile for pages.
type KindDoc struct {
	Kind    Kind   `json:"kind"`
	Name    string `json:"name"` // "CPU profile"
	Of      string `json:"of"`   // what its values are of: "CPU time"
	Per     string `json:"per"`  // what the width of a frame stands for: "time"
	meaning string // what it counts, in a sentence

	sampleType string
	// events is the sample type that counts its events; empty if its values are counts themselves.
	events string
}

// docs are in the order in which pages show them.
var docs = []KindDoc{
	{CPU, "CPU profile", "CPU time", "time", "CPU time, by where it was spent.", "cpu", "samples"},
	{Mutex, "mutex profile", "waiting for locks, told at who held them", "time",
		"Time that goroutines waited for a mutex, by who held it.", "delay", "contentions"},
	{Block, "block profile", "time blocked", "time",
		"Time that goroutines were blocked, by where they waited.", "delay", "contentions"},
	{Heap, "heap profile", "live memory", "bytes",
		"Bytes of live objects, by where they were allocated.", "inuse_space", "inuse_objects"},
	{Goroutine, "goroutine profile", "goroutines", "goroutines",
		"Goroutines at one moment, by where each of them was.", "goroutine", ""},
	{Allocs, "profile of allocations", "memory allocated", "bytes",
		"Bytes allocated, live or not, by where that was.", "alloc_space", "alloc_objects"},
}

// KindDocs returns the words of all kinds, in the order of Kinds.
func KindDocs() []KindDoc { return docs }

// Doc returns the words of one kind.
func (k Kind) Doc() (doc KindDoc) {
	doc, _ = strict.First(docs, func(d KindDoc) bool { return d.Kind == k })
	return doc
}

// Kinds returns all kinds, in the order in which pages show them.
func Kinds() []Kind { return strict.Called(docs, func(d KindDoc) Kind { return d.Kind }) }

// Names lists the names of all kinds.
func Names() []string {
	return strict.Called(docs, func(d KindDoc) string { return string(d.Kind) })
}

// Meaning says in a sentence what the kind's profile counts.
func (k Kind) Meaning() string { return k.Doc().meaning }

// SampleType is the name of the sample type that is used for a kind.
func (k Kind) SampleType() string { return k.Doc().sampleType }

// OfMoment tells whether a kind describes one moment, even if its file has a
// duration.
func (k Kind) OfMoment() bool { return k == Heap || k == Goroutine }
