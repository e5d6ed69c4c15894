package profiles

import (
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Work is the kind of work of a sample, by its whole stack: each sample has
// exactly one.
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

// A WorkDoc is a kind of work with a table head, its name inside a sentence, and a sentence.
type WorkDoc struct {
	Work  Work   `json:"work"`
	Label string `json:"label"`
	Words string `json:"words"` // "garbage collection"
	Doc   string `json:"doc"`   // which samples belong to it
}

// Works returns all kinds of work, in the order of checking: a sample has the
// first kind that fits.
func Works() []WorkDoc {
	return []WorkDoc{
		{WorkProfiler, "Profiler", "the profiler",
			"The taking of the profiles themselves: net/http/pprof or runtime/pprof is on the stack. The lab leaves most of " +
				"it out of the profiles that it takes."},
		{WorkCollector, "Garbage collection", "garbage collection",
			"The garbage collector, its assists and its write barriers included, whoever called it."},
		{WorkWrite, "Write", "writing", "A write to a connection, from net's to the system call and what the kernel does " +
			"there, whoever asked for it."},
		{WorkRead, "Read", "reading", "A read from a connection, or the wait for one, as with write."},
		{WorkLock, "Locks", "locks", "Taking or giving back a mutex of package sync, or waiting for one."},
		{WorkWait, "Waiting", "waiting", "A channel, a select, a sleep, a condition, a group, a child process or a new " +
			"connection: a goroutine that waits for something else to happen."},
		{WorkScheduler, "Scheduler", "scheduling",
			"Go's scheduler: finding goroutines to run, parking and waking them, its threads and its network poller."},
		{WorkHandling, "Handler", "the handler",
			"This repository's code and what it calls, down to where that is HTTP code again; gofakeit is what it calls."},
		{WorkServing, "HTTP", "HTTP", "Packages that make requests of bytes and back: net, net/http, bufio, fasthttp, " +
			"Fiber, and what they call."},
		{WorkRemaining, "Other", "other", "What no other kind has, such as allocation that nobody's code is on the stack of."},
	}
}

// Words name the kind of work inside a sentence.
func (w Work) Words() string {
	for _, d := range Works() {
		if d.Work == w {
			return d.Words
		}
	}
	return string(w)
}

// WorkNames lists the names of all kinds of work.
func WorkNames() []string {
	return strict.Called(Works(), func(w WorkDoc) string { return string(w.Work) })
}

// IsProfiler tells whether a symbol belongs to taking profiles. pprof.Do does
// not: it runs its caller's code under a label.
func IsProfiler(name string) bool {
	return has([]string{name}, profilerStarts) && !strings.HasPrefix(name, "runtime/pprof.Do")
}

// Prefixes of symbols by which stacks are recognised.
var (
	// The lab's servers have net/http/pprof behind pprofsock. The names in main
	// are those of the server's own package when the published profiles were
	// taken; inlined functions were named after servePprof.
	profilerStarts = []string{"net/http/pprof.", "runtime/pprof.", Repository + "/lab/internal/pprofsock.",
		"main.servePprof", "main.(*windows).", "main.(*window)."}

	// Below os.File the same calls of internal/poll and syscall are for a file,
	// not a connection: for the log, not for an answer.
	fileStarts = []string{"os.(*File)."}
	netWrites  = []string{"net.(*conn).Write", "net.(*conn).writeBuffers", "net.(*netFD).Write", "net.(*netFD).write",
		"net.(*Buffers).WriteTo", "net.(*TCPConn).ReadFrom", "internal/poll.SendFile", "internal/poll.Splice"}
	netReads       = []string{"net.(*conn).Read", "net.(*netFD).Read", "net.(*netFD).read"}
	possiblyWrites = []string{"internal/poll.(*FD).Write", "syscall.write", "syscall.Write", "syscall.writev",
		"syscall.sendto", "syscall.sendmsg"}
	possiblyReads = []string{"internal/poll.(*FD).Read", "syscall.read", "syscall.Read", "syscall.recvfrom",
		"syscall.recvmsg"}

	// Only a lock's own methods: a sync.Once runs its caller's code.
	lockStarts = []string{"sync.(*Mutex).", "sync.(*RWMutex).", "sync.(*rlocker).", "internal/sync.(*Mutex).",
		"sync.runtime_Semacquire", "sync.runtime_Semrelease", "internal/sync.runtime_Semacquire",
		"internal/sync.runtime_Semrelease"}

	waitStarts = []string{"runtime.selectgo", "runtime.chanrecv", "runtime.chansend", "runtime.selectnb", "runtime.block",
		"time.Sleep", "sync.(*WaitGroup).Wait", "sync.(*Cond).", "sync.runtime_notifyList", "os/signal.signal_recv",
		"os.(*Process).", "os/exec.(*Cmd).Wait", "syscall.Wait4", "internal/poll.runtime_pollWait"}

	schedulerStarts = []string{
		"runtime.schedule", "runtime.findRunnable", "runtime.park_m", "runtime.gopark", "runtime.goready", "runtime.ready",
		"runtime.mcall", "runtime.mstart",
		"runtime.sysmon", "runtime.newproc", "runtime.goexit0", "runtime.goexit1", "runtime.gosched", "runtime.Gosched",
		"runtime.gopreempt", "runtime.asyncPreempt", "runtime.startm", "runtime.stopm",
		"runtime.wakep", "runtime.injectglist", "runtime.netpoll", "runtime.epoll", "runtime.entersyscall",
		"runtime.reentersyscall", "runtime.exitsyscall",
		"runtime.futex", "runtime.note", "runtime.usleep", "runtime.osyield", "runtime.execute", "runtime.runq",
		"runtime.stealWork", "runtime.handoffp", "runtime.retake",
	}
)

// WorkOf gives the kind of work of a stack, outermost call first.
func WorkOf(stack []string) Work {
	switch {
	case slices.ContainsFunc(stack, IsProfiler):
		return WorkProfiler
	case slices.ContainsFunc(stack, func(s string) bool { return GroupOf(s, GroupRest) == GroupGC }):
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
