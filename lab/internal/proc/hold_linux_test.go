package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// holding, set in the environment, makes this test binary hold its arguments.
const holding = "LEASH_TEST_HOLD"

// held starts a shell script under a holder, in a directory of its own.
func held(t *testing.T, script string) (p *Proc, dir string) {
	t.Helper()
	dir = t.TempDir()
	p, err := Start(Spec{Dir: dir, Argv: []string{os.Args[0], "sh", "-c", script}, Env: []string{holding + "=1"},
		Held: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop(p.Pid(), 0) })
	return p, dir
}

// pidIn waits for a process id in a file.
func pidIn(t *testing.T, path string) (pid int) {
	t.Helper()
	if !within(10*time.Second, func() bool {
		text, _ := os.ReadFile(path)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return pid > 0
	}) {
		t.Fatalf("no process id in %s", path)
	}
	return pid
}

// detached is a process that has left its group, its session and its parent.
const detached = "setsid sh -c 'echo $$ >child; exec sleep 300' & while ! [ -s child ]; do sleep 0.01; done; "

func TestWhatIsHeldEndsAsItDoes(t *testing.T) {
	for _, c := range []struct {
		script string
		code   int
		err    string
	}{
		{"exit 0", 0, ""}, {"echo no >&2; exit 3", 3, "exit status 3"}, {"kill -9 $$", -1, "signal: killed"},
		{"kill -11 $$", 139, "exit status 139"},
	} {
		p, _ := held(t, c.script)
		err := p.Err()
		if p.ExitCode() != c.code || err == nil != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: %d, %v", c.script, p.ExitCode(), err)
		}
	}
}

func TestWhatForksAwayIsNamedAndEnded(t *testing.T) {
	p, dir := held(t, detached+"exit 0")
	if code, line := p.ExitCode(), p.LastLine(); code != Forked ||
		line != `the command ended and left "sleep" running; have it stay in the foreground` {
		t.Errorf("%d: %s", code, line)
	}
	if alive(pidIn(t, filepath.Join(dir, "child"))) {
		t.Error("it runs on")
	}
	p, dir = held(t, detached+"exit 7")
	if code := p.ExitCode(); code != 7 || alive(pidIn(t, filepath.Join(dir, "child"))) {
		t.Errorf("of one that failed: %d", code)
	}
}

// Processes that end with the first one are no fault.
func TestChildrenMayEndAMomentLater(t *testing.T) {
	p, _ := held(t, "sleep 0.05 & exit 0")
	if code := p.ExitCode(); code != 0 {
		t.Errorf("%d: %s", code, p.LastLine())
	}
}

func TestStopEndsTheWholeTree(t *testing.T) {
	p, dir := held(t, detached+"trap '' TERM; echo $$ >command; while :; do sleep 0.1; done")
	command, child := pidIn(t, filepath.Join(dir, "command")), pidIn(t, filepath.Join(dir, "child"))
	if err := p.Stop(command, 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if alive(command) || alive(child) {
		t.Errorf("the command runs %v, what left its group %v", alive(command), alive(child))
	}
}

// A signal that misses the command does not end the holder, which alone knows
// what there is to end.
func TestAHolderIsNotEndedByASignal(t *testing.T) {
	p, dir := held(t, detached+"exec sleep 300")
	child := pidIn(t, filepath.Join(dir, "child"))
	if err := p.Stop(p.Pid(), 50*time.Millisecond); err != nil || alive(child) {
		t.Errorf("%v; what left its group runs: %v", err, alive(child))
	}
}

func TestProcessesDieWithTheLab(t *testing.T) {
	for how, script := range map[string]string{"leashed": "echo $$ >child; exec sleep 300", "held": detached + "sleep 300"} {
		dir := t.TempDir()
		lab := exec.Command(os.Args[0], "sh", "-c", script)
		lab.Dir, lab.Env = dir, append(os.Environ(), helper+"="+how)
		if err := lab.Start(); err != nil {
			t.Fatal(err)
		}
		child := pidIn(t, filepath.Join(dir, "child"))
		_ = lab.Process.Signal(syscall.SIGKILL)
		_ = lab.Wait()
		if !within(10*time.Second, func() bool { return !alive(child) }) {
			t.Errorf("what is %s outlives the lab", how)
			_ = syscall.Kill(child, syscall.SIGKILL)
		}
	}
}

func TestWhatCannotBeHeld(t *testing.T) {
	p, err := Start(Spec{Argv: []string{os.Args[0], "/nowhere/to/be/found"}, Env: []string{holding + "=1"}, Held: true})
	if err != nil {
		t.Fatal(err)
	}
	if code := p.ExitCode(); code != 127 || !strings.Contains(p.LastLine(), "/nowhere/to/be/found") {
		t.Errorf("%d: %s", code, fmt.Sprint(p.LastLine()))
	}
}
