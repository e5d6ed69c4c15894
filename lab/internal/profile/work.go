package profile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Work is the kind of work of a sample, by its whole stack: each sample has exactly one. taxonomy.toml describes each.
type Work string

// The kinds of work that code knows by name.
const (
	WorkCollector Work = "gc"
	WorkHandler   Work = "handler"
	WorkRuntime   Work = "runtime"
	WorkOther     Work = "other"
)

// A WorkDoc is a kind of work; taxonomy.toml says what its fields mean.
type WorkDoc struct {
	Work  Work   `json:"work" toml:"name"`
	Label string `json:"label"`
	Words string `json:"words"` // "garbage collection"
	Doc   string `json:"doc"`   // which samples belong to it

	Starts     []string `json:"-"`
	Except     []string `json:"-"`
	UnlessFile []string `json:"-" toml:"unless_file"`
	Packages   []string `json:"-"`
	Calls      []string `json:"-"`
}

// Works returns all kinds of work, in the order of checking.
func Works() []WorkDoc { return taxonomy.Work }

// Words name the kind of work inside a sentence.
func (w Work) Words() string {
	d, _ := strict.Find(taxonomy.Work, func(d WorkDoc) bool { return d.Work == w })
	return cmp.Or(d.Words, string(w))
}

// WorkOfCall gives the kind of work of a system call; empty if that depends on the caller.
func WorkOfCall(name string) Work {
	d, _ := strict.Find(taxonomy.Work, func(d WorkDoc) bool { return slices.Contains(d.Calls, name) })
	return d.Work
}

// WorkOf gives a Go stack's kind of work, outermost call first.
func WorkOf(stack []string) Work {
	if d, ok := strict.Find(taxonomy.Work, func(d WorkDoc) bool { return d.fits(stack) }); ok {
		return d.Work
	}
	// Every request's stack has the server's code at its outer end and, where the handler makes it answer, at its inner end
	// again. The innermost of the two decides: what fasthttp does for a handler is fasthttp's work.
	for _, s := range slices.Backward(stack) {
		path := PathOf(s)
		owner, owned := strict.Find(taxonomy.Work, func(d WorkDoc) bool { return begins(path+"/", d.Packages) })
		if owned {
			return owner.Work
		}
		// A package with a host is not of the standard library; those of golang.org are as good as.
		if host, _, _ := strings.Cut(path, "/"); strings.Contains(host, ".") && host != "golang.org" {
			return WorkHandler
		}
	}
	return WorkOther
}

// fits tells whether a stack has the kind of work by how its symbols begin.
func (d WorkDoc) fits(stack []string) bool {
	has := func(starts, except []string) bool {
		return slices.ContainsFunc(stack, func(s string) bool { return begins(s, starts) && !begins(s, except) })
	}
	return has(d.Starts, d.Except) || has(d.UnlessFile, nil) && !has([]string{"os.(*File)."}, nil)
}

func begins(s string, starts []string) bool {
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(s, start) })
}
