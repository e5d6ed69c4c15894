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
)

// patience is how long a test waits for what should take moments. It is no claim
// of speed: it only ends a test that would hang.
const patience = 20 * time.Second

// A process is a server started by a test, with whatever it starts.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	addr  string
	lines chan string   // stderr, closed when no process holds it any more
	done  chan struct{} // closed when the first process has exited
	all   []string      // the lines read so far
}

// freeAddr returns an address nobody listens on.
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
func start(t *testing.T, addr string, env []string, args ...string) *process {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, addr: addr, lines: make(chan string, 100), done: make(chan struct{})}
	p.cmd = exec.Command(binary, args...)
	p.cmd.Stderr = w
	// Of this process's environment nothing that is a setting may come through.
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "GOMAXPROCS=3", "LISTEN_ADDR=" + addr}, env...)
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

// readLines reads stderr up to n lines that contain what, and returns these.
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

// exitCode waits for the process, and for everyone who shares its stderr.
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
		// The command's name, in parentheses, may hold anything.
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

// running reports whether pid is a process and not a zombie: who reaps an orphan
// is no concern of the server's.
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
	p = start(t, freeAddr(t), nil, args...)
	p.readLines(3, " worker ")
	workers = children(t, p.cmd.Process.Pid)
	if len(workers) != 3 {
		t.Fatalf("%d children, want 3", len(workers))
	}
	return p, workers
}

func (p *process) health() Health {
	p.t.Helper()
	// A connection of its own for each request, since that is what is dealt
	// out to the workers.
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
		want := Health{Status: "ok", PID: h.PID, Role: "worker", GOMAXPROCS: 1, Stack: "fiber", Index: "pool", PoolDigest: pool().Digest()}
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

func TestStop(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		p, workers := startMaster(t)
		conn := keepAlive(t, p.addr)
		began := time.Now()
		p.signal(sig)
		<-p.done
		if took := time.Since(began); took >= masterPatience {
			t.Errorf("%v: the master lost its patience with idle workers: %v", sig, took)
		}
		// Now, not soon: no worker outlives the master.
		if anyRunning(workers) {
			t.Errorf("%v: a worker outlives the master", sig)
		}
		if code := p.exitCode(); code != 0 {
			t.Errorf("%v: exit code %d, want 0", sig, code)
		}
		if n := len(p.all); n != 4 {
			t.Errorf("%v: a stop is not silent:\n%s", sig, strings.Join(p.all, "\n"))
		}
		conn.Close()
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

// halfAsked starts a server with the options of mode, and a request to it that
// goes no further than text; the connection ends with the test.
func halfAsked(t *testing.T, mode, text string) (*process, net.Conn) {
	t.Helper()
	p := start(t, freeAddr(t), nil, strings.Fields(mode)...)
	listeners := 1
	if mode == "--prefork=true" {
		listeners = 3
	}
	p.readLines(listeners, " listening ")
	conn, err := net.Dial("tcp4", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprint(conn, text)
	time.Sleep(200 * time.Millisecond) // let it be accepted and read
	return p, conn
}

// A request that one worker has begun to read is answered, though its siblings
// have nothing to do and could be gone at once.
func TestStopAnswersRequestInFlight(t *testing.T) {
	for _, mode := range []string{"--prefork=true", "--prefork=false", "--stack=fasthttp --prefork=false"} {
		p, conn := halfAsked(t, mode, "GET /simple HTTP/1.1\r\nHost: x\r\n")
		p.signal(syscall.SIGTERM)

		// No new connection is taken once all have begun to stop.
		deadline := time.Now().Add(patience)
		for {
			c, err := net.Dial("tcp4", p.addr)
			if err != nil {
				break
			}
			c.Close()
			if time.Now().After(deadline) {
				t.Fatalf("%s: connections are still taken", mode)
			}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(500 * time.Millisecond) // idle workers have drained by now
		fmt.Fprint(conn, "\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || string(body) != `{"message":"hi"}` {
			t.Errorf("%s: got %q, %v", mode, body, err)
		}
		if !resp.Close {
			t.Errorf("%s: the client is not told that the connection closes", mode)
		}
		if code := p.exitCode(); code != 0 {
			t.Errorf("%s: exit code %d, want 0", mode, code)
		}
	}
}

// Clients that never pause get every answer, and are told to go.
func TestStopUnderLoad(t *testing.T) {
	for _, mode := range []string{"--prefork=true", "--prefork=false"} {
		p := start(t, freeAddr(t), nil, mode)
		p.readLines(map[string]int{"--prefork=true": 3, "--prefork=false": 1}[mode], " listening ")

		const clients = 12
		answered := make(chan bool, clients)
		ended := make(chan error, clients)
		for range clients {
			go func() {
				ended <- untilClosed(p.addr, func() { answered <- true })
			}()
		}
		for range clients {
			select {
			case <-answered:
			case err := <-ended:
				t.Fatalf("%s: before the stop: %v", mode, err)
			}
		}
		p.signal(syscall.SIGTERM)
		for range clients {
			if err := <-ended; err != nil {
				t.Errorf("%s: a request got no answer: %v", mode, err)
			}
		}
		if code := p.exitCode(); code != 0 {
			t.Errorf("%s: exit code %d, want 0", mode, code)
		}
	}
}

// untilClosed sends one request after the other until a response says that the
// connection closes. It calls first after the first.
func untilClosed(addr string, first func()) error {
	conn, err := net.Dial("tcp4", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	br := bufio.NewReader(conn)
	for n := 0; ; n++ {
		if _, err := fmt.Fprint(conn, "GET /read HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			return err
		}
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return err
		}
		if n == 0 {
			first()
		}
		if resp.Close {
			return nil
		}
	}
}

// A client that never finishes its request does not hold up a stop.
func TestStopWithStuckRequest(t *testing.T) {
	for _, mode := range []string{"--prefork=true", "--prefork=false", "--stack=fasthttp --prefork=false"} {
		p, _ := halfAsked(t, mode, "GET /simple HTTP/1.1\r\n")
		began := time.Now()
		p.signal(syscall.SIGTERM)
		if code := p.exitCode(); code != 0 {
			t.Errorf("%s: exit code %d, want 0", mode, code)
		}
		// 2.1 s of drain, or 2.5 s of the master's patience, and slack for a
		// busy machine.
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: the stop took %v", mode, took)
		}
	}
}

func TestStopWhileStarting(t *testing.T) {
	for _, delay := range []time.Duration{0, 5, 20, 50, 80} {
		p := start(t, freeAddr(t), nil)
		p.readLines(1, " master ")
		time.Sleep(delay * time.Millisecond)
		p.signal(syscall.SIGTERM)
		if code := p.exitCode(); code != 0 {
			t.Errorf("after %d ms: exit code %d, want 0; stderr:\n%s", delay, code, strings.Join(p.all, "\n"))
		}
	}
}

func TestMasterKilled(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		p, workers := startMaster(t)
		if stopped {
			// A stopped worker cannot look for its master: this one
			// only the kernel can end.
			for _, pid := range workers {
				if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
			}
		}
		p.signal(syscall.SIGKILL)
		deadline := time.Now().Add(time.Second)
		for anyRunning(workers) {
			if time.Now().After(deadline) {
				for _, pid := range workers {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
				t.Fatalf("stopped %v: a worker outlives its killed master by a second", stopped)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// The master's last act is to see its workers gone, not only to have killed them.
func TestAwaitGone(t *testing.T) {
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	m := &master{workers: []int{child.Process.Pid}}
	go func() {
		time.Sleep(100 * time.Millisecond)
		_ = child.Process.Kill()
		_ = child.Wait()
	}()
	m.awaitGone()
	if running(child.Process.Pid) {
		t.Error("returned while a worker was running")
	}
}

func TestWorkerKilled(t *testing.T) {
	p, workers := startMaster(t)
	if err := syscall.Kill(workers[1], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.done
	if anyRunning(workers) {
		t.Error("a worker outlives the master")
	}
	if code := p.exitCode(); code != 4 {
		t.Errorf("exit code %d, want 4", code)
	}
	want := fmt.Sprintf("fiber_server: lost a worker (pid %d: signal: killed); stopping", workers[1])
	if len(p.all) != 5 || p.all[4] != want {
		t.Errorf("stderr:\n%s\nwant a last line %q", strings.Join(p.all, "\n"), want)
	}
}

// A worker told to stop by somebody else than the master is a worker lost.
func TestWorkerStopped(t *testing.T) {
	p, workers := startMaster(t)
	if err := syscall.Kill(workers[0], syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.exitCode(); code != 4 {
		t.Errorf("exit code %d, want 4", code)
	}
	want := fmt.Sprintf("fiber_server: lost a worker (pid %d: exit status 1); stopping", workers[0])
	if p.all[len(p.all)-1] != want {
		t.Errorf("stderr:\n%s\nwant a last line %q", strings.Join(p.all, "\n"), want)
	}
}

func TestAddressInUse(t *testing.T) {
	for _, first := range []string{"--prefork=true", "--prefork=false"} {
		for _, second := range []string{"--prefork=true", "--prefork=false"} {
			p := start(t, freeAddr(t), nil, first)
			p.readLines(map[string]int{"--prefork=true": 3, "--prefork=false": 1}[first], " listening ")
			other := start(t, p.addr, nil, second)
			if code := other.exitCode(); code != 3 {
				t.Errorf("%s after %s: exit code %d, want 3", second, first, code)
			}
			want := "fiber_server: " + p.addr + " is already in use; stop the other server or choose another with --addr"
			if len(other.all) != 1 || other.all[0] != want {
				t.Errorf("%s after %s: stderr:\n%s\nwant %q", second, first, strings.Join(other.all, "\n"), want)
			}
			p.health() // the first is none the worse
		}
	}
}

func TestAddressNotOurs(t *testing.T) {
	// 192.0.2.0/24 is for documentation: no interface has it.
	p := start(t, "192.0.2.1:8083", nil)
	if code := p.exitCode(); code != 1 || len(p.all) != 1 || !strings.Contains(p.all[0], "--addr") {
		t.Errorf("exit code %d, stderr:\n%s", code, strings.Join(p.all, "\n"))
	}
}

func TestRefusedSetting(t *testing.T) {
	p := start(t, freeAddr(t), []string{"INDEX_SOURCE=dice"})
	want := `fiber_server: INDEX_SOURCE: "dice" is not accepted; give pool or gofakeit`
	if code := p.exitCode(); code != 2 || len(p.all) != 1 || p.all[0] != want {
		t.Errorf("exit code %d, stderr:\n%s\nwant 2 and %q", code, strings.Join(p.all, "\n"), want)
	}
}

func TestWorkerWithoutMaster(t *testing.T) {
	p := start(t, freeAddr(t), []string{"FIBER_PREFORK_CHILD=1"})
	if code := p.exitCode(); code != 1 || len(p.all) != 1 || !strings.Contains(p.all[0], "FIBER_PREFORK_CHILD") {
		t.Errorf("exit code %d, stderr:\n%s", code, strings.Join(p.all, "\n"))
	}
}

func TestSingle(t *testing.T) {
	for _, stack := range []string{"fiber", "fasthttp", "net-http"} {
		p := start(t, freeAddr(t), []string{"PREFORK=false", "STACK=" + stack})
		pid := p.cmd.Process.Pid
		p.readLines(1, fmt.Sprintf("fiber_server: single pid=%d listening addr=%s", pid, p.addr))
		if got := children(t, pid); len(got) > 0 {
			t.Errorf("%s: children: %v", stack, got)
		}
		want := Health{Status: "ok", PID: pid, Role: "single", GOMAXPROCS: 3, Stack: stack, Index: "pool", PoolDigest: pool().Digest()}
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

func TestPprof(t *testing.T) {
	p := start(t, freeAddr(t), []string{"PPROF_ENABLE=1", "PPROF_ADDR=127.0.0.1:0", "INDEX_SOURCE=gofakeit"})
	pid := p.cmd.Process.Pid
	line := p.readLines(1, fmt.Sprintf("fiber_server: pprof pid=%d listening addr=", pid))[0]
	addr := line[strings.LastIndexByte(line, '=')+1:]
	p.readLines(1, " single ")
	if got := children(t, pid); len(got) > 0 {
		t.Errorf("children: %v", got)
	}
	if h := p.health(); h.Role != "single" || h.PID != pid {
		t.Errorf("got %+v", h)
	}
	if host, _, _ := net.SplitHostPort(addr); host != "127.0.0.1" {
		t.Errorf("pprof listens on %s", addr)
	}

	// A worker goroutine of fasthttp that waits this long for its next
	// connection is a blocking event that is always sampled.
	for range 3 {
		time.Sleep(20 * time.Millisecond)
		p.health()
	}

	client := http.Client{Timeout: patience}
	fetch := func(path string) (int, string) {
		t.Helper()
		resp, err := client.Get("http://" + addr + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	for _, tt := range []struct{ path, want string }{
		{"/debug/pprof/", "mutex"},
		{"/debug/pprof/mutex?debug=1", "sampling period=5\n"},
		{"/debug/pprof/block?debug=1", "fasthttp.(*workerPool)"},
		{"/debug/pprof/heap?debug=1", "heap profile:"},
		{"/debug/pprof/profile?seconds=1", ""},
	} {
		if status, body := fetch(tt.path); status != 200 || !strings.Contains(body, tt.want) {
			t.Errorf("%s: status %d, no %q in %.200q", tt.path, status, tt.want, body)
		}
	}
	// The lab's routes are not on it, and it is not on the lab's port.
	if status, _ := fetch("/read"); status != 404 {
		t.Errorf("/read on the pprof address: status %d", status)
	}
	resp, err := client.Get("http://" + p.addr + "/debug/pprof/")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 404 {
		t.Errorf("pprof on the server's own address: status %d", resp.StatusCode)
	}
}

func TestPprofAddressInUse(t *testing.T) {
	p := start(t, freeAddr(t), nil, "--prefork=false")
	p.readLines(1, " listening ")
	other := start(t, freeAddr(t), nil, "--pprof", "--pprof-addr="+p.addr)
	want := "fiber_server: " + p.addr + " is already in use; stop the other server or choose another with --pprof-addr"
	if code := other.exitCode(); code != 3 || len(other.all) != 1 || other.all[0] != want {
		t.Errorf("exit code %d, stderr:\n%s\nwant 3 and %q", code, strings.Join(other.all, "\n"), want)
	}
}

func TestPrinted(t *testing.T) {
	for flag, want := range map[string]string{"--help": "INDEX_SOURCE", "--version": "fiber v3"} {
		out, err := exec.Command(binary, flag).Output()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v: %s", flag, err, out)
		}
	}
}
