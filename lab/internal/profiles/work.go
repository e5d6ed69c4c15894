package profiles

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Work is the kind of work of a sample, by its whole stack: each sample has
// exactly one.
type Work string

// The kinds of work; works.toml describes each.
const (
	WorkProfiler  Work = "profiler"
	WorkCollector Work = "gc"
	WorkWrite     Work = "write"
	WorkRead      Work = "read"
	WorkLock      Work = "lock"
	WorkWait      Work = "wait"
	WorkScheduler Work = "scheduler"
	WorkHandling  Work = "handler"
	WorkServing   Work = "http"
	WorkRemaining Work = "other"
)

// A WorkDoc is a kind of work; works.toml says what its fields mean.
type WorkDoc struct {
	Work  Work   `json:"work" toml:"name"`
	Label string `json:"label"`
	Words string `json:"words"` // "garbage collection"
	Doc   string `json:"doc"`   // which samples belong to it

	Starts     []string `json:"-"`
	UnlessFile []string `json:"-" toml:"unless_file"`
}

//go:embed works.toml
var worksText []byte

var works = strict.Embedded[struct{ Work []WorkDoc }](worksText).Work

// Works returns all kinds of work, in the order of checking.
func Works() []WorkDoc { return works }

func (w Work) doc() (doc WorkDoc) {
	doc, _ = strict.First(works, func(d WorkDoc) bool { return d.Work == w })
	return doc
}

// Words name the kind of work inside a sentence.
func (w Work) Words() string { return cmp.Or(w.doc().Words, string(w)) }

// WorkNames lists the names of all kinds of work.
func WorkNames() []string {
	return strict.Called(works, func(w WorkDoc) string { return string(w.Work) })
}

// IsProfiler tells whether a symbol belongs to taking profiles. pprof.Do does
// not: it runs its caller's code under a label.
func IsProfiler(name string) bool {
	return WorkProfiler.doc().fits([]string{name}) && !strings.HasPrefix(name, "runtime/pprof.Do")
}

// fits tells whether a stack has the kind of work by how its symbols begin.
func (d WorkDoc) fits(stack []string) bool {
	return has(stack, d.Starts) || has(stack, d.UnlessFile) && !has(stack, []string{"os.(*File)."})
}

// WorkOf gives the kind of work of a stack, outermost call first.
func WorkOf(stack []string) Work {
	switch {
	case slices.ContainsFunc(stack, IsProfiler):
		return WorkProfiler
	case slices.ContainsFunc(stack, func(s string) bool { return GroupOf(s, GroupRest) == GroupGC }):
		return WorkCollector
	}
	for _, d := range works {
		if d.Work != WorkProfiler && d.fits(stack) {
			return d.Work
		}
	}
	if slices.Contains(stack, "gogo") {
		return WorkScheduler
	}
	// Every request's stack has the server's code at its outer end and, where the
	// handler makes it answer, at its inner end again. The innermost of the two
	// decides: what fasthttp does for a handler is fasthttp's work.
	for _, s := range slices.Backward(stack) {
		if strings.HasPrefix(s, "internal/poll.") {
			continue // for a connection or a file, as the caller shows
		}
		switch GroupOf(s, GroupRest) {
		case GroupHandler:
			return WorkHandling
		case GroupHTTP:
			return WorkServing
		}
	}
	return WorkRemaining
}

// has tells whether a symbol of a stack begins in one of some ways.
func has(stack, starts []string) bool {
	return slices.ContainsFunc(stack, func(s string) bool {
		return slices.ContainsFunc(starts, func(p string) bool { return strings.HasPrefix(s, p) })
	})
}
