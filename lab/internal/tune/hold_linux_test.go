package tune

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A holder is a hold as seen by its caller.
type holder struct {
	*exec.Cmd
	in io.WriteCloser
}

// hold starts a hold and waits until it is ready.
func hold(t *testing.T, cmd *exec.Cmd) holder {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h := holder{cmd, in}
	t.Cleanup(func() {
		h.kill()
		_ = h.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != Ready+"\n" {
		t.Fatalf("it said %q (%v)", line, err)
	}
	return h
}

// kill ends the process that would restore what it has turned. Nobody asks for its end, as in some containers.
func (h holder) kill() {
	_ = h.Process.Kill()
	_ = unix.Waitid(unix.P_PID, h.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
}

// left tells for each setting that is turned whether it is held, lost, or turned by hand.
func left(t *testing.T) (by string) {
	t.Helper()
	left, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range left {
		by += map[bool]string{l.Held(): "held ", l.Orphan(): "orphan ", l.ByHand(): "hand "}[true]
	}
	return by
}

func TestAHoldEndsHoweverItsCallerEnds(t *testing.T) {
	root, isBack := c6i2xlarge.tree(t)
	for _, end := range []os.Signal{nil, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		h := hold(t, labProcess("hold", "rps", Options{Dev: "ens5", CPUs: "1"}))
		if v := Values(root); v["rps_cpus"] != "02" || left(t) != strings.Repeat("held ", 8) {
			t.Errorf("while it holds: %v, %v", v, left(t))
		}
		// Neither another hold nor a person takes over what is held, and a run leaves it.
		for _, action := range []string{"hold", "apply"} {
			refused(t, "an apply is in force; restore it first: tune-rps.sh restore", action, "rps", Options{Dev: "ens5"})
		}
		if restored, left, err := Settle(); err != nil || len(restored) != 0 || len(left) != 8 {
			t.Errorf("restored %v, left %v, %v", restored, left, err)
		}
		if end != nil {
			_ = h.Process.Signal(end)
		} else {
			h.in.Close()
		}
		if err := h.Wait(); err != nil {
			t.Errorf("after signal %v: %v", end, err)
		}
		isBack(fmt.Sprintf("after signal %v", end))
		nothingHeld(t)
	}
}

func TestWhatAKilledHoldLeftIsKnownAndRestored(t *testing.T) {
	_, isBack := c6i2xlarge.tree(t)
	if (Left{PID: os.Getpid(), Start: 1}).Held() {
		t.Error("another process of the same number holds it")
	}
	for _, next := range []string{"run", "apply", "restore"} {
		hold(t, labProcess("hold", "rps", Options{Dev: "ens5", CPUs: "1"})).kill()
		if out := must(t, "show", "", Options{}); left(t) != strings.Repeat("orphan ", 8) ||
			!strings.Contains(out, `rx-0/rps_cpus is "02" and was "0"`) || !strings.Contains(out, "has died") {
			t.Errorf("after the kill:\n%s", out)
		}
		if next != "run" {
			must(t, next, "crond", Options{})
		} else if restored, left, err := Settle(); err != nil || len(restored) != 8 || len(left) != 0 || restored[0].Now != "02\n" {
			t.Errorf("restored %v, left %v, %v", restored, left, err)
		}
		if by := left(t); strings.Contains(by, "orphan") {
			t.Errorf("%s leaves %s", next, by)
		}
		must(t, "restore", "", Options{})
		isBack(next)
		nothingHeld(t)
	}
}

// A knob that nobody can restore keeps others from being turned, and not from being restored. What
// a person turned is a person's, and what another run holds is that run's.
func TestWhatAKilledHoldLeftIsStuck(t *testing.T) {
	root, _ := c6i2xlarge.tree(t)
	must(t, "apply", "crond", Options{})
	h := hold(t, labProcess("hold", "rfs", Options{TableOnly: true}))
	hold(t, labProcess("hold", "rps", Options{Dev: "ens5"})).kill()
	link(t, root+netDir+"ens5/queues/rx-0/rps_cpus", os.DevNull)
	restored, _, err := Settle()
	if by := left(t); err == nil || len(restored) != 7 || by != "hand held orphan " {
		t.Errorf("restored %v, left %s, %v", restored, by, err)
	}
	refused(t, "what a hold that was killed has left is not restored", "apply", "irqbalance", Options{})
	if err := Do("restore", "crond", Options{}, io.Discard); err == nil || left(t) != "held orphan " {
		t.Errorf("restored with %v, left %s", err, left(t))
	}
	h.in.Close()
	if err := h.Wait(); err != nil || left(t) != "orphan " {
		t.Errorf("%v, left %s", err, left(t))
	}
	// A value that is as before is no setting that is turned, though its original is kept.
	link(t, root+netDir+"ens5/queues/rx-0/rps_cpus", "../rx-1/rps_cpus")
	if by := left(t); by != "" {
		t.Errorf("turned: %s", by)
	}
}
