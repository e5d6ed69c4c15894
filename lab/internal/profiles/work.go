package profiles

import (
	"slices"
	"strings"
)

// A Work is a kind of work that a sample is about, by its whole stack: each
// sample has exactly one.
type Work string

// The kinds of work; Works has a sentence for each.
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

// A WorkDoc is a kind of work with a head for tables and a sentence.
type WorkDoc struct {
	Work  Work   `json:"work"`
	Label string `json:"label"`
	Doc   string `json:"doc"` // which samples are of it
}

// Works returns all kinds of work, in the order in which a sample is held
// against them: it is of the first that fits.
func Works() []WorkDoc {
	return []WorkDoc{
		{WorkProfiler, "Profiler", "The taking of the profiles themselves: net/http/pprof or runtime/pprof is on the stack. The lab leaves most of it out of the profiles that it takes."},
		{WorkCollector, "Garbage collection", "The garbage collector, its assists and its write barriers included, whoever called it."},
		{WorkWrite, "Write", "A write to a connection, from net's to the system call and what the kernel does there, whoever asked for it."},
		{WorkRead, "Read", "A read from a connection, or the wait for one, as with write."},
		{WorkLock, "Locks", "Taking or giving back a mutex of package sync, or waiting for one."},
		{WorkWait, "Waiting", "A channel, a select, a sleep, a condition, a group, a child process or a new connection: a goroutine that waits for something else to happen."},
		{WorkScheduler, "Scheduler", "Go's scheduler: finding goroutines to run, parking and waking them, its threads and its network poller."},
		{WorkHandling, "Handler", "This repository's code and what it calls, down to where that is HTTP code again; gofakeit is what it calls."},
		{WorkServing, "HTTP", "Packages that make requests of bytes and back: net, net/http, bufio, fasthttp, Fiber, and what they call."},
		{WorkRemaining, "Other", "What no other kind has, such as allocation that nobody's code is on the stack of."},
	}
}

// IsWork tells whether a kind of work has the name.
func IsWork(name string) bool {
	return slices.ContainsFunc(Works(), func(w WorkDoc) bool { return string(w.Work) == name })
}

// IsProfiler tells whether a symbol is of the taking of profiles. pprof.Do is
// not: it runs its caller's code under a label.
func IsProfiler(name string) bool {
	return has([]string{name}, profilerStarts) && !strings.HasPrefix(name, "runtime/pprof.Do")
}

// Names by which a stack is known, each the beginning of a symbol.
var (
	// The lab's servers have net/http/pprof behind pprofsock. The names in main are
	// those that it had in the server's own package, when published profiles were
	// taken; what was inlined was named after servePprof.
	profilerStarts = []string{"net/http/pprof.", "runtime/pprof.", Repository + "/lab/internal/pprofsock.", "main.servePprof", "main.(*windows).", "main.(*window)."}

	// Below os.File the same calls of internal/poll and syscall are of a file,
	// not of a connection; they are its log's, not an answer's.
	fileStarts     = []string{"os.(*File)."}
	netWrites      = []string{"net.(*conn).Write", "net.(*conn).writeBuffers", "net.(*netFD).Write", "net.(*netFD).write", "net.(*Buffers).WriteTo", "net.(*TCPConn).ReadFrom", "internal/poll.SendFile", "internal/poll.Splice"}
	netReads       = []string{"net.(*conn).Read", "net.(*netFD).Read", "net.(*netFD).read"}
	possiblyWrites = []string{"internal/poll.(*FD).Write", "syscall.write", "syscall.Write", "syscall.writev", "syscall.sendto", "syscall.sendmsg"}
	possiblyReads  = []string{"internal/poll.(*FD).Read", "syscall.read", "syscall.Read", "syscall.recvfrom", "syscall.recvmsg"}

	// Of a lock only its own methods: a sync.Once runs its caller's code.
	lockStarts = []string{"sync.(*Mutex).", "sync.(*RWMutex).", "sync.(*rlocker).", "internal/sync.(*Mutex).", "sync.runtime_Semacquire", "sync.runtime_Semrelease", "internal/sync.runtime_Semacquire", "internal/sync.runtime_Semrelease"}

	waitStarts = []string{"runtime.selectgo", "runtime.chanrecv", "runtime.chansend", "runtime.selectnb", "runtime.block", "time.Sleep", "sync.(*WaitGroup).Wait", "sync.(*Cond).", "sync.runtime_notifyList", "os/signal.signal_recv", "os.(*Process).", "os/exec.(*Cmd).Wait", "syscall.Wait4", "internal/poll.runtime_pollWait"}

	schedulerStarts = []string{
		"runtime.schedule", "runtime.findRunnable", "runtime.park_m", "runtime.gopark", "runtime.goready", "runtime.ready", "runtime.mcall", "runtime.mstart",
		"runtime.sysmon", "runtime.newproc", "runtime.goexit0", "runtime.goexit1", "runtime.gosched", "runtime.Gosched", "runtime.gopreempt", "runtime.asyncPreempt", "runtime.startm", "runtime.stopm",
		"runtime.wakep", "runtime.injectglist", "runtime.netpoll", "runtime.epoll", "runtime.entersyscall", "runtime.reentersyscall", "runtime.exitsyscall",
		"runtime.futex", "runtime.note", "runtime.usleep", "runtime.osyield", "runtime.execute", "runtime.runq", "runtime.stealWork", "runtime.handoffp", "runtime.retake",
	}
)

// WorkOf says which kind of work a stack is, its outermost call first.
func WorkOf(stack []string) Work {
	switch {
	case slices.ContainsFunc(stack, IsProfiler):
		return WorkProfiler
	case collected(stack):
		return WorkCollector
	case has(stack, netWrites), has(stack, possiblyWrites) && !has(stack, fileStarts):
		return WorkWrite
	case has(stack, netReads), has(stack, possiblyReads) && !has(stack, fileStarts):
		return WorkRead
	case has(stack, lockStarts):
		return WorkLock
	case has(stack, waitStarts):
		return WorkWait
	case has(stack, schedulerStarts), slices.Contains(stack, "gogo"):
		return WorkScheduler
	}
	// Every request's stack has the server's code at its outer end, and where
	// the handler has it answer, at its inner end again. The innermost of the
	// two is whose work it is: what fasthttp does for a handler is fasthttp's.
	for _, s := range slices.Backward(stack) {
		if strings.HasPrefix(s, "internal/poll.") {
			continue // a connection's or a file's: its caller tells
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

// collected tells whether the collector is on the stack.
func collected(stack []string) bool {
	return slices.ContainsFunc(stack, func(s string) bool { return GroupOf(s, GroupRest) == GroupGC })
}

func has(stack, starts []string) bool {
	return slices.ContainsFunc(stack, func(s string) bool {
		return slices.ContainsFunc(starts, func(p string) bool { return strings.HasPrefix(s, p) })
	})
}
