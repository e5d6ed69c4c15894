package kinds

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/perf"
)

// stack is one of perf's, written innermost first as OBJECT:SYMBOL; k: is the kernel.
func stack(frames ...string) (s perf.Stack) {
	for _, f := range frames {
		object, symbol, _ := strings.Cut(f, ":")
		if object == "k" {
			s = append(s, perf.Frame{Kernel: true, Symbol: symbol, Object: "[kernel.kallsyms]"})
			continue
		}
		s = append(s, perf.Frame{Symbol: symbol, Object: object})
	}
	return s
}

func TestASampleOfPerfHasOneKindByItsWholeStack(t *testing.T) {
	const g, node, py = "/srv/go:", "/usr/bin/node:", "/usr/lib/libpython3.11.so.1.0:"
	goes := stack(g+"main.handle", g+"runtime.goexit.abi0") // by which /srv/go is known as Go's
	for name, c := range map[string]struct {
		of   perf.Stack
		want Kind
	}{
		"own code": {goes, Own},
		"a write": {stack("k:tcp_v4_rcv", "k:vfs_write", "k:ksys_write", "k:do_syscall_64",
			"k:entry_SYSCALL_64_after_hwframe", g+"syscall.write", g+"main.handle"), "system call: write"},
		"a write of arm64": {stack("k:vfs_write", "k:__arm64_sys_write", "k:invoke_syscall", "k:el0_svc"), "system call: write"},
		"a call of socket": {stack("k:tcp_sendmsg", "k:__sys_sendto", "k:__x64_sys_sendto", "k:do_syscall_64"),
			"system call: sendto"},
		"an inlined wait": {stack("k:ep_poll", "k:do_epoll_wait", "k:do_syscall_64"), "system call: epoll_wait"},
		"a call in the collector": {stack("k:do_futex", "k:__x64_sys_futex", "k:do_syscall_64", g+"runtime.futex",
			g+"runtime.gcBgMarkWorker"), "system call: futex"},
		"a nameless call": {stack("k:syscall_exit_to_user_mode", "k:do_syscall_64"), Calls},
		"a page fault":    {stack("k:clear_page", "k:exc_page_fault", g+"runtime.mallocgc", g+"main.handle"), Interrupt},
		"the collector":   {stack(g+"runtime.memmove", g+"runtime.scanobject", g+"runtime.gcDrain"), Collector},
		"an assist":       {stack(g+"runtime.scanobject", g+"runtime.gcAssistAlloc", g+"runtime.mallocgc", g+"main.handle"), Collector},
		"allocation":      {stack(g+"runtime.nextFreeFast", g+"runtime.mallocgc", g+"main.handle", g+"runtime.goexit.abi0"), Runtime},
		"scheduling":      {stack(g+"runtime.findRunnable", g+"runtime.schedule", g+"runtime.mcall"), Runtime},
		"node itself":     {stack("/lib/libc.so.6:memcpy", node+"v8::internal::Factory::New", node+"uv_run"), Runtime},
		"node's collector": {stack(node+"v8::internal::Scavenger::Process", node+"v8::internal::Heap::Scavenge", node+"uv_run"),
			Collector},
		"JavaScript":              {stack("/tmp/perf-7.map:", node+"Builtins_JSEntry", node+"uv_run"), Own},
		"python":                  {stack(py+"_PyEval_EvalFrameDefault", ":", ":"), Runtime},
		"python's collector":      {stack(py+"visit_decref", py+"dict_traverse", py+"gc_collect_main"), Collector},
		"an extension of python":  {stack("/lib/orjson.so:dumps", py+"_PyEval_EvalFrameDefault"), Own},
		"a program in C":          {stack("/lib/libc.so.6:memcpy", "/usr/sbin/nginx:ngx_http_process"), Own},
		"one with node in a name": {stack("/srv/node-exporter:main"), Own},
	} {
		if got := OfPerf([]perf.Stack{goes, c.of}); got.Of[c.want] < 1 || got.All != 2 || got.Nameless {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
	c := OfPerf([]perf.Stack{stack("k:", "k:", g+"main.f"), stack("/tmp/perf-7.map:", node+"uv_run"), stack("/srv/c:main")})
	if !c.Nameless || c.Unnamed != 1 || c.Of[Own] != 2 || c.Of[Interrupt] != 1 {
		t.Errorf("%+v", c)
	}
}

// sample is one of a profile, written outermost call first.
func sample(n int64, names ...string) *profile.Sample {
	s := &profile.Sample{Value: []int64{n, n * 1e7}}
	for _, name := range names {
		at := &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: name}}}}
		s.Location = append([]*profile.Location{at}, s.Location...)
	}
	return s
}

func TestAProfilesSamplesAreCountedByKind(t *testing.T) {
	const six = "internal/runtime/syscall/linux.Syscall6"
	got := OfProfile(&profile.Profile{Sample: []*profile.Sample{
		sample(5, "net/http.(*conn).serve", "net.(*conn).Write", "syscall.write", "syscall.Syscall", "syscall.RawSyscall6", six),
		sample(3, "net.(*conn).Write", "syscall.write", "syscall.Syscall", "runtime.exitsyscall"),
		sample(2, "runtime.netpoll", "internal/runtime/syscall/linux.EpollWait", six),
		sample(1, "runtime.mcall", "runtime.findRunnable", "runtime.futex"),
		sample(7, "runtime.gcBgMarkWorker", "runtime.systemstack", "runtime.gcDrain", "runtime.scanobject"),
		sample(4, "net/http.(*conn).serve", "main.handle", "encoding/json.Marshal"),
		sample(6, "net/http.(*conn).serve", "net/http/pprof.Profile", "compress/flate.(*compressor).deflate"),
		sample(8, "main.handle", "golang.org/x/sys/unix.Writev", "syscall.Syscall", six),
	}})
	want := map[Kind]int64{"system call: write": 5, Runtime: 3, "system call: epoll_wait": 2, "system call: futex": 1,
		Collector: 7, Own: 4, Profiler: 6, "system call: writev": 8}
	if !maps.Equal(got.Of, want) || got.All != 36 {
		t.Errorf("%+v, want %v", got, want)
	}
}
