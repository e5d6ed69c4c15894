package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program/programtest"
)

// A process is a server started by a test, with all the processes that it starts.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	addr  string
	lines chan string   // stderr, closed when no process holds it any more
	done  chan struct{} // closed when the first process has exited
	all   []string      // the lines read so far
}

// freeAddr returns an address on which nothing listens.
func freeAddr(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// start runs the binary on addr with three workers, and ends it with the test.
func start(t *testing.T, addr string, args ...string) *process {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, addr: addr, lines: make(chan string, 100), done: make(chan struct{})}
	p.cmd = exec.Command(programtest.Path("fiber_server"), append([]string{"--addr=" + addr}, args...)...)
	p.cmd.Stderr = w
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GOMAXPROCS=3"}
	err = p.cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for sc := bufio.NewScanner(r); sc.Scan(); {
			p.lines <- sc.Text()
		}
	}()
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
		r.Close()
	})
	return p
}

// readLines reads stderr until n lines contain what, and returns these lines.
func (p *process) readLines(n int, what string) []string {
	p.t.Helper()
	var got []string
	timeout := time.After(programtest.Patience)
	for len(got) < n {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("%d lines with %q, want %d, in:\n%s", len(got), what, n, strings.Join(p.all, "\n"))
			}
			p.all = append(p.all, line)
			if strings.Contains(line, what) {
				got = append(got, line)
			}
		case <-timeout:
			p.t.Fatalf("timed out: %d lines with %q, want %d, in:\n%s", len(got), what, n, strings.Join(p.all, "\n"))
		}
	}
	return got
}

// exitCode waits for the process, and for every process that shares its stderr.
func (p *process) exitCode() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(programtest.Patience):
		p.t.Fatal("process does not exit")
	}
	timeout := time.After(programtest.Patience)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				return p.cmd.ProcessState.ExitCode()
			}
			p.all = append(p.all, line)
		case <-timeout:
			p.t.Fatal("a process outlives the one that was started")
		}
	}
}

func (p *process) signal(sig syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
}

// children returns the processes whose parent is pid.
func children(t *testing.T, pid int) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended meanwhile
		}
		// The command's name, in parentheses, may contain any character.
		rest := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		if rest[1] == strconv.Itoa(pid) {
			child, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, child)
		}
	}
	return got
}

// running reports whether pid is a process and not a zombie: the server is not
// responsible for reaping orphans.
func running(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	return strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))[0] != "Z"
}

func anyRunning(pids []int) bool { return slices.ContainsFunc(pids, running) }

// startMaster starts a server with three workers and waits until all listen.
func startMaster(t *testing.T, args ...string) (p *process, workers []int) {
	t.Helper()
	p = start(t, freeAddr(t), args...)
	p.readLines(3, " worker ")
	workers = children(t, p.cmd.Process.Pid)
	if len(workers) != 3 {
		t.Fatalf("%d children, want 3", len(workers))
	}
	return p, workers
}

func TestPrefork(t *testing.T) {
	p, workers := startMaster(t)

	var want []string
	for _, pid := range workers {
		want = append(want, fmt.Sprintf("fiber_server: worker pid=%d listening addr=%s", pid, p.addr))
	}
	want = append(want, fmt.Sprintf("fiber_server: master pid=%d workers=3 addr=%s", p.cmd.Process.Pid, p.addr))
	got := slices.Clone(p.all)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("stderr:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, pid := range workers {
		if got := children(t, pid); len(got) > 0 {
			t.Errorf("worker %d has children of its own: %v", pid, got)
		}
	}
	keepAlive(t, p.addr).Close()
}

// keepAlive returns a connection that has had a request answered and stays open.
func keepAlive(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp4", addr)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "GET /simple HTTP/1.1\r\nHost: x\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestSingle(t *testing.T) {
	for _, stack := range []string{"fiber", "fasthttp", "net-http"} {
		p := start(t, freeAddr(t), "--prefork=false", "--stack="+stack)
		pid := p.cmd.Process.Pid
		p.readLines(1, fmt.Sprintf("fiber_server: single pid=%d listening addr=%s", pid, p.addr))
		if got := children(t, pid); len(got) > 0 {
			t.Errorf("%s: children: %v", stack, got)
		}
		conn := keepAlive(t, p.addr)
		defer conn.Close()
		p.signal(syscall.SIGTERM)
		if code := p.exitCode(); code != 0 || len(p.all) != 1 {
			t.Errorf("%s: exit code %d, stderr:\n%s", stack, code, strings.Join(p.all, "\n"))
		}
	}
}

func TestHelp(t *testing.T) {
	out, err := exec.Command(programtest.Path("fiber_server"), "--help").Output()
	for _, want := range []string{"GOMAXPROCS", "no-router", "/read-gz", "--block-rate-ns"} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("no %s: %v: %s", want, err, out)
		}
	}
}

// A worker that ends without being told to by the master counts as lost, whatever ended it.
func TestWorkerLost(t *testing.T) {
	for sig, ended := range map[syscall.Signal]string{syscall.SIGKILL: "signal: killed", syscall.SIGTERM: "exit status 0"} {
		dir := socketDir(t)
		p, workers := startMaster(t, "--pprof-sockets="+dir)
		if err := syscall.Kill(workers[1], sig); err != nil {
			t.Fatal(err)
		}
		<-p.done
		if anyRunning(workers) {
			t.Error("a worker outlives the master")
		}
		if code := p.exitCode(); code != statusLost {
			t.Errorf("exit code %d, want 4", code)
		}
		want := fmt.Sprintf("fiber_server: lost a worker (pid %d: %s); stopping", workers[1], ended)
		if p.all[len(p.all)-1] != want {
			t.Errorf("stderr:\n%s\nwant a last line %q", strings.Join(p.all, "\n"), want)
		}
		if left := sockets(t, dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// A master that is killed takes its workers with it, even those that are stopped and cannot look for it. Their
// sockets stay, and the next server in the same directory works.
func TestMasterKilled(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		dir := socketDir(t)
		p, workers := startMaster(t, "--pprof-sockets="+dir)
		for _, pid := range workers {
			if stopped {
				_ = syscall.Kill(pid, syscall.SIGSTOP)
			}
		}
		p.signal(syscall.SIGKILL)
		eventually(t, "no worker outlives its killed master", func() bool { return !anyRunning(workers) })
		stale := sockets(t, dir)
		second, _ := startMaster(t, "--pprof-sockets="+dir)
		second.signal(syscall.SIGTERM)
		if code := second.exitCode(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		if left := sockets(t, dir); len(stale) != 3 || !slices.Equal(left, stale) {
			t.Errorf("left %v, want those of the first only: %v", left, stale)
		}
	}
}

func TestAddressInUse(t *testing.T) {
	for _, first := range []string{"--prefork=true", "--prefork=false"} {
		for _, second := range []string{"--prefork=true", "--prefork=false"} {
			p := start(t, freeAddr(t), first)
			p.readLines(map[string]int{"--prefork=true": 3, "--prefork=false": 1}[first], " listening ")
			other := start(t, p.addr, second)
			want := "fiber_server: " + p.addr + " is already in use; stop the other server or choose another with --addr"
			if code := other.exitCode(); code != 3 || !slices.Equal(other.all, []string{want}) {
				t.Errorf("%s after %s: exit code %d, stderr:\n%s\nwant 3 and %q", second, first, code, strings.Join(other.all, "\n"), want)
			}
			keepAlive(t, p.addr).Close() // the first server still answers
		}
	}
}

func TestRefusedCalls(t *testing.T) {
	for _, c := range []struct {
		addr, flag string
		code       int
		want       string
	}{
		{"192.0.2.1:8083", "--prefork", 1, "--addr"}, // of documentation: no interface has it
		{freeAddr(t), "--index=dice", 2, `invalid value "dice" for flag -index: give pool or gofakeit; see --help`},
		{freeAddr(t), "--pprof-sockets=/dev/no", 2, "make one with mkdir"},
	} {
		p := start(t, c.addr, c.flag)
		if code := p.exitCode(); code != c.code || len(p.all) != 1 || !strings.Contains(p.all[0], c.want) {
			t.Errorf("exit code %d, stderr:\n%s", code, strings.Join(p.all, "\n"))
		}
	}
}
