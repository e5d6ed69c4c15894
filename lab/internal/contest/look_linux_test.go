package contest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	_ "net/http/pprof" // of the server that profiles itself
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
)

// The tests' servers are this program itself, called as "serve HOW ADDR" or, where they speak
// more than plain HTTP/1.1, as "serve HOW/SPOKEN ADDR", and so are what holds them and what loads them.
func TestMain(m *testing.M) {
	// tools/test.sh has it say that with the race detector no process waits a second at its end.
	proc.Passed = append(proc.Passed, "GORACE")
	if status, is := run.Called(os.Args[1:]); is {
		os.Exit(status)
	}
	if len(os.Args) == 4 && os.Args[1] == "serve" {
		if err := serve(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, "cannot serve:", err)
			os.Exit(7)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func serve(how, addr string) error {
	how, spoken, _ := strings.Cut(how, "/")
	var all atomic.Int64
	answer := func(w http.ResponseWriter, _ *http.Request) {
		asked := all.Add(1)
		switch {
		case how == "dies" && asked > 3:
			fmt.Fprintln(os.Stderr, "out of coffee")
			os.Exit(9)
		case how == "resets" && asked > 20:
			panic(http.ErrAbortHandler)
		case how == "rarely" && asked%500 == 0:
			w.WriteHeader(http.StatusInternalServerError)
		case how == "missing":
			w.WriteHeader(http.StatusNotFound)
		case how == "closes":
			w.Header().Set("Connection", "close")
		case how == "sleeps":
			time.Sleep(20 * time.Millisecond)
		case how == "spawns":
			done := make(chan bool)
			go func() {
				runtime.LockOSThread() // and never unlocked, so this thread ends
				close(done)
			}()
			<-done
		case how == "logs":
			fmt.Fprintln(os.Stderr, "GET /")
		}
		body := "an answer"
		if how == "twice" { // in two writes
			w.Header().Set("Content-Length", "9")
			fmt.Fprint(w, body[:2])
			_ = http.NewResponseController(w).Flush()
			body = body[2:]
		}
		if how == "wrong" {
			body = "an answEr"
		}
		fmt.Fprint(w, body)
	}
	switch how {
	case "ends":
		return fmt.Errorf("%s is not mine", addr)
	case "lacks":
		return errors.New("COMPARED_DATABASE is not set")
	case "slow":
		time.Sleep(400 * time.Millisecond)
	case "never":
		time.Sleep(time.Minute)
		return nil
	case "elsewhere":
		addr = "127.0.0.1:0"
	case "forks":
		// As a daemon does: a child in a session of its own, and the parent ends.
		c := exec.Command(os.Args[0], "serve", "fine", addr)
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := c.Start(); err != nil {
			return err
		}
		// At once: with the race detector os.Exit takes a second.
		_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
	}
	listen := net.ListenConfig{}
	if how == "shares" {
		listen.Control = func(_, _ string, c syscall.RawConn) error {
			return c.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
		}
	}
	l, err := listen.Listen(context.Background(), "tcp", addr)
	if err != nil {
		return err
	}
	if how == "profiles" {
		http.HandleFunc("/", answer)
		return http.Serve(l, nil)
	}
	switch spoken {
	case "tls", "tls2":
		s := httptest.NewUnstartedServer(http.HandlerFunc(answer))
		s.Listener.Close()
		s.Listener, s.EnableHTTP2 = l, spoken == "tls2"
		s.StartTLS()
		select {}
	case "http2":
		s := http.Server{Handler: http.HandlerFunc(answer), Protocols: new(http.Protocols)}
		s.Protocols.SetUnencryptedHTTP2(true)
		return s.Serve(l)
	}
	return http.Serve(l, http.HandlerFunc(answer))
}

// one is a server of the tests.
func testServer(t *testing.T, name, how string) Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Server{Name: name, Command: []string{self, "serve", how, "{addr}"}}
}

var client = Client{Lab: []string{os.Args[0]}}

func look(t *testing.T, change func(*Options), servers ...Server) ([]Look, []string, error) {
	t.Helper()
	o := Options{Path: "/", Servers: servers, Connections: 2, Pipelining: 1, Ready: 5 * time.Second}
	if change != nil {
		change(&o)
	}
	port, err := FreePorts(len(servers))
	if err != nil {
		t.Fatal(err)
	}
	looks, notes, err := LookAt(context.Background(), o, client, t.TempDir(), port)
	if left := proc.Descendants(os.Getpid())[1:]; len(left) > 0 {
		t.Errorf("processes %v were left behind", left)
	}
	if err := Listenable(port, len(servers)); err != nil {
		t.Errorf("something still listens: %v", err)
	}
	return looks, notes, err
}

func TestServersThatCannotBeComparedAreRefusedAndEnded(t *testing.T) {
	t.Setenv("COMPARED_DATABASE", "db:1")
	soon := func(o *Options) { o.Ready = 2 * time.Second }
	for _, c := range []struct {
		how    string
		change func(*Options)
		says   string
	}{
		{"ends", nil, "bad: its command ended before it answered (exit status 7): cannot serve: 127.0.0.1:"},
		{"dies", nil, "bad: it died while it was asked (exit status 9): out of coffee"},
		{"never", soon, "bad: it did not listen on 127.0.0.1:"},
		{"elsewhere", soon, "put {port} or {addr} where its own option takes them"},
		{"forks", nil, `bad: it went into the background: the command ended and left a process`},
		{"missing", nil, "bad: it answers GET / with status 404"},
		{"closes", nil, "bad: it closes the connection with each answer"},
		{"fine/tls", nil, "bad: it speaks HTTP/1.1 over TLS there, and was asked in HTTP/1.1; write https:// before its " +
			"address (of a command: --tls)"},
		{"fine/http2", nil, "bad: it speaks HTTP/2 there, and was asked in HTTP/1.1; add --http2"},
		{"resets", nil, "bad: under 2 connections with 1 requests in flight on each it failed: "},
		{"rarely", nil, "it failed: status 500"},
		{"lacks", nil, "do not inherit your COMPARED_DATABASE; begin the command with env COMPARED_DATABASE=…"},
	} {
		_, _, err := look(t, c.change, testServer(t, "bad", c.how), testServer(t, "good", "fine"))
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q in one line", c.how, err, c.says)
		}
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for says, s := range map[string]Server{
		"there is no ./nothing":        {Name: "bad", Command: []string{"./nothing", "{port}"}},
		"no program \"noprogramhere\"": {Name: "bad", Command: []string{"noprogramhere", "{port}"}},
		"is no program that can be":    {Name: "bad", Command: []string{text, "{port}"}},
	} {
		if _, _, err := look(t, nil, s, testServer(t, "good", "fine")); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// runs starts a server by itself, and gives where it listens.
func runs(t *testing.T, how, addr string) (at string, pid int) {
	t.Helper()
	if addr == "" {
		port, err := FreePorts(1)
		if err != nil {
			t.Fatal(err)
		}
		addr = fmt.Sprintf("127.0.0.1:%d", port)
	}
	c := exec.Command(os.Args[0], "serve", how, addr)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(5 * time.Millisecond) {
		if len(proc.Listens([]int{c.Process.Pid})) > 0 {
			return addr, c.Process.Pid
		}
	}
	t.Fatal("it does not listen")
	return "", 0
}

// of is a server that runs already.
func of(name, addr, subject string) Server {
	return Server{Name: name, URL: "http://" + addr, Subject: subject}
}

func lookAt(t *testing.T, connections int, servers ...Server) ([]Look, error) {
	t.Helper()
	found, err := Find(servers)
	if err != nil {
		return nil, err
	}
	o := Options{Path: "/", Servers: found, Connections: connections, Pipelining: 1, Steady: true, Budget: time.Second}
	looks, _, err := LookAt(t.Context(), o, client, "/", 0)
	return looks, err
}

func TestServersThatRunAndCannotBeComparedAreRefused(t *testing.T) {
	good, goodPID := runs(t, "fine", "")
	fine := of("good", good, fmt.Sprintf("pid:%d", goodPID))
	for how, says := range map[string]string{
		"missing":    "bad: it answers GET / with status 404",
		"closes":     "bad: it closes the connection with each answer",
		"fine/http2": "bad: it speaks HTTP/2 there",
		"wrong":      `differ from byte 8 on ("e", "E")`,
		"resets":     "bad: under 2 connections with 1 requests in flight on each it failed: ",
		"rarely":     "it failed: status 500",
	} {
		for _, watched := range []bool{false, true} {
			addr, pid := runs(t, how, "")
			bad := of("bad", addr, "")
			if watched {
				bad.Subject = fmt.Sprintf("pid:%d", pid)
			}
			if _, err := lookAt(t, 2, bad, fine); err == nil || !strings.Contains(err.Error(), says) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %s: %v, want %q in one line", how, bad.Subject, err, says)
			}
		}
	}
	addr, pid := runs(t, "dies", "")
	stranger, _ := runs(t, "fine", "")
	for _, c := range []struct{ addr, subject, says string }{
		{addr, fmt.Sprintf("pid:%d", pid), fmt.Sprintf("bad: process %d has ended", pid)},
		{addr, "pid:4194305", "bad: there is no process 4194305"},
		{addr, "cgroup:/there/is/none", "bad: there is no cgroup /there/is/none"},
		{addr, "cgroup:/", "bad: this call itself runs in the cgroup /"},
		{stranger, fine.Subject, fmt.Sprintf("listens on %s, and none of %s does", stranger, fine.Subject)},
	} {
		if _, err := lookAt(t, 2, of("bad", c.addr, c.subject), fine); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
}

// Else each would be told to cost half of what it does.
func TestAProcessThatAnswersPartOfTheLoadIsRefused(t *testing.T) {
	addr, pid := runs(t, "shares", "")
	_, other := runs(t, "shares", addr)
	s := of("part", addr, fmt.Sprintf("pid:%d", pid))
	_, err := lookAt(t, 16, s, s)
	if says := fmt.Sprintf("part: process %d", other); err == nil || !strings.Contains(err.Error(), says) ||
		!strings.Contains(err.Error(), "answered part of the load") {
		t.Errorf("%v, want %q", err, says)
	}
}

func TestAnswersThatDifferAreRefusedUnlessTheyMay(t *testing.T) {
	fine, wrong := testServer(t, "old", "fine"), testServer(t, "new", "wrong")
	_, _, err := look(t, nil, fine, wrong)
	if err == nil || !strings.Contains(err.Error(),
		`differ from byte 8 on ("E", "e"); --allow-different-answers goes on`) {
		t.Error(err)
	}
	_, notes, err := look(t, func(o *Options) { o.Different = true }, fine, wrong)
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "the answers are not the same") {
		t.Error(notes, err)
	}
}

func TestALookSaysHowLongAServerTakesToStart(t *testing.T) {
	looks, _, err := look(t, nil, testServer(t, "old", "slow"), testServer(t, "new", "fine"))
	if err != nil {
		t.Fatal(err)
	}
	if l := looks[0]; l.Start < 400*time.Millisecond || l.StartCPU <= 0 || l.Stop <= 0 {
		t.Errorf("%+v", l)
	}
}

func TestALookSaysWhatAServerPrintsAndHowFastItIs(t *testing.T) {
	looks, notes, err := look(t, nil, testServer(t, "old", "fine"), testServer(t, "new", "logs"))
	if err != nil {
		t.Fatal(err)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "new prints a line for each request") {
		t.Errorf("%q", notes)
	}
	for i, l := range looks {
		if !(l.Rate > 0) || len(l.Answers) != answersEach {
			t.Errorf("server %d: %v requests a second, %d answers", i, l.Rate, len(l.Answers))
		}
	}
}

type quiet struct{}

func (quiet) Begin(*experiment.Experiment, time.Duration, time.Duration) {}
func (quiet) Turn(int, int, int)                                         {}
func (quiet) Block(*results.File, []results.Trial)                       {}

func TestTheCostOfServersThatRunIsRead(t *testing.T) {
	o := options("old", "new")
	for i := range o.Servers {
		addr, pid := runs(t, "fine", "")
		o.Servers[i].Command, o.Servers[i].URL, o.Servers[i].Subject = nil, "http://"+addr, fmt.Sprintf("pid:%d", pid)
	}
	var err error
	if o.Servers, err = Find(o.Servers); err != nil {
		t.Fatal(err)
	}
	o.Path, o.Budget, o.Warmup = "/", time.Millisecond, 0
	x, err := o.Design("/", 50*time.Millisecond, nil)
	if err != nil {
		t.Fatal(err)
	}
	made, err := run.Do(t.Context(), run.Plan{Dir: "/", Scratch: t.TempDir(), Lab: client.Lab, Experiment: x, Seed: 3, Port: 1,
		Host: &host.Profile{ID: "a"}, Path: o.Path, Running: o.Addresses(), Budget: o.Budget,
		Split: cores.Split{Server: Affinity(o.Servers), Client: []int{0}}}, quiet{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range made.File.Trials {
		if !(tr.Metrics[cost] > 0) || !(tr.Metrics["server_cores_busy"] > 0) || tr.Metrics["calibration_before_s"] == 0 {
			t.Errorf("%s: %v", tr.Condition, tr.Metrics)
		}
	}
	out := assessed(t, o, made.File)
	if !strings.Contains(strings.Join(out.Notes, " "), "were not started afresh for each block") ||
		out.Comparisons[0].Verdict == compare.Uncosted {
		t.Errorf("%+v", out)
	}
}

func TestServersThatRunAreMeasuredFromOutside(t *testing.T) {
	o := options("old", "new")
	for i := range o.Servers {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "an answer") }))
		o.Servers[i].Command, o.Servers[i].URL = nil, "http://"+l.Addr().String()
	}
	o.Path, o.Budget, o.Warmup = "/", time.Millisecond, 0
	x, err := o.Design("/", 20*time.Millisecond, nil)
	if err != nil {
		t.Fatal(err)
	}
	made, err := run.Do(t.Context(), run.Plan{Dir: "/", Scratch: t.TempDir(), Lab: client.Lab, Experiment: x, Seed: 3, Port: 1,
		Host: &host.Profile{ID: "a"}, Path: o.Path, Running: o.Addresses(), Budget: o.Budget,
		Split: cores.Split{Client: []int{0}}}, quiet{})
	if err != nil {
		t.Fatal(err)
	}
	f := made.File
	if f.Provenance.Blocks != 1 || len(f.Trials) != 3 {
		t.Fatalf("%d blocks, %d trials: want one, of two servers and the control", f.Provenance.Blocks, len(f.Trials))
	}
	for _, tr := range f.Trials {
		if _, costed := tr.Metrics[cost]; costed || !(tr.Metrics[throughput] > 0) || !(tr.Metrics[p99] > 0) ||
			tr.Bound == "server-cpu" {
			t.Errorf("%s: %v, bound %s", tr.Condition, tr.Metrics, tr.Bound)
		}
	}
	out := assessed(t, o, f)
	if c := out.Comparisons[0]; c.Verdict != compare.Uncosted || c.CPUPerRequest != nil ||
		!strings.Contains(c.Says, "nothing is said of cost") {
		t.Errorf("%+v", c)
	}
}
