package profiles

import (
	_ "embed"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A KindDoc has the words of a kind of profile for pages; kinds.toml has all.
type KindDoc struct {
	Kind    Kind   `json:"kind"`
	Name    string `json:"name"` // "CPU profile"
	Of      string `json:"of"`   // what its values are of: "CPU time"
	Per     string `json:"per"`  // what the width of a frame stands for: "time"
	Meaning string `json:"-"`    // what it counts, in a sentence

	SampleType string `json:"-" toml:"sample_type"`
	// Events is the sample type that counts its events; empty if its values are counts themselves.
	Events string `json:"-"`
}

//go:embed kinds.toml
var kindsText []byte

// docs are in the order in which pages show them.
var docs = strict.Embedded[struct{ Kinds []KindDoc }](kindsText).Kinds

// KindDocs returns the words of all kinds, in the order of Kinds.
func KindDocs() []KindDoc { return docs }

// Doc returns the words of one kind.
func (k Kind) Doc() (doc KindDoc) {
	doc, _ = strict.First(docs, func(d KindDoc) bool { return d.Kind == k })
	return doc
}

// Kinds returns all kinds, in the order in which pages show them.
func Kinds() []Kind { return strict.Called(docs, func(d KindDoc) Kind { return d.Kind }) }

// SampleType is the name of the sample type that is used for a kind.
func (k Kind) SampleType() string { return k.Doc().SampleType }

// OfMoment tells whether a kind describes one moment, even if its file has a
// duration.
func (k Kind) OfMoment() bool { return k == Heap || k == Goroutine }
