// Package kinds says of what kind of work a sample of a server's CPU time is, whatever the server
// is written in. A sample has exactly one kind, by its whole stack, so kinds add up.
package kinds

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/perf"
	"github.com/line-rate/line-rate/lab/internal/profiles"
)

// A Kind is one kind of work, as tables have it.
type Kind string

// The kinds of work. The kernel's time within a system call is that call's, also an interrupt's
// that came meanwhile; that outside of any is the kernel's otherwise.
const (
	Collector Kind = "garbage collection"
	Runtime   Kind = "runtime"
	Own       Kind = "own code"
	Interrupt Kind = "page faults and interrupts"
	Profiler  Kind = "the profiler"
	Calls     Kind = "other system calls" // that have no name
	User      Kind = "user space"         // where no more than that is known
	System    Kind = "kernel"             // likewise
)

// named begins the kind of a system call that has a name.
const named = "system call: "

// IsCall tells whether it is that of a system call.
func (k Kind) IsCall() bool { return k == Calls || strings.HasPrefix(string(k), named) }

// Counts are the samples by kind.
type Counts struct {
	Of       map[Kind]int64
	All      int64
	Unnamed  int64 // of own code, where nothing has a symbol: compiled at run time, or stripped
	Nameless bool  // the kernel's functions have no names here
}

func (c *Counts) add(k Kind, n int64) {
	if c.Of == nil {
		c.Of = map[Kind]int64{}
	}
	c.Of[k], c.All = c.Of[k]+n, c.All+n
}

// OfPerf counts stacks that perf took.
func OfPerf(stacks []perf.Stack) (c Counts) {
	goes := map[string]bool{} // objects that Go's linker made
	kernel := false
	for _, s := range stacks {
		for _, f := range s {
			goes[f.Object] = goes[f.Object] || strings.HasPrefix(f.Symbol, "runtime.goexit") ||
				strings.HasPrefix(f.Symbol, "runtime.mstart")
			kernel = kernel || f.Kernel
		}
	}
	c.Nameless = kernel
	for _, s := range stacks {
		user := slices.IndexFunc(s, func(f perf.Frame) bool { return !f.Kernel })
		if user < 0 {
			user = len(s)
		}
		if user > 0 {
			c.add(inKernel(s[:user]), 1)
			c.Nameless = c.Nameless && !slices.ContainsFunc(s[:user], func(f perf.Frame) bool { return f.Symbol != "" })
			continue
		}
		kind, known := Own, true
		if goes[s[0].Object] {
			kind = ofGo(outermostFirst(s))
		} else {
			kind, known = ofOthers(s)
		}
		if c.add(kind, 1); !known {
			c.Unnamed++
		}
	}
	return c
}

func outermostFirst(s perf.Stack) (names []string) {
	for _, f := range slices.Backward(s) {
		names = append(names, f.Symbol)
	}
	return names
}

// The kernel's functions that a system call, and nothing else, goes through, on amd64 and arm64; and
// how those begin that have the name of one. Of some the compiler leaves only what they call.
var (
	entries = regexp.MustCompile(`^(entry_SYSCALL|do_syscall_64|x64_sys_call|(do_)?el0_svc|invoke_syscall)`)
	calls   = regexp.MustCompile(`^(?:__(?:x64|ia32|arm64)_(?:compat_)?sys_|__(?:se_|do_)?sys_|ksys_|do_sys_|do_(epoll_p?wait|futex|writev|readv)$)(.*)`)
)

// inKernel is the kind of the kernel's part of a stack.
func inKernel(s perf.Stack) Kind {
	entered := false
	for _, f := range slices.Backward(s) {
		if m := calls.FindStringSubmatch(f.Symbol); m != nil {
			return Kind(named + m[1] + m[2])
		}
		entered = entered || entries.MatchString(f.Symbol)
	}
	if entered {
		return Calls
	}
	return Interrupt
}

// ofGo is the kind of a stack of Go's symbols, outermost call first, in user space.
func ofGo(stack []string) Kind {
	switch profiles.WorkOf(stack) {
	case profiles.WorkProfiler:
		return Profiler
	case profiles.WorkCollector:
		return Collector
	}
	switch profiles.GroupOf(stack[len(stack)-1], profiles.GroupRest) {
	case profiles.GroupRuntime, profiles.GroupSyscall:
		return Runtime
	}
	return Own
}

// What other programs' samples are known by: the files of runtimes, of libraries that are whoever's
// calls them, and the functions of collectors of garbage.
var (
	runtimes = regexp.MustCompile(`^(lib)?(python|node|nodejs|jvm|ruby|php|php-fpm|beam\.smp|coreclr|clrjit|bun|deno)[-0-9.t]*(so[0-9.]*)?$`)
	anyones  = regexp.MustCompile(`^(lib(c|m|dl|pthread|stdc\+\+|gcc_s)[-.]|ld-|\[v)`)
	collects = regexp.MustCompile(`^(gc_collect|deduce_unreachable|visit_(decref|reachable)|subtract_refs|` +
		`(G1|Z|PS|Shenandoah|Serial)(Mark|Scavenge|Par|Full|Young|Conc|Evac|CM|Reloc|Heap)|GCTaskThread|GangWorker|rb_gc|gc_(mark|sweep)|` +
		`v8::internal::([A-Za-z:]*(Scaveng|MarkCompact|Marking|Sweep|Evacuat)|Heap::(Collect|Perform)Garbage))`)
)

// ofOthers is the kind of a stack in user space of a program that is not Go's; false if what
// decided has no symbol.
func ofOthers(s perf.Stack) (k Kind, known bool) {
	for i, f := range s {
		object := path.Base(f.Object)
		switch {
		case runtimes.MatchString(object):
			if slices.ContainsFunc(s[i:], func(f perf.Frame) bool { return collects.MatchString(f.Symbol) }) {
				return Collector, true
			}
			return Runtime, true
		case !anyones.MatchString(object):
			return Own, f.Symbol != ""
		}
	}
	return Own, true
}

// OfProfile counts the samples of a CPU profile of Go, whose stacks end before the kernel: a call of
// it is known by Go's own wrappers.
func OfProfile(p *profile.Profile) (c Counts) {
	for _, s := range p.Sample {
		if stack := profiles.StackOf(s); len(stack) > 0 && len(s.Value) > 0 {
			kind := ofGo(stack)
			if call := wrapped(stack); call != "" && kind != Profiler {
				kind = Kind(named + call)
			}
			c.add(kind, s.Value[0])
		}
	}
	return c
}

// raw are the functions from which Go goes into the kernel for any call, and own those of the
// runtime that go there for one.
var (
	raw = regexp.MustCompile(`^(internal/runtime/syscall|runtime/internal/syscall|syscall|golang\.org/x/sys/unix)(/linux)?\.(raw|Raw)?(Vfork)?Syscall`)
	own = map[string]string{"runtime.futex": "futex", "runtime.epollwait": "epoll_wait", "runtime.epollctl": "epoll_ctl",
		"runtime.usleep": "nanosleep", "runtime.osyield": "sched_yield", "runtime.madvise": "madvise", "runtime.tgkill": "tgkill",
		"runtime.write1": "write", "runtime.read": "read", "runtime.sysMmap": "mmap", "runtime.sysMunmap": "munmap"}
)

// wrapped is the system call in which a stack ends, outermost call first; empty if in none.
func wrapped(stack []string) string {
	if name := own[stack[len(stack)-1]]; name != "" || !raw.MatchString(stack[len(stack)-1]) {
		return name
	}
	for _, s := range slices.Backward(stack) {
		if !raw.MatchString(s) {
			return snake(s[strings.LastIndexByte(s, '.')+1:])
		}
	}
	return ""
}

// snake writes EpollWait as the kernel does: epoll_wait.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) && unicode.IsLower(rune(name[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
