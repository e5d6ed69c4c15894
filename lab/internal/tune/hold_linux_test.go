package tune

import (
	"bufio"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A holder is a hold as seen by its caller.
type holder struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

// hold starts a hold and waits until it is ready.
func hold(t *testing.T, cmd *exec.Cmd) *holder {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != Ready+"\n" {
		_ = cmd.Wait()
		t.Fatalf("it said %q (%v)\n%s", line, err, &errs)
	}
	return &holder{cmd, in}
}

// kill ends the process that would restore what it has turned.
func (h *holder) kill() {
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait()
}

// who tells for each whether it is held, lost, or turned by hand.
func who(left []Left) (by string) {
	for _, l := range left {
		by += map[bool]string{l.Held(): "held ", l.Orphan(): "orphan ", l.ByHand(): "hand "}[true]
	}
	return by
}

func TestAHoldEndsHoweverItsCallerEnds(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	before := snapshot(t, root)
	for name, end := range map[string]func(h *holder) error{
		"standard input closes": func(h *holder) error { return h.in.Close() },
		"SIGTERM":               func(h *holder) error { return h.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGINT":                func(h *holder) error { return h.cmd.Process.Signal(syscall.SIGINT) },
	} {
		h := hold(t, labProcess("hold", "rps", Options{Dev: d.dev, CPUs: "1"}))
		if got := get(t, root, netDir+d.dev+"/queues/rx-7/rps_cpus"); got != "02\n" {
			t.Errorf("%s: while it holds: %q", name, got)
		}
		if left, err := All(); err != nil || who(left) != strings.Repeat("held ", 8) {
			t.Errorf("%s: %v, %v", name, left, err)
		}
		// Neither another hold nor a person takes over what is held.
		refused(t, root, "an apply is in force; restore it first: tune-rps.sh restore", "hold", "rps", Options{Dev: d.dev})
		refused(t, root, "an apply is in force; restore it first: tune-rps.sh restore", "apply", "rps", Options{Dev: d.dev})
		if err := end(h); err != nil {
			t.Fatal(err)
		}
		if err := h.cmd.Wait(); err != nil {
			t.Errorf("%s: it ended with %v", name, err)
		}
		if !maps.Equal(before, snapshot(t, root)) {
			t.Errorf("%s: not everything came back", name)
		}
		nothingHeld(t)
	}
}

func TestWhatAKilledHoldLeftIsKnownAndRestored(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	before := snapshot(t, root)
	for way, settle := range map[string]func(){
		"the next run": func() {
			restored, left, err := Settle()
			if err != nil || len(restored) != 8 || len(left) != 0 || restored[0].Now != "02\n" {
				t.Errorf("restored %v, left %v, %v", restored, left, err)
			}
		},
		"the next command": func() {
			must(t, "apply", "crond", Options{})
			must(t, "restore", "crond", Options{})
		},
	} {
		hold(t, labProcess("hold", "rps", Options{Dev: d.dev, CPUs: "1"})).kill()
		left, err := All()
		if err != nil || len(left) != 8 || !left[0].Orphan() {
			t.Fatalf("after the kill: %v, %v", left, err)
		}
		for _, words := range []string{netDir + d.dev + "/queues/rx-0/rps_cpus", `is "02" and was "00"`, "has died"} {
			if !strings.Contains(left[0].String(), words) {
				t.Errorf("%v: want %s", left[0], words)
			}
		}
		settle()
		if !maps.Equal(before, snapshot(t, root)) {
			t.Errorf("%s: not everything came back", way)
		}
		nothingHeld(t)
	}
}

// What cannot be restored keeps others from being turned, and not from being restored.
func TestWhatAKilledHoldLeftIsStuck(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	h := hold(t, labProcess("hold", "rps", Options{Dev: d.dev}))
	must(t, "apply", "crond", Options{})
	hold(t, labProcess("hold", "rfs", Options{TableOnly: true})).kill()
	if err := errors.Join(os.Remove(root+tableFile), os.Symlink(os.DevNull, root+tableFile)); err != nil {
		t.Fatal(err)
	}
	refused(t, root, "what a hold that was killed has left is not restored", "apply", "irqbalance", Options{})
	must(t, "restore", "crond", Options{})
	h.in.Close()
	if err := h.cmd.Wait(); err != nil {
		t.Error(err)
	}
	if left, err := All(); err != nil || who(left) != "orphan " {
		t.Errorf("left %v, %v", left, err)
	}
	if _, left, err := Settle(); err == nil || len(left) != 1 {
		t.Errorf("settled with %v, %v", left, err)
	}
}

// What a person turned is a person's, and what another run holds is that run's.
func TestOnlyWhatNobodyHoldsIsRestored(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	must(t, "apply", "rps", Options{Dev: d.dev, CPUs: "1"})
	h := hold(t, labProcess("hold", "rfs", Options{TableOnly: true}))
	applied := snapshot(t, root)
	began := time.Now()
	restored, left, err := Settle()
	if want := strings.Repeat("hand ", 8) + "held "; err != nil || len(restored) != 0 || who(left) != want {
		t.Errorf("restored %v, left %v, %v, after %v", restored, left, err, time.Since(began))
	}
	if !maps.Equal(applied, snapshot(t, root)) {
		t.Error("something was restored")
	}
	h.in.Close()
	if err := h.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	// A value that is as before is no setting that is turned, though its original is kept.
	for q := range d.queues {
		put(t, root, netDir+d.dev+"/queues/rx-"+string(rune('0'+q))+"/rps_cpus", "00\n")
	}
	if left, err := All(); err != nil || len(left) > 0 {
		t.Errorf("turned: %v, %v", left, err)
	}
}
