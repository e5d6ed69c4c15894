package proc

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// helper, set in the environment, makes this test binary play a lab that a test kills: it starts its arguments.
const helper = "LEASH_TEST_LAB"

func TestMain(m *testing.M) {
	if os.Getenv(holding) != "" {
		os.Exit(Hold(os.Args[1:], os.Stdin, os.Stderr))
	}
	if how := os.Getenv(helper); how != "" {
		s := Spec{Argv: os.Args[1:]}
		if how == "held" {
			s = Spec{Argv: os.Args, Env: []string{holding + "=1"}, Held: true}
		}
		if _, err := Start(s); err != nil {
			panic(err)
		}
		select {}
	}
	os.Exit(m.Run())
}

// alive tells whether a process runs; a zombie does not.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// The state follows the name, which may contain anything.
	_, rest, _ := strings.Cut(string(text[bytes.LastIndexByte(text, ')'):]), " ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// within waits for what takes the kernel a moment.
func within(limit time.Duration, done func() bool) bool {
	for end := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) {
		if done() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// lines collects a process's output, and lets a test wait for a number of
// lines.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) add(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, text)
}

func (l *lines) wait(t *testing.T, n int) []string {
	t.Helper()
	if !within(10*time.Second, func() bool { l.mu.Lock(); defer l.mu.Unlock(); return len(l.all) >= n }) {
		t.Fatalf("the process did not say %d lines: %q", n, l.all)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

func start(t *testing.T, s Spec) *Proc {
	t.Helper()
	p, err := Start(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop(p.Pid(), 0) })
	return p
}

func pid(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestStopEndsAProcessAndItsChildren(t *testing.T) {
	var said lines
	p := start(t, Spec{Argv: []string{"sh", "-c", "sleep 300 & echo $!; wait"}, Lines: said.add})
	child := pid(t, said.wait(t, 1)[0])
	if !alive(p.Pid()) || !alive(child) {
		t.Fatal("they do not run")
	}
	if err := p.Stop(p.Pid(), 10*time.Second); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Done():
	default:
		t.Error("Stop came back before the end")
	}
	if alive(p.Pid()) || !within(5*time.Second, func() bool { return !alive(child) }) {
		t.Error("something stayed behind")
	}
}

func TestStopAsksBeforeItKills(t *testing.T) {
	var said lines
	p := start(t, Spec{Argv: []string{"sh", "-c",
		`trap 'echo goodbye; exit 7' TERM; echo ready; while :; do sleep 0.05; done`}, Lines: said.add})
	said.wait(t, 1)
	if err := p.Stop(p.Pid(), 30*time.Second); err != nil {
		t.Fatal(err)
	}
	if p.LastLine() != "goodbye" || p.ExitCode() != 7 {
		t.Errorf("last line %q, status %d; it was not left to end by itself", p.LastLine(), p.ExitCode())
	}
}

func TestStopAsksTheProcessThatDoesTheWork(t *testing.T) {
	var said lines
	p := start(t, Spec{Argv: []string{"sh", "-c",
		`trap 'echo wrapper asked' TERM; sh -c 'trap "echo worker done; exit 0" TERM; echo $$; while :; do sleep 0.05; done'; echo wrapper done`}, Lines: said.add})
	worker := pid(t, said.wait(t, 1)[0])
	if err := p.Stop(worker, 30*time.Second); err != nil {
		t.Fatal(err)
	}
	if got := said.wait(t, 3); !slices.Equal(got[1:], []string{"worker done", "wrapper done"}) {
		t.Errorf("they said %q", got)
	}
	if p.Err() != nil {
		t.Errorf("the wrapper ended with %v", p.Err())
	}
}

func TestASecondStopIsHarmless(t *testing.T) {
	p := start(t, Spec{Argv: []string{"sleep", "300"}})
	for range 3 {
		if err := p.Stop(p.Pid(), 10*time.Second); err != nil {
			t.Error(err)
		}
	}
	// Stopping a process that has ended, or stopping twice at the same time, does
	// no harm.
	p = start(t, Spec{Argv: []string{"true"}})
	<-p.Done()
	if err := p.Stop(p.Pid(), 0); err != nil {
		t.Error(err)
	}
	p = start(t, Spec{Argv: []string{"sleep", "300"}})
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if err := p.Stop(p.Pid(), 10*time.Second); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
}

func TestHowAProcessEnded(t *testing.T) {
	for _, c := range []struct {
		name, script string
		status       int
		failed       bool
		last         string
	}{
		{"well", "exit 0", 0, false, ""},
		{"with a status", "echo first >&2; echo why >&2; exit 4", 4, true, "why"},
		{"by a signal", "kill -KILL $$", -1, true, ""},
		{"without a newline at the end", "printf 'cut off' >&2; exit 1", 1, true, "cut off"},
		{"with a blank line at the end", `printf 'x\n\n' >&2`, 0, false, ""},
		// It reads standard output with standard error unless the caller redirects it.
		{"saying it on standard output", "echo out", 0, false, "out"},
		{"after many lines", "i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo $i; done", 0, false, "100"},
	} {
		p := start(t, Spec{Argv: []string{"sh", "-c", c.script}})
		<-p.Done()
		if p.ExitCode() != c.status || (p.Err() != nil) != c.failed || p.LastLine() != c.last {
			t.Errorf("%s: status %d, %v, last line %q; want %d, failed %v, %q", c.name, p.ExitCode(), p.Err(), p.LastLine(),
				c.status, c.failed, c.last)
		}
	}
}

func TestOutputErrorDirectoryAndEnvironment(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	var said lines
	p := start(t, Spec{
		Dir: dir, Argv: []string{"sh", "-c", `pwd; echo "$LEASH_TEST_WORD"; echo to-error >&2`},
		Env: []string{"LEASH_TEST_WORD=word"}, Stdout: &out, Lines: said.add,
	})
	<-p.Done()
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), resolved+"\nword\n"; got != want {
		t.Errorf("standard output %q, want %q", got, want)
	}
	if got := said.wait(t, 1); !slices.Equal(got, []string{"to-error"}) || p.LastLine() != "to-error" {
		t.Errorf("lines %q, last %q", got, p.LastLine())
	}
}

// The caller's variables must not affect a trial.
func TestTheCallersEnvironmentDoesNotReachAProcess(t *testing.T) {
	for _, name := range []string{"GOGC", "GODEBUG", "GOMAXPROCS", "NODE_OPTIONS", "BASH_ENV",
		"LC_MESSAGES"} {
		t.Setenv(name, "1")
	}
	t.Setenv("LC_ALL", "tlh")
	var out bytes.Buffer
	p := start(t, Spec{Argv: []string{"env"}, Env: []string{"LEASH_TEST_WORD=word"}, Stdout: &out})
	<-p.Done()
	got := strings.Fields(out.String())
	slices.Sort(got)
	if want := []string{"LC_ALL=C", "LEASH_TEST_WORD=word", "PATH=" + os.Getenv("PATH")}; !slices.Equal(got, want) {
		t.Errorf("it starts with %q, want %q", got, want)
	}
	// Other variables that a process needs are passed on by name.
	if got := Caller("GOGC", "LEASH_TEST_NOT_THERE"); !slices.Equal(got, []string{"GOGC=1"}) {
		t.Errorf("the caller's are %q", got)
	}
}

func TestInputIsHandedOn(t *testing.T) {
	r, w := io.Pipe()
	var said lines
	p := start(t, Spec{Argv: []string{"sh", "-c", `read -r line; echo "got $line"; cat; echo end`}, Stdin: r,
		Lines: said.add})
	fmt.Fprintln(w, "hello")
	if got := said.wait(t, 1); got[0] != "got hello" {
		t.Errorf("%q", got)
	}
	// A wire's holder ends when its input ends.
	w.Close()
	said.wait(t, 2)
	<-p.Done()
}

func TestWhatCannotBeStartedIsAnError(t *testing.T) {
	for _, argv := range [][]string{{"no-such-program-anywhere"}, {filepath.Join(t.TempDir(), "nothing")},
		{os.TempDir()}} {
		if p, err := Start(Spec{Argv: argv}); err == nil {
			t.Errorf("%v started as %d", argv, p.Pid())
		}
	}
}

// A daemon that keeps the pipe open must not block the lab.
func TestAChildThatKeepsTheOutputOpenDoesNotHoldUpTheEnd(t *testing.T) {
	p := start(t, Spec{Argv: []string{"sh", "-c", "sleep 300 & exit 0"}})
	if !within(20*time.Second, func() bool {
		select {
		case <-p.Done():
			return true
		default:
			return false
		}
	}) {
		t.Fatal("it is still waited for")
	}
	if p.Err() != nil || p.ExitCode() != 0 {
		t.Errorf("%v, status %d", p.Err(), p.ExitCode())
	}
}

// For the kernel the parent is the thread that started a process. A goroutine
// that ends while locked to its thread ends the thread too. Hundreds do so
// here, so that no thread of the caller that might have started the process is
// left.
func TestALeashHoldsLongerThanTheThreadsOfTheCaller(t *testing.T) {
	var p *Proc
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		p, err = Start(Spec{Argv: []string{"sleep", "300"}})
	}()
	<-ended
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop(p.Pid(), 0) })
	for range 50 {
		var all sync.WaitGroup
		for range 16 {
			all.Go(runtime.LockOSThread)
		}
		all.Wait()
	}
	// The kernel kills within a moment, if it does; something must happen until
	// then.
	for range 5 {
		_ = exec.Command("true").Run()
	}
	if !alive(p.Pid()) {
		t.Error("it died with a thread")
	}
}
