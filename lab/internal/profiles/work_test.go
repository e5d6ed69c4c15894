package profiles

import (
	"slices"
	"strings"
	"testing"
)

// Outer ends of stacks in fasthttp's and net/http's servers.
const (
	fasthttpConn = "github.com/valyala/fasthttp.(*workerPool).getCh.func1 " +
		"github.com/valyala/fasthttp.(*workerPool).workerFunc github.com/valyala/fasthttp.(*Server).serveConn "
	fiberHandler = fasthttpConn + "github.com/gofiber/fiber/v3.(*App).requestHandler " +
		"github.com/gofiber/fiber/v3.(*App).next main.newFiber.func2 "
	httpConn    = "net/http.(*Server).Serve.gowrap3 net/http.(*conn).serve "
	httpHandler = httpConn + "net/http.serverHandler.ServeHTTP net/http.HandlerFunc.ServeHTTP main.(*service).answer "
	connWrite   = "net.(*conn).Write net.(*netFD).Write internal/poll.(*FD).Write internal/poll.ignoringEINTRIO " +
		"syscall.Write syscall.write "
	kernel    = "syscall.Syscall syscall.RawSyscall6 internal/runtime/syscall/linux.Syscall6"
	fakerLock = "main.(*service).routes.func2 github.com/line-rate/line-rate/lab/server/catalog.Faker.Next " +
		"github.com/brianvoe/gofakeit/v7.Number github.com/brianvoe/gofakeit/v7.(*Faker).Uint64 "
)

// Stacks seen in profiles of the servers under load, by kind of profile.
func TestWorkOf(t *testing.T) {
	for _, c := range []struct {
		stack string
		want  Work
	}{
		// CPU
		{fasthttpConn + "bufio.(*Writer).Flush " + connWrite + kernel, WorkWrite},
		{fasthttpConn + "bufio.(*Writer).Flush net.(*conn).Write net.(*netFD).Write internal/poll.(*FD).Write " +
			"internal/poll.(*FD).writeLock internal/poll.(*fdMutex).rwlock", WorkWrite},
		{fasthttpConn + "bufio.(*Writer).Flush " + connWrite + "syscall.Syscall runtime.exitsyscall runtime.systemstack",
			WorkWrite},
		{httpHandler + "net/http.(*response).Write bufio.(*Writer).Write " + connWrite + kernel, WorkWrite},
		{fasthttpConn + "bufio.(*Reader).fill net.(*conn).Read net.(*netFD).Read internal/poll.(*FD).Read syscall.read " +
			kernel, WorkRead},
		{httpConn + "bufio.(*Reader).Peek net/http.(*connReader).Read net.(*conn).Read", WorkRead},
		{"main.main log.Println log.(*Logger).output os.(*File).Write internal/poll.(*FD).Write syscall.Write " + kernel,
			WorkHandling},
		{"os.ReadFile os.(*File).Read internal/poll.(*FD).Read syscall.read", WorkRemaining},
		{"runtime.mcall runtime.park_m runtime.schedule runtime.findRunnable runtime.netpoll " +
			"internal/runtime/syscall/linux.EpollWait", WorkScheduler},
		{"runtime.mstart runtime.mstart0 runtime.mstart1 runtime.sysmon runtime.usleep", WorkScheduler},
		{"gogo", WorkScheduler},
		{"runtime.gcBgMarkWorker runtime.systemstack runtime.gcBgMarkWorker.func2 runtime.gcDrain runtime.scanobject",
			WorkCollector},
		{fiberHandler + "runtime.newobject runtime.mallocgc runtime.gcAssistAlloc runtime.systemstack runtime.gcDrainN",
			WorkCollector},
		{fiberHandler + "gcWriteBarrier runtime.wbBufFlush", WorkCollector},
		{"runtime._GC", WorkCollector},
		{fiberHandler + "main.(*service).routes.func4 slices.SortFunc[go.shape.[]int] cmp.Compare[go.shape.int64]",
			WorkHandling},
		{fiberHandler + fakerLock + "math/rand/v2.(*PCG).Uint64", WorkHandling},
		{fiberHandler + "main.(*service).routes.func4 encoding/json.Marshal runtime.makeslice runtime.mallocgc",
			WorkHandling},
		// HTTP code that the handler calls is HTTP's work.
		{fiberHandler + "github.com/gofiber/fiber/v3.(*DefaultRes).Send runtime.memmove", WorkServing},
		{httpHandler + "net/http.Header.Set net/textproto.CanonicalMIMEHeaderKey", WorkServing},
		{fasthttpConn + "github.com/valyala/fasthttp.(*URI).parse bytes.LastIndex", WorkServing},
		{httpConn + "context.WithCancel runtime.newobject", WorkServing},
		{"time.now", WorkRemaining},
		{"runtime._ExternalCode", WorkRemaining},
		{"", WorkRemaining},
		{NoSymbol, WorkRemaining},

		// Mutex and block
		{fiberHandler + fakerLock + "sync.(*Mutex).Lock internal/sync.(*Mutex).Lock", WorkLock},
		{fiberHandler + fakerLock + "sync.(*Mutex).Unlock", WorkLock},
		{httpConn + "net/http.(*connReader).lock sync.(*Mutex).Lock", WorkLock},
		{"main.main sync.(*Once).doSlow main.load", WorkHandling},
		{httpConn + "net/http.(*connReader).abortPendingRead sync.(*Cond).Wait", WorkWait},
		{fasthttpConn + "runtime.chanrecv2", WorkWait},
		{"main.main main.stop runtime.selectgo", WorkWait},
		{"runtime.mcall runtime.park_m runtime.schedule runtime.findRunnable runtime.unlock", WorkScheduler},
		{fasthttpConn + "bufio.(*Reader).Peek net.(*conn).Read syscall.read syscall.Syscall runtime.entersyscall " +
			"runtime.reentersyscall runtime.unlock", WorkRead},

		// Profiling itself.
		{"net/http.(*conn).serve net/http/pprof.Index net/http/pprof.handler.serveDeltaProfile runtime.selectgo",
			WorkProfiler},
		{"runtime/pprof.profileWriter runtime/pprof.(*profileBuilder).addCPUData runtime.mallocgc", WorkProfiler},
		{"net/http.(*conn).serve net/http/pprof.Profile net/http.(*response).Write " + connWrite, WorkProfiler},

		// Goroutine
		{httpConn + "net/http.(*connReader).Read net.(*conn).Read internal/poll.runtime_pollWait runtime.gopark", WorkRead},
		{"main.main net/http.(*Server).Serve net.(*TCPListener).Accept internal/poll.(*FD).Accept " +
			"internal/poll.runtime_pollWait runtime.gopark", WorkWait},
		{"os/signal.loop os/signal.signal_recv runtime.notetsleepg", WorkWait},
		{"main.main os/exec.(*Cmd).Wait os.(*Process).Wait syscall.wait4", WorkWait},

		// Heap
		{"runtime.main main.main github.com/line-rate/line-rate/lab/server/catalog.New encoding/json.Marshal", WorkHandling},
		{"runtime.systemstack runtime.newproc.func1 runtime.newproc1 runtime.malg", WorkScheduler},
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
	}
	if want := []Work{WorkProfiler, WorkCollector, WorkWrite, WorkRead, WorkLock, WorkWait, WorkScheduler, WorkHandling,
		WorkServing, WorkRemaining}; !slices.Equal(names, want) {
		t.Errorf("works are %v, want %v", names, want)
	}
	if slices.Contains(WorkNames(), "locks") {
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
	if got := WorkOf([]string{"runtime/pprof.Do", "main.handle", "main.work"}); got != WorkHandling {
		t.Errorf("work under a label is %s", got)
	}
}
