package probe

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary is its own traced child, and its own lab to be killed.
const (
	beTraced = "PROBE_TEST_TRACED"
	beLab    = "PROBE_TEST_LAB"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(beTraced) != "":
		traced()
	case os.Getenv(beLab) != "":
		lab()
	default:
		os.Exit(m.Run())
	}
}

// traced makes calls when it is told how many: half on the thread it runs on,
// half on a thread that did not exist when the tracer came.
func traced() {
	call := func(n int) {
		for range n {
			syscall.Write(-1, nil) // refused, and a system call all the same
		}
	}
	fmt.Println("up")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var n int
		fmt.Sscan(in.Text(), &n)
		call(n / 2)
		done := make(chan struct{})
		go func() {
			defer close(done)
			runtime.LockOSThread() // with main on its own, a thread of its own
			call(n - n/2)
		}()
		<-done
		fmt.Println("done")
	}
}

// lab attaches to the process whose id it is told, says so, and waits.
func lab() {
	var pid int
	fmt.Sscan(os.Getenv(beLab), &pid)
	p, err := Start([]int{pid})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(p.proc.Pid())
	select {}
}

type child struct {
	*exec.Cmd
	in  io.Writer
	out *bufio.Scanner
}

func start(t *testing.T, env string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), env)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	c := &child{cmd, in, bufio.NewScanner(out)}
	return c
}

func (c *child) line(t *testing.T) string {
	t.Helper()
	if !c.out.Scan() {
		t.Fatal("the child has ended")
	}
	return c.out.Text()
}

func (c *child) calls(t *testing.T, n int) {
	t.Helper()
	fmt.Fprintln(c.in, n)
	if said := c.line(t); said != "done" {
		t.Fatal(said)
	}
}

// attach starts one of the tracers, or skips the test with its reason.
func attach(t *testing.T, with func([]int, string) (*Probe, error), pids ...int) *Probe {
	t.Helper()
	dir := t.TempDir()
	p, err := with(pids, dir)
	if err != nil {
		t.Skip(err)
	}
	p.dir = dir
	t.Cleanup(p.end)
	return p
}

var tracers = []struct {
	name string
	with func([]int, string) (*Probe, error)
}{{"perf", perf}, {"strace", strace}}

func TestCallsAreCountedBetweenTheTwoMoments(t *testing.T) {
	for _, tracer := range tracers {
		t.Run(tracer.name, func(t *testing.T) {
			a, b := start(t, beTraced+"=1"), start(t, beTraced+"=1")
			a.line(t)
			b.line(t)
			a.calls(t, 500) // before: not to be counted
			p := attach(t, tracer.with, a.Process.Pid, b.Process.Pid)
			a.calls(t, 3000)
			b.calls(t, 1000)
			counts, err := p.Stop()
			if err != nil {
				t.Fatal(err)
			}
			// The children also write their own lines, and no more than that.
			if n := counts["write"]; n < 4000 || n > 4010 {
				t.Errorf("%d writes, 4000 and a few were made: %v", n, counts)
			}
			if counts.Total() < counts["write"] {
				t.Errorf("%d in all: %v", counts.Total(), counts)
			}
			// Both go on untraced, and nothing of the tracer is left.
			a.calls(t, 10)
			b.calls(t, 10)
			if _, err := os.Stat(p.dir); err == nil {
				t.Error("its files stay behind")
			}
			for _, c := range []*child{a, b} {
				if by := tracerOf(t, c.Process.Pid); by != "0" {
					t.Errorf("still traced, by %s", by)
				}
			}
		})
	}
}

// On a machine that was just started nobody has mounted the tracepoints. The
// test is run again where that is so: in a mount namespace of its own.
func TestTheFirstCountNamesItsCalls(t *testing.T) {
	const fresh = `for d in /sys/kernel/tracing /sys/kernel/debug/tracing /sys/kernel/debug; do
		while umount "$d" 2>/dev/null; do :; done
	done
	[ ! -e /sys/kernel/tracing/events ] && [ ! -e /sys/kernel/debug/tracing/events ] || { echo cannot be unmounted; exit 77; }
	exec "$0" -test.v -test.run '^TestCallsAreCountedBetweenTheTwoMoments$/^perf$'`
	if err := exec.Command("unshare", "--mount", "true").Run(); err != nil {
		t.Skip("this user may make no mount namespace")
	}
	cmd := exec.Command("unshare", "--mount", "sh", "-c", fresh, os.Args[0])
	out, err := cmd.CombinedOutput()
	switch {
	case cmd.ProcessState.ExitCode() == 77, bytes.Contains(out, []byte("--- SKIP")):
		t.Skipf("%s", out)
	case err != nil:
		t.Errorf("%v: %s", err, out)
	}
}

func tracerOf(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "TracerPid:")
	by, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(by)
}

func TestProcessesThatEndAreStillCounted(t *testing.T) {
	for _, tracer := range tracers {
		t.Run(tracer.name, func(t *testing.T) {
			c := start(t, beTraced+"=1")
			c.line(t)
			p := attach(t, tracer.with, c.Process.Pid)
			c.calls(t, 1000)
			c.Process.Kill()
			c.Wait()
			if counts, err := p.Stop(); err != nil || counts["write"] < 1000 {
				t.Errorf("%v, %v", counts, err)
			}
		})
	}
}

func TestAProcessThatIsNotThereIsRefused(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	for _, pids := range [][]int{nil, {gone.Process.Pid}, {os.Getpid(), gone.Process.Pid}} {
		began := time.Now()
		p, err := Start(pids)
		if err == nil {
			p.end()
			t.Errorf("%v: attached", pids)
		} else if strings.Contains(err.Error(), "\n") || time.Since(began) > 5*time.Second {
			t.Errorf("%v: after %v: %v", pids, time.Since(began), err)
		}
	}
}

func TestWithoutAToolTheErrorSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Start([]int{os.Getpid()})
	if err == nil || !strings.Contains(err.Error(), "apt-get install strace") || !strings.Contains(err.Error(), "perf is not installed") {
		t.Errorf("%v", err)
	}
}

func TestARefusalNamesWhatRefuses(t *testing.T) {
	refused := errors.New("strace: attach: ptrace(PTRACE_SEIZE, 12): Operation not permitted")
	// Made up: the file as a machine with Yama has it.
	scope := filepath.Join(t.TempDir(), "ptrace_scope")
	if err := os.WriteFile(scope, []byte("1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := permission(refused, scope); !strings.Contains(err.Error(), "sysctl -w kernel.yama.ptrace_scope=0") || !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
	if err := permission(refused, scope+"-none"); strings.Contains(err.Error(), "yama") || !strings.Contains(err.Error(), "SYS_PTRACE") {
		t.Errorf("%v", err)
	}
	other := errors.New("strace: out of luck")
	if err := permission(other, scope); err != other {
		t.Errorf("%v", err)
	}
}

func TestATracerDiesWithTheLab(t *testing.T) {
	c := start(t, beTraced+"=1")
	c.line(t)
	l := start(t, fmt.Sprintf("%s=%d", beLab, c.Process.Pid))
	var tracer int
	if said := l.line(t); said != "" {
		if _, err := fmt.Sscan(said, &tracer); err != nil {
			t.Skip(said)
		}
	}
	l.Process.Kill()
	l.Wait()
	for end := time.Now().Add(5 * time.Second); syscall.Kill(tracer, 0) == nil && !zombie(tracer); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			syscall.Kill(tracer, syscall.SIGKILL)
			t.Fatal("the tracer lives on")
		}
	}
	c.calls(t, 10) // and the traced process has taken no harm
}

func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(text), ") Z ")
}
