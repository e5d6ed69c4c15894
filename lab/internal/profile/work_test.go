package profile

import (
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
		{fasthttpConn + "bufio.(*Writer).Flush " + connWrite + kernel, "write"},
		{fasthttpConn + "bufio.(*Writer).Flush net.(*conn).Write net.(*netFD).Write internal/poll.(*FD).Write " +
			"internal/poll.(*FD).writeLock internal/poll.(*fdMutex).rwlock", "write"},
		{fasthttpConn + "bufio.(*Reader).fill net.(*conn).Read net.(*netFD).Read internal/poll.(*FD).Read syscall.read " +
			kernel, "read"},
		{"main.main log.Println log.(*Logger).output os.(*File).Write internal/poll.(*FD).Write syscall.Write " + kernel,
			WorkHandler},
		{"os.ReadFile os.(*File).Read internal/poll.(*FD).Read syscall.read", WorkOther},
		{"runtime.mcall runtime.park_m runtime.schedule runtime.findRunnable runtime.netpoll " +
			"internal/runtime/syscall/linux.EpollWait", "scheduler"},
		{"gogo", "scheduler"},
		{fiberHandler + "runtime.newobject runtime.mallocgc runtime.gcAssistAlloc runtime.systemstack runtime.gcDrainN",
			WorkCollector},
		{fiberHandler + "gcWriteBarrier runtime.wbBufFlush", WorkCollector},
		{"runtime._GC", WorkCollector},
		{fiberHandler + "main.(*service).routes.func4 slices.SortFunc[go.shape.[]int] cmp.Compare[go.shape.int64]",
			WorkHandler},
		// HTTP code that the handler calls is HTTP's work.
		{fiberHandler + "github.com/gofiber/fiber/v3.(*DefaultRes).Send runtime.memmove", "http"},
		{httpHandler + "net/http.Header.Set net/textproto.CanonicalMIMEHeaderKey", "http"},
		{fasthttpConn + "github.com/valyala/fasthttp.(*URI).parse bytes.LastIndex", "http"},
		{"time.now", WorkOther},
		// The lab's packages, where they are and where published profiles have them.
		{"main.main main.(*loop).turn github.com/line-rate/line-rate/lab/servers/floor/request.(*Request).Read bytes.IndexByte",
			WorkHandler},
		{"main.main main.(*loop).turn github.com/line-rate/line-rate/lab/floor/request.(*Request).Read bytes.IndexByte",
			WorkHandler},
		{"main.main github.com/line-rate/line-rate/lab/servers/fanout/hub.(*shard).run runtime.chansend", "wait"},
		{"main.main github.com/line-rate/line-rate/lab/fanout/hub.(*shard).run runtime.chansend", "wait"},
		{"main.main github.com/line-rate/line-rate/lab/batch/study/event.Put encoding/binary.littleEndian.PutUint64", WorkHandler},
		{"main.main github.com/line-rate/line-rate/lab/study/event.Put encoding/binary.littleEndian.PutUint64", WorkHandler},
		// Other people's servers: their packages are the handler's, their frameworks are HTTP's.
		{"net/http.(*conn).serve example.com/shop/api.(*API).list encoding/json.Marshal", WorkHandler},
		{"net/http.(*conn).serve github.com/go-chi/chi/v5.(*Mux).ServeHTTP strings.Index", "http"},
		{"net/http.(*conn).serve vendor/golang.org/x/net/http/httpguts.ValidHeaderFieldName", "http"},
		{"example.com/loop.(*Loop).run golang.org/x/sys/unix.Write syscall.Syscall", "write"},
		{"runtime._ExternalCode", WorkOther},
		{"", WorkOther},
		{NoSymbol, WorkOther},

		// Mutex and block
		{fiberHandler + fakerLock + "sync.(*Mutex).Lock internal/sync.(*Mutex).Lock", "lock"},
		{httpConn + "net/http.(*connReader).lock sync.(*Mutex).Lock", "lock"},
		{"main.main sync.(*Once).doSlow main.load", WorkHandler},
		{httpConn + "net/http.(*connReader).abortPendingRead sync.(*Cond).Wait", "wait"},
		{fasthttpConn + "runtime.chanrecv2", "wait"},
		{fasthttpConn + "bufio.(*Reader).Peek net.(*conn).Read syscall.read syscall.Syscall runtime.entersyscall " +
			"runtime.reentersyscall runtime.unlock", "read"},

		// Profiling itself.
		{"net/http.(*conn).serve net/http/pprof.Index net/http/pprof.handler.serveDeltaProfile runtime.selectgo",
			"profiler"},
		{"runtime/pprof.profileWriter runtime/pprof.(*profileBuilder).addCPUData runtime.mallocgc", "profiler"},

		// Goroutine
		{"main.main net/http.(*Server).Serve net.(*TCPListener).Accept internal/poll.(*FD).Accept " +
			"internal/poll.runtime_pollWait runtime.gopark", "wait"},
		{"os/signal.loop os/signal.signal_recv runtime.notetsleepg", "wait"},
		{"main.main os/exec.(*Cmd).Wait os.(*Process).Wait syscall.wait4", "wait"},

		// Heap
		{"runtime.main main.main github.com/line-rate/line-rate/lab/server/catalog.New encoding/json.Marshal", WorkHandler},
		{"runtime.systemstack runtime.newproc.func1 runtime.newproc1 runtime.malg", "scheduler"},
	} {
		if got := WorkOf(strings.Fields(c.stack)); got != c.want {
			t.Errorf("%s\nis %s, want %s", c.stack, got, c.want)
		}
	}
}

func TestEveryKindOfWorkIsExplained(t *testing.T) {
	for _, w := range Works() {
		if w.Label == "" || !strings.HasSuffix(w.Doc, ".") || w.Work.Words() != w.Words || w.Words == "" {
			t.Errorf("%s: %+v", w.Work, w)
		}
	}
	for call, want := range map[string]Work{"writev": "write", "recvfrom": "read", "futex": "lock", "epoll_wait": "wait", "openat": ""} {
		if got := WorkOfCall(call); got != want {
			t.Errorf("%s is %q, want %q", call, got, want)
		}
	}
}

func TestTheTakingOfProfilesIsKnown(t *testing.T) {
	for name, want := range map[string]bool{
		"net/http/pprof.Profile": true, "runtime/pprof.profileWriter": true,
		Repository + "/lab/internal/profile/endpoint.window": true, Repository + "/lab/internal/profile.Take": false,
		// Names in published profiles, and names that the compiler gives to inlined functions.
		Repository + "/lab/internal/pprofsock.ServeOn.bounded.func4": true, "main.(*window).take": true,
		"main.servePprof.(*windows).handler.func1": true,
		"runtime/pprof.Do":                         false, "runtime/pprof.Do.deferwrap1": false, "main.serve": false, "net/http.(*conn).serve": false,
	} {
		if got := WorkOf([]string{name}) == "profiler"; got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := WorkOf([]string{"runtime/pprof.Do", "main.handle", "main.work"}); got != WorkHandler {
		t.Errorf("work under a label is %s", got)
	}
}
