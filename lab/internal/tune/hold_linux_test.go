package tune

import (
	"bufio"
	"bytes"
	"io"
	"maps"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A holder is a hold as seen by its caller.
type holder struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	errs bytes.Buffer
}

func startHold(t *testing.T, cmd *exec.Cmd) *holder {
	t.Helper()
	h := &holder{cmd: cmd}
	var err error
	if h.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.out = bufio.NewReader(out)
	cmd.Stderr = &h.errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return h
}

// hold starts a hold and waits until it is ready.
func hold(t *testing.T, args ...string) *holder {
	t.Helper()
	cmd := process(args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	h := startHold(t, cmd)
	if line, err := h.out.ReadString('\n'); line != Ready+"\n" {
		t.Fatalf("%q: it said %q (%v)\n%s", args, line, err, h.errs.String())
	}
	return h
}

// within waits for what takes a process a moment.
func within(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 20 seconds: %s", what)
		}
	}
}

func TestAHoldEndsHoweverItsCallerEnds(t *testing.T) {
	d := c6i2xlarge
	for name, end := range map[string]func(h *holder) error{
		"standard input closes": func(h *holder) error { return h.in.Close() },
		"SIGTERM":               func(h *holder) error { return h.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGINT":                func(h *holder) error { return h.cmd.Process.Signal(syscall.SIGINT) },
		// A leash does this to a process whose lab was killed.
		"kill -9 of the process that was started": func(h *holder) error { return h.cmd.Process.Kill() },
		"kill -9 of its whole group": func(h *holder) error {
			return syscall.Kill(-h.cmd.Process.Pid,
				syscall.SIGKILL)
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := d.tree(t)
			before := snapshot(t, root)
			h := hold(t, "rps", "hold", "--dev", d.dev, "--cpus", "1")
			if got := get(t, root, netDir+d.dev+"/queues/rx-7/rps_cpus"); got != "02\n" {
				t.Errorf("while it holds: %q", got)
			}
			if out := must(t, "show"); strings.Count(out, "rps_cpus") != 8 {
				t.Errorf("held:\n%s", out)
			}
			if err := end(h); err != nil {
				t.Fatal(err)
			}
			if err := h.cmd.Wait(); err != nil && !strings.HasPrefix(name, "kill") {
				t.Errorf("it ended with %v\n%s", err, h.errs.String())
			}
			within(t, "the values are back", func() bool { return maps.Equal(before, snapshot(t, root)) })
			within(t, "no original is held", func() bool { return strings.Contains(must(t, "show"), "no originals") })
		})
	}
}

func TestAHoldRefusesWhatIsHeld(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	before := snapshot(t, root)
	must(t, "rps", "apply", "--dev", d.dev)
	applied := snapshot(t, root)
	out, err := process("rps", "hold", "--dev", d.dev, "--cpus", "2").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "an apply is in force; restore it first: tune-rps.sh restore") ||
		strings.Count(string(out), "\n") != 1 {
		t.Errorf("%v: %s", err, out)
	}
	if !maps.Equal(applied, snapshot(t, root)) {
		t.Error("the refused hold wrote something")
	}
	// Another knob of the same interface is another target.
	h := hold(t, "mtu", "hold", "--dev", d.dev, "--entries", "1500")
	again := process("mtu", "hold", "--dev", d.dev, "--entries", "1600")
	if out, err := again.CombinedOutput(); err == nil || again.ProcessState.ExitCode() != 3 {
		t.Errorf("two holds of one target: %v, %s", err, out)
	}
	h.in.Close()
	if err := h.cmd.Wait(); err != nil {
		t.Error(err)
	}
	// The hold restored what it had changed, and nothing else.
	if !maps.Equal(applied, snapshot(t, root)) {
		t.Error("the hold's end changed what apply had set")
	}
	must(t, "restore")
	if !maps.Equal(before, snapshot(t, root)) {
		t.Error("not everything came back")
	}
}

// A hold that is killed while applying or restoring leaves its originals for
// restore.
func TestAHoldThatIsKilledIsRestoredByHand(t *testing.T) {
	d := c6i2xlarge
	for _, writes := range []string{"3", "8", "11", "16"} {
		root := d.tree(t)
		before := snapshot(t, root)
		cmd := process("rps", "hold", "--dev", d.dev)
		cmd.Env = append(cmd.Env, stopVariable+"="+writes)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "was killed; restore brings them back") ||
			cmd.ProcessState.ExitCode() != 3 {
			t.Errorf("killed before write %s: %v, %s", writes, err, out)
		}
		if out := must(t, "show"); strings.Count(out, "rps_cpus") != 8 {
			t.Errorf("held:\n%s", out)
		}
		must(t, "rps", "restore")
		if !maps.Equal(before, snapshot(t, root)) {
			t.Error("not everything came back")
		}
	}
}
