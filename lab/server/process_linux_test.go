package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"
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
func freeAddr(t *testing.T) string { return fmt.Sprintf("127.0.0.1:%d", programtest.FreePorts(t, 1)) }

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

// next reads a line of stderr, if there comes another.
func (p *process) next() (line string, more bool) {
	p.t.Helper()
	select {
	case line, more = <-p.lines:
		if more {
			p.all = append(p.all, line)
		}
	case <-time.After(programtest.Patience):
		p.t.Fatalf("it neither ends nor says more than:\n%s", strings.Join(p.all, "\n"))
	}
	return line, more
}

// readLines reads stderr until n lines contain what.
func (p *process) readLines(n int, what string) {
	p.t.Helper()
	for n > 0 {
		line, more := p.next()
		if !more {
			p.t.Fatalf("%d lines with %q are missing in:\n%s", n, what, strings.Join(p.all, "\n"))
		}
		if strings.Contains(line, what) {
			n--
		}
	}
}

// ends waits for the process, and for every process that shares its stderr.
func (p *process) ends(code int) {
	p.t.Helper()
	for more := true; more; {
		_, more = p.next()
	}
	if <-p.done; p.cmd.ProcessState.ExitCode() != code {
		p.t.Errorf("exit code %d, want %d, after:\n%s", p.cmd.ProcessState.ExitCode(), code, strings.Join(p.all, "\n"))
	}
}

func (p *process) signal(sig syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
}

// children are the process's, and theirs.
func (p *process) children() []int { return proc.Descendants(p.cmd.Process.Pid)[1:] }

// anyRunning reports whether one is a process and not a zombie: the server is not responsible for reaping orphans.
func anyRunning(pids []int) bool {
	return slices.ContainsFunc(pids, func(pid int) bool {
		s, err := proc.ReadStat(pid)
		return err == nil && s.State != 'Z'
	})
}

// eventually waits for something that takes a moment.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(programtest.Patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", programtest.Patience, what)
		}
	}
}

// startMaster starts a server with three workers and waits until all listen.
func startMaster(t *testing.T, args ...string) (p *process, workers []int) {
	t.Helper()
	p = start(t, freeAddr(t), args...)
	p.readLines(3, " worker ")
	if workers = p.children(); len(workers) != 3 {
		t.Fatalf("children %v, want 3", workers)
	}
	return p, workers
}

// keepAlive returns a connection that has had a request answered and stays open until the test ends.
func keepAlive(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprint(conn, "GET /simple HTTP/1.1\r\nHost: x\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
	}
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// Master and workers say who they are, serve either version of IP, and end when asked, with the sockets of their
// profiles, in silence, before the master does.
func TestPrefork(t *testing.T) {
	for sig, host := range map[syscall.Signal]string{syscall.SIGINT: "127.0.0.1", syscall.SIGTERM: "[::1]"} {
		ln, err := net.Listen("tcp", host+":0")
		if err != nil {
			t.Logf("not on %s: %v", host, err)
			continue
		}
		ln.Close()
		dir := socketDir(t)
		p := start(t, ln.Addr().String(), "--pprof-sockets="+dir, "--mutex-fraction=3")
		p.readLines(3, " worker ")
		workers := p.children()
		want := []string{fmt.Sprintf("fiber_server: master pid=%d workers=3 addr=%s", p.cmd.Process.Pid, p.addr)}
		for _, pid := range workers {
			up := fmt.Sprintf("fiber_server: pprof pid=%d listening addr=%s/%d.sock", pid, dir, pid)
			serves := fmt.Sprintf("fiber_server: worker pid=%d listening addr=%s", pid, p.addr)
			if slices.Index(p.all, up) > slices.Index(p.all, serves) {
				t.Errorf("worker %d listens before its profiles are up:\n%s", pid, strings.Join(p.all, "\n"))
			}
			want = append(want, up, serves)
		}
		if !slices.Equal(slices.Sorted(slices.Values(p.all)), slices.Sorted(slices.Values(want))) {
			t.Errorf("stderr:\n%s\nwant:\n%s", strings.Join(p.all, "\n"), strings.Join(want, "\n"))
		}
		profiled(t, dir, workers, "sampling period=3\n")
		keepAlive(t, p.addr)
		began := time.Now()
		p.signal(sig)
		<-p.done
		if anyRunning(workers) { // at once, without waiting
			t.Error("a worker outlives the master")
		}
		if took := time.Since(began); took >= patience {
			t.Errorf("the master lost its patience with idle workers: %v", took)
		}
		p.ends(0)
		if left := sockets(t, dir); len(p.all) != len(want) || len(left) > 0 {
			t.Errorf("left behind: %v; stderr:\n%s", left, strings.Join(p.all, "\n"))
		}
	}
}

func TestSingle(t *testing.T) {
	for _, stack := range []string{stackFiber, stackFastHTTP, stackNetHTTP} {
		dir := socketDir(t)
		p := start(t, freeAddr(t), "--prefork=false", "--stack="+stack, "--pprof-sockets="+dir)
		p.readLines(1, " single ")
		pid := p.cmd.Process.Pid
		want := []string{fmt.Sprintf("fiber_server: pprof pid=%d listening addr=%s/%d.sock", pid, dir, pid),
			fmt.Sprintf("fiber_server: single pid=%d listening addr=%s", pid, p.addr)}
		if more := p.children(); len(more) > 0 {
			t.Errorf("%s: children: %v", stack, more)
		}
		profiled(t, dir, []int{pid}, "sampling period=5\n")
		keepAlive(t, p.addr)
		p.signal(syscall.SIGTERM)
		p.ends(0)
		if left := sockets(t, dir); !slices.Equal(p.all, want) || len(left) > 0 {
			t.Errorf("%s: left behind: %v; stderr:\n%s", stack, left, strings.Join(p.all, "\n"))
		}
	}
}

// A worker that ends without being told to by the master counts as lost, whatever ended it.
func TestWorkerLost(t *testing.T) {
	for sig, ended := range map[syscall.Signal]string{syscall.SIGKILL: "signal: killed", syscall.SIGTERM: "exit status 0"} {
		p, workers := startMaster(t)
		if err := syscall.Kill(workers[1], sig); err != nil {
			t.Fatal(err)
		}
		<-p.done
		if anyRunning(workers) {
			t.Error("a worker outlives the master")
		}
		p.ends(statusLost)
		want := fmt.Sprintf("fiber_server: lost a worker (pid %d: %s); stopping", workers[1], ended)
		if p.all[len(p.all)-1] != want {
			t.Errorf("stderr:\n%s\nwant a last line %q", strings.Join(p.all, "\n"), want)
		}
	}
}

// A master that is killed takes its workers with it, even those that are stopped and cannot look for it. Their
// sockets stay, and the next server in the same directory works.
func TestMasterKilled(t *testing.T) {
	dir := socketDir(t)
	p, workers := startMaster(t, "--pprof-sockets="+dir)
	_ = syscall.Kill(workers[0], syscall.SIGSTOP)
	p.signal(syscall.SIGKILL)
	eventually(t, "no worker outlives its killed master", func() bool { return !anyRunning(workers) })
	second, _ := startMaster(t, "--pprof-sockets="+dir)
	second.signal(syscall.SIGTERM)
	second.ends(0)
}

func TestAddressInUse(t *testing.T) {
	for _, first := range []string{"--prefork=true", "--prefork=false"} {
		for _, second := range []string{"--prefork=true", "--prefork=false"} {
			p := start(t, freeAddr(t), first)
			p.readLines(map[string]int{"--prefork=true": 3, "--prefork=false": 1}[first], " listening ")
			other := start(t, p.addr, second)
			other.ends(3)
			want := "fiber_server: " + p.addr + " is already in use; stop the other server or choose another with --addr"
			if !slices.Equal(other.all, []string{want}) {
				t.Errorf("%s after %s: stderr:\n%s\nwant %q", second, first, strings.Join(other.all, "\n"), want)
			}
			keepAlive(t, p.addr) // the first server still answers
		}
	}
}

func TestCalls(t *testing.T) {
	programtest.Calls{
		{[]string{"--help"}, 0, "GOMAXPROCS, a variable of Go's own"},
		{[]string{"--help"}, 0, "no-router          the handler of"},
		{[]string{"--help"}, 0, "/read-gz  the same products"},
		{[]string{"--addr=192.0.2.1:8083"}, 1, "--addr"}, // of documentation: no interface has it
		{[]string{"--index=dice"}, 2, `invalid value "dice" for flag -index: give pool or gofakeit; see --help`},
		{[]string{"--pprof-sockets=/dev/no"}, 2, "make one with mkdir"},
	}.Check(t, programtest.Path("fiber_server"))
}
