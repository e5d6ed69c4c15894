package profiles

import (
	_ "embed"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Group is the kind of code that a symbol belongs to, wherever it is on the
// stack. WorkOf gives the kind of
// work of a whole stack, from the groups of its symbols and more.
type Group string

// The groups. A symbol is in the first one that fits.
const (
	GroupGC      Group = "gc"      // the garbage collector, and what it calls
	GroupSyscall Group = "syscall" // system calls, including the kernel's work
	GroupRuntime Group = "runtime" // the scheduler, the allocator and the rest of Go's runtime
	GroupHTTP    Group = "http"    // net, net/http, fasthttp, Fiber: bytes to requests and back
	GroupHandler Group = "handler" // this repository's code
	GroupRest    Group = "rest"
)

//go:embed groups.toml
var groupsText []byte

// symbols says by what the groups are known; groups.toml says what its fields mean.
var symbols = strict.Embedded[struct {
	Syscalls, Collector, NoCollector []string
	Packages                         []struct {
		Group Group
		Paths []string
	}
}](groupsText)

// GroupOf gives the group of a symbol. What the collector calls inside the
// runtime belongs to the collector: a memmove under it is not the program's.
func GroupOf(symbol string, caller Group) Group {
	name := []string{symbol}
	switch {
	case has(name, symbols.Collector) && !has(name, symbols.NoCollector):
		return GroupGC
	case has(name, symbols.Syscalls):
		return GroupSyscall
	}
	if bare(symbol) {
		symbol = "runtime." + symbol
	}
	for _, g := range symbols.Packages {
		for _, path := range g.Paths {
			if rest, ok := strings.CutPrefix(symbol, path); ok && rest != "" && (rest[0] == '.' || rest[0] == '/') {
				if g.Group == GroupRuntime && caller == GroupGC {
					return GroupGC
				}
				return g.Group
			}
		}
	}
	return GroupRest
}
