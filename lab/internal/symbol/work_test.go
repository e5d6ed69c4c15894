package symbol

import (
	"slices"
	"strings"
	"testing"
)

// Outer ends of stacks in fasthttp's and net/http's servers.
const (
	fasthttpConn = "github.com/valyala/fasthttp.(*workerPool).getCh.func1 github.com/valyala/fasthttp.(*workerPool).workerFunc github.com/valyala/fasthttp.(*Server).serveConn "
	fiberHandler = fasthttpConn + "github.com/gofiber/fiber/v3.(*App).requestHandler github.com/gofiber/fiber/v3.(*App).next main.newFiber.func2 "
	httpConn     = "net/http.(*Server).Serve.gowrap3 net/http.(*conn).serve "
	httpHandler  = httpConn + "net/http.serverHandler.ServeHTTP net/http.HandlerFunc.ServeHTTP main.(*service).answer "
	connWrite    = "net.(*conn).Write net.(*netFD).Write internal/poll.(*FD).Write internal/poll.ignoringEINTRIO syscall.Write syscall.write "
	kernel       = "syscall.Syscall syscall.RawSyscall6 internal/runtime/syscall/linux.Syscall6"
	locked       = "main.(*service).routes.func2 github.com/line-rate/line-rate/lab/server/catalog.Faker.Next github.com/brianvoe/gofakeit/v7.Number github.com/brianvoe/gofakeit/v7.(*Faker).Uint64 "
)

// Stacks seen in profiles of the servers under load, by kind of profile.
func TestWorkOf(t *testing.T) {
	for _, c := range []struct {
		stack string
		want  Work
	}{
		// CPU
		{fasthttpConn + "bufio.(*Writer).Flush " + connWrite + kernel, Write},
		{fasthttpConn + "bufio.(*Writer).Flush net.(*conn).Write net.(*netFD).Write internal/poll.(*FD).Write internal/poll.(*FD).writeLock internal/poll.(*fdMutex).rwlock", Write},
		{fasthttpConn + "bufio.(*Writer).Flush " + connWrite + "syscall.Syscall runtime.exitsyscall runtime.systemstack", Write},
		{httpHandler + "net/http.(*response).Write bufio.(*Writer).Write " + connWrite + kernel, Write},
		{fasthttpConn + "bufio.(*Reader).fill net.(*conn).Read net.(*netFD).Read internal/poll.(*FD).Read syscall.read " + kernel, Read},
		{httpConn + "bufio.(*Reader).Peek net/http.(*connReader).Read net.(*conn).Read", Read},
		{"main.main log.Println log.(*Logger).output os.(*File).Write internal/poll.(*FD).Write syscall.Write " + kernel, Handling},
		{"os.ReadFile os.(*File).Read internal/poll.(*FD).Read syscall.read", Remaining},
		{"runtime.mcall runtime.park_m runtime.schedule runtime.findRunnable runtime.netpoll internal/runtime/syscall/linux.EpollWait", Scheduler},
		{"runtime.mstart runtime.mstart0 runtime.mstart1 runtime.sysmon runtime.usleep", Scheduler},
		{"gogo", Scheduler},
		{"runtime.gcBgMarkWorker runtime.systemstack runtime.gcBgMarkWorker.func2 runtime.gcDrain runtime.scanobject", Collector},
		{fiberHandler + "runtime.newobject runtime.mallocgc runtime.gcAssistAlloc runtime.systemstack runtime.gcDrainN", Collector},
		{fiberHandler + "gcWriteBarrier runtime.wbBufFlush", Collector},
		{"runtime._GC", Collector},
		{fiberHandler + "main.(*service).routes.func4 slices.SortFunc[go.shape.[]int] cmp.Compare[go.shape.int64]", Handling},
		{fiberHandler + locked + "math/rand/v2.(*PCG).Uint64", Handling},
		{fiberHandler + "main.(*service).routes.func4 encoding/json.Marshal runtime.makeslice runtime.mallocgc", Handling},
		// HTTP code that the handler calls is HTTP's work.
		{fiberHandler + "github.com/gofiber/fiber/v3.(*DefaultRes).Send runtime.memmove", Serving},
		{httpHandler + "net/http.Header.Set net/textproto.CanonicalMIMEHeaderKey", Serving},
		{fasthttpConn + "github.com/valyala/fasthttp.(*URI).parse bytes.LastIndex", Serving},
		{httpConn + "context.WithCancel runtime.newobject", Serving},
		{"time.now", Remaining},
		{"runtime._ExternalCode", Remaining},
		{"", Remaining},
		{None, Remaining},

		// Mutex and block
		{fiberHandler + locked + "sync.(*Mutex).Lock internal/sync.(*Mutex).Lock", Lock},
		{fiberHandler + locked + "sync.(*Mutex).Unlock", Lock},
		{httpConn + "net/http.(*connReader).lock sync.(*Mutex).Lock", Lock},
		{"main.main sync.(*Once).doSlow main.load", Handling},
		{httpConn + "net/http.(*connReader).abortPendingRead sync.(*Cond).Wait", Wait},
		{fasthttpConn + "runtime.chanrecv2", Wait},
		{"main.main main.stop runtime.selectgo", Wait},
		{"runtime.mcall runtime.park_m runtime.schedule runtime.findRunnable runtime.unlock", Scheduler},
		{fasthttpConn + "bufio.(*Reader).Peek net.(*conn).Read syscall.read syscall.Syscall runtime.entersyscall runtime.reentersyscall runtime.unlock", Read},

		// Profiling itself.
		{"net/http.(*conn).serve net/http/pprof.Index net/http/pprof.handler.serveDeltaProfile runtime.selectgo", Profiler},
		{"runtime/pprof.profileWriter runtime/pprof.(*profileBuilder).addCPUData runtime.mallocgc", Profiler},
		{"net/http.(*conn).serve net/http/pprof.Profile net/http.(*response).Write " + connWrite, Profiler},

		// Goroutine
		{httpConn + "net/http.(*connReader).Read net.(*conn).Read internal/poll.runtime_pollWait runtime.gopark", Read},
		{"main.main net/http.(*Server).Serve net.(*TCPListener).Accept internal/poll.(*FD).Accept internal/poll.runtime_pollWait runtime.gopark", Wait},
		{"os/signal.loop os/signal.signal_recv runtime.notetsleepg", Wait},
		{"main.main os/exec.(*Cmd).Wait os.(*Process).Wait syscall.wait4", Wait},

		// Heap
		{"runtime.main main.main github.com/line-rate/line-rate/lab/server/catalog.New encoding/json.Marshal", Handling},
		{"runtime.systemstack runtime.newproc.func1 runtime.newproc1 runtime.malg", Scheduler},
	} {
		if got := WorkOf(strings.Fields(c.stack)); got != c.want {
			t.Errorf("%s\nis %s, want %s", c.stack, got, c.want)
		}
	}
}

func TestEveryKindOfWorkIsExplainedOnce(t *testing.T) {
	var names []Work
	for _, w := range Works() {
		if slices.Contains(names, w.Work) {
			t.Errorf("%s stands twice", w.Work)
		}
		names = append(names, w.Work)
		if w.Label == "" || !strings.HasSuffix(w.Doc, ".") {
			t.Errorf("%s: %q, %q", w.Work, w.Label, w.Doc)
		}
		if !IsWork(string(w.Work)) {
			t.Errorf("%s is not known", w.Work)
		}
	}
	if want := []Work{Profiler, Collector, Write, Read, Lock, Wait, Scheduler, Handling, Serving, Remaining}; !slices.Equal(names, want) {
		t.Errorf("works are %v, want %v", names, want)
	}
	if IsWork("locks") {
		t.Error("locks is a kind of work")
	}
}

func TestTheTakingOfProfilesIsKnown(t *testing.T) {
	for name, want := range map[string]bool{
		"net/http/pprof.Profile": true, "runtime/pprof.profileWriter": true,
		Repository + "/lab/internal/pprofsock.(*window).take":        true,
		Repository + "/lab/internal/pprofsock.ServeOn.bounded.func4": true,
		Repository + "/lab/internal/pprofsocket.Serve":               false,
		Repository + "/lab/internal/capture.Capture":                 false,
		// Names in published profiles, and names that the compiler gives to inlined
		// functions.
		"main.(*window).take":                      true,
		"main.servePprof.(*windows).handler.func1": true, "main.servePprof.bounded.func4": true,
		"runtime/pprof.Do": false, "runtime/pprof.Do.deferwrap1": false, "main.serve": false, "net/http.(*conn).serve": false,
	} {
		if got := IsProfiler(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := WorkOf([]string{"runtime/pprof.Do", "main.handle", "main.work"}); got != Handling {
		t.Errorf("work under a label is %s", got)
	}
}
