package profiles

import "strings"

// A Group is the kind of code that a symbol belongs to, wherever it is on the
// stack. Each is drawn as a pattern, so there are few. WorkOf gives the kind of
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

// packages by group; a package includes those below it.
var packages = []struct {
	group Group
	paths []string
}{
	{GroupSyscall, []string{"syscall", "internal/runtime/syscall", "runtime/internal/syscall", "golang.org/x/sys/unix"}},
	{GroupRuntime, []string{"runtime", "internal/runtime"}},
	{GroupHTTP, []string{"net", "internal/poll", "bufio", "github.com/valyala/fasthttp", "github.com/gofiber/fiber"}},
	{GroupHandler, []string{"main", "github.com/line-rate/line-rate"}},
}

// The runtime's own system calls, and the collector, which is not a package,
// are known by name.
var (
	runtimeSyscalls = []string{"runtime.futex", "runtime.epollwait", "runtime.epollctl", "runtime.usleep",
		"runtime.tgkill"}
	collectorStarts = []string{"runtime.gc", "runtime.(*gc", "runtime.bgsweep", "runtime.bgscavenge", "runtime.markroot",
		"runtime.scan", "runtime.greyobject", "runtime.sweepone", "runtime.(*sweep", "runtime.wbBuf", "gcWriteBarrier",
		"runtime._GC"}
	collectorForeign = []string{"runtime.gcenable", "runtime.gcount"}
)

// GroupOf gives the group of a symbol. What the collector calls inside the
// runtime belongs to the collector: a memmove under it is not the program's.
func GroupOf(symbol string, caller Group) Group {
	name := []string{symbol}
	switch {
	case has(name, collectorStarts) && !has(name, collectorForeign):
		return GroupGC
	case has(name, runtimeSyscalls):
		return GroupSyscall
	}
	if bare(symbol) {
		symbol = "runtime." + symbol
	}
	for _, g := range packages {
		for _, path := range g.paths {
			if rest, ok := strings.CutPrefix(symbol, path); ok && rest != "" && (rest[0] == '.' || rest[0] == '/') {
				if g.group == GroupRuntime && caller == GroupGC {
					return GroupGC
				}
				return g.group
			}
		}
	}
	return GroupRest
}
