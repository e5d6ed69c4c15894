package kernel

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/program/programtest"
)

// As "trace PID" the test is a tracer of its own.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "trace" {
		pid, _ := strconv.Atoi(os.Args[2])
		_, err := Count(func() []int { return []int{pid} }, func() error {
			fmt.Println("traces")
			select {}
		})
		fmt.Println(err)
		return
	}
	programtest.Main(m, map[string]string{"floor_server": "../../../servers/floor"})
}

func TestStacksAreReadWhateverASymbolHasInIt(t *testing.T) {
	got := parse("\tffffffff816bba2a ksys_write ([kernel.kallsyms])\n\t           990bb syscall.write (/srv/two)\n\n" +
		"\t          c494db v8::internal::(anonymous namespace)::Invoke (/usr/bin/node)\n" +
		"\t    7f13d800f6af [unknown] (/tmp/perf-1.map)\n\t    7f13d800f6b0 [unknown] ([unknown])\n\n\n" +
		"\t  4a1b2c f(int (*)()) (/srv/old (deleted))\n\t  4a1b2d main.parse\n\tffff8000816bba2a")
	want := []Stack{
		{{true, "ksys_write", "[kernel.kallsyms]"}, {false, "syscall.write", "/srv/two"}},
		{{false, "v8::internal::(anonymous namespace)::Invoke", "/usr/bin/node"}, {false, "", "/tmp/perf-1.map"}, {}},
		{{false, "f(int (*)())", "/srv/old"}, {false, "main.parse", ""}, {Kernel: true}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
}

// stack is one of perf's, written innermost first as OBJECT:SYMBOL; k: is the kernel.
func stack(frames ...string) (s Stack) {
	for _, f := range frames {
		object, symbol, _ := strings.Cut(f, ":")
		s = append(s, Frame{Kernel: object == "k", Symbol: symbol, Object: object})
	}
	return s
}

func TestASampleHasOneKindOfWorkByItsWholeStack(t *testing.T) {
	const g, node, py = "/srv/go:", "/usr/bin/node:", "/usr/lib/libpython3.11.so.1.0:"
	for name, c := range map[string]struct {
		of   Stack
		want profile.Work
	}{
		"a write of Go": {stack("k:tcp_v4_rcv", "k:ksys_write", "k:do_syscall_64", g+"syscall.write", g+"net.(*conn).Write", g+"main.handle",
			g+"runtime.goexit.abi0"), "write"},
		"a log of Go": {stack("k:ksys_write", "k:do_syscall_64", g+"syscall.write", g+"os.(*File).Write", g+"main.handle", g+"runtime.goexit.abi0"),
			profile.WorkHandler},
		"a raw write of Go": {stack("k:tcp_v4_rcv", "k:__x64_sys_write", "k:do_syscall_64", g+"internal/runtime/syscall.Syscall6",
			g+"github.com/line-rate/line-rate/lab/servers/floor/loop.call", g+"main.main", g+"runtime.main"), "write"},
		"an assist":                    {stack(g+"runtime.scanobject", g+"runtime.gcAssistAlloc", g+"main.handle"), profile.WorkCollector},
		"scheduling":                   {stack("k:do_futex", g+"runtime.futex", g+"runtime.findRunnable", g+"runtime.mcall"), "scheduler"},
		"a page fault of a handler's":  {stack("k:clear_page", "k:exc_page_fault", g+"runtime.mallocgc", g+"main.handle"), profile.WorkHandler},
		"a write of arm64":             {stack("k:vfs_write", "k:__arm64_sys_write", "k:invoke_syscall", "k:el0_svc"), "write"},
		"a send":                       {stack("k:tcp_sendmsg", "k:__sys_sendto", "k:__x64_sys_sendto", "/srv/c:main"), "write"},
		"an inlined wait":              {stack("k:ep_poll", "k:do_epoll_wait", "k:do_syscall_64", node+"uv_run"), "wait"},
		"another call":                 {stack("k:do_filp_open", "k:__x64_sys_openat", "/lib/libc.so.6:open", node+"uv_run"), profile.WorkRuntime},
		"node itself":                  {stack("/lib/libc.so.6:memcpy", node+"v8::internal::Factory::New", node+"uv_run"), profile.WorkRuntime},
		"node's collector":             {stack(node+"v8::internal::Scavenger::Process", node+"uv_run"), profile.WorkCollector},
		"JavaScript":                   {stack("/tmp/perf-7.map:", node+"Builtins_JSEntry", node+"uv_run"), profile.WorkHandler},
		"python's collector":           {stack(py+"visit_decref", py+"gc_collect_main"), profile.WorkCollector},
		"an extension of python":       {stack("/lib/orjson.so:dumps", py+"_PyEval_EvalFrameDefault"), profile.WorkHandler},
		"a program in C":               {stack("/lib/libc.so.6:memcpy", "/usr/sbin/nginx:ngx_http_process"), profile.WorkHandler},
		"one with node in its name":    {stack("/srv/node-exporter:main"), profile.WorkHandler},
		"the kernel alone, and nobody": {stack("k:asm_sysvec_apic_timer_interrupt"), profile.WorkOther},
	} {
		if got := Analyse([]Stack{c.of}); got.Work[string(c.want)] != 1 || got.Events != 1 {
			t.Errorf("%s: %v, want %s", name, got.Work, c.want)
		}
	}
}

func TestTheClientsShareIsOfStacksThatHandAPacketOver(t *testing.T) {
	parsing, handing := stack("/srv/c:parse"), stack("k:tcp_v4_rcv", "k:__netif_receive_skb_one_core", "k:tcp_sendmsg")
	all := []Stack{}
	for range 100 {
		all = append(all, parsing, parsing, parsing, handing)
	}
	if share := ReceiveShare(all); share != 0.25 {
		t.Errorf("%v of 400 samples", share)
	}
	if share := ReceiveShare(all[1:]); share != 0 {
		t.Errorf("%v of 399 samples", share)
	}
}

// A thread that is never switched out is sampled for its time, one of another process is not.
func TestABusyProcessIsSampledAlone(t *testing.T) {
	if why := Usable(); why != "" {
		t.Skip(why)
	}
	busy := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = busy.Process.Kill(), busy.Wait() }()
	stacks, err := Record(t.Context(), []int{busy.Process.Pid}, 300*time.Millisecond)
	if err != nil || len(stacks) < 20 || len(stacks) > Hertz {
		t.Errorf("%d samples, %v", len(stacks), err)
	}
}

// floor starts the floor server, and gives its process and a client of one connection.
func floor(t *testing.T) (cmd *exec.Cmd, ask func(n int)) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	cmd = exec.Command(programtest.Path("floor_server"), "--addr="+addr, "--workers=1")
	errs, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	for lines := bufio.NewScanner(errs); lines.Scan() && !strings.Contains(lines.Text(), "listening"); {
	}
	go func() { _, _ = io.Copy(io.Discard, errs) }()
	client := http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	t.Cleanup(client.CloseIdleConnections)
	return cmd, func(n int) {
		t.Helper()
		for range n {
			r, err := client.Get("http://" + addr + "/simple")
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, r.Body)
			r.Body.Close()
		}
	}
}

// Package why counts calls. Whichever way a tracer ends, what it traced goes on.
func TestTracersLeaveProcessesAlone(t *testing.T) {
	server, ask := floor(t)
	ask(1)
	pids := func() []int { return []int{server.Process.Pid} }
	other := exec.Command(os.Args[0], "trace", strconv.Itoa(server.Process.Pid))
	out, err := other.StdoutPipe()
	if err == nil {
		err = other.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	_, refused := Count(pids, func() error { return nil })
	_, _ = other.Process.Kill(), other.Wait()
	if line != "traces\n" {
		t.Skip(line)
	}
	if refused == nil || !strings.Contains(refused.Error(), "traces it already; end that first") {
		t.Error(refused)
	}
	ask(3)
	for range 2 {
		c, err := Count(pids, func() error { ask(3); return nil })
		if err != nil || c["write"] != 3 {
			t.Errorf("%v, %v", c, err)
		}
		ask(3)
	}
	if c, err := Count(pids, server.Process.Kill); err == nil || !strings.Contains(err.Error(), "ended while its calls were counted") {
		t.Errorf("%v, %v", c, err)
	}
}
