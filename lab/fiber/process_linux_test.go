package main

import (
	"bufio"
	"encoding/json"
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

// patience is how long a test waits for what should take moments. It does not test speed;
// it only ends a test that would hang.
const patience = 20 * time.Second

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
	timeout := time.After(patience)
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
	case <-time.After(patience):
		p.t.Fatal("process does not exit")
	}
	timeout := time.After(patience)
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

func (p *process) health() Health {
	p.t.Helper()
	// A new connection for each request, since it is connections that are divided among
	// the workers.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	resp, err := client.Get("http://" + p.addr + "/healthz")
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	var h Health
	if err := json.NewDecoder(resp.Body).Decode(&h); err != nil {
		p.t.Fatal(err)
	}
	return h
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

	// Every worker answers, with the same pool, on one processor.
	seen := make(map[int]bool)
	for range 500 {
		h := p.health()
		want := Health{Status: "ok", PID: h.PID, Role: "worker", GOMAXPROCS: 1, Stack: "fiber", Index: "pool",
			PoolDigest: pool().Digest()}
		if h != want || !slices.Contains(workers, h.PID) {
			t.Fatalf("got %+v, want %+v with a pid of %v", h, want, workers)
		}
		if seen[h.PID] = true; len(seen) == 3 {
			break
		}
	}
	if len(seen) != 3 {
		t.Errorf("only %v of %v answer", seen, workers)
	}
}

func TestSettingsReachWorkers(t *testing.T) {
	p, _ := startMaster(t, "--index=gofakeit")
	if h := p.health(); h.Index != "gofakeit" {
		t.Errorf("a worker's index source is %q", h.Index)
	}
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
		want := Health{Status: "ok", PID: pid, Role: "single", GOMAXPROCS: 3, Stack: stack, Index: "pool",
			PoolDigest: pool().Digest()}
		if h := p.health(); h != want {
			t.Errorf("%s: got %+v, want %+v", stack, h, want)
		}
		conn := keepAlive(t, p.addr)
		defer conn.Close()
		p.signal(syscall.SIGTERM)
		if code := p.exitCode(); code != 0 || len(p.all) != 1 {
			t.Errorf("%s: exit code %d, stderr:\n%s", stack, code, strings.Join(p.all, "\n"))
		}
	}
}

func TestPrinted(t *testing.T) {
	for flag, want := range map[string]string{"--help": "GOMAXPROCS", "--version": "fiber v3"} {
		out, err := exec.Command(programtest.Path("fiber_server"), flag).Output()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v: %s", flag, err, out)
		}
	}
}
