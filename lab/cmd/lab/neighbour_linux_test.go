package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/session"
	"github.com/line-rate/line-rate/lab/internal/topology/topologytest"
)

// stranger starts a busy loop on a core, in a process that the lab did not start and that
// is called chromium.
func stranger(t *testing.T, cpu int) {
	t.Helper()
	sh, err := exec.LookPath("sh")
	named := filepath.Join(t.TempDir(), "chromium")
	if err := errors.Join(err, os.Symlink(sh, named)); err != nil {
		t.Fatal(err)
	}
	loop := exec.Command("timeout", "60", "taskset", "--cpu-list", strconv.Itoa(cpu), named, "-c", "while :; do :; done")
	loop.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := loop.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-loop.Process.Pid, syscall.SIGKILL)
		_ = loop.Wait()
	})
}

// brief is a clone whose trials are as short as is enough for what disturbs all of them
// alike from the first moment.
func brief(t *testing.T, topology string) *clone {
	t.Helper()
	c := newClone(t, topology, "/read", 1, 1)
	c.edit("slot_s = 1", "slot_s = 0.5")
	return c
}

func TestAloneBusyLoopOnTheServersCore(t *testing.T) {
	split, _, err := session.Cores()
	if err != nil || len(split.Server) == 0 {
		t.Skip("one core: server and client share it with everybody")
	}
	c := brief(t, loopback)
	stranger(t, split.Server[0])
	s := c.run()
	if s.status != exitInvalid {
		t.Errorf("exit %d, want %d", s.status, exitInvalid)
	}
	expectAllInvalid(t, c.only(), "other-load")
	// The person at the machine sees its name, and no file has it.
	if !strings.Contains(s.err, "; most of it chromium (") {
		t.Errorf("the terminal does not name the process:\n%s", s.err)
	}
	files := 0
	err = filepath.WalkDir(filepath.Join(c.root, "data"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte("chromium")) {
			t.Errorf("%s names the process", path)
		}
		if bytes.Contains(text, []byte("; most of it another process (")) {
			files++
		}
		return err
	})
	if err != nil || files != 1 { // from which CSV and page follow
		t.Errorf("%d files speak of another process; %v", files, err)
	}
}

// A core that server and client share is watched for both, with all figures.
func TestAloneBusyLoopOnACoreThatIsShared(t *testing.T) {
	allowed, err := session.AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	c := brief(t, loopback)
	stranger(t, allowed[0])
	cmd := c.run99()
	pinned := exec.Command("taskset", append([]string{"--cpu-list", strconv.Itoa(allowed[0])}, cmd.Args...)...)
	pinned.Dir, pinned.Env = cmd.Dir, cmd.Env
	if s := finish(t, pinned); s.status == exitFailed {
		t.Fatalf("exit %d", s.status)
	}
	seen := 0
	for _, trial := range c.only().Trials {
		// The lab shares the core as well. If it came too late to look into a short window,
		// the trial says so, and has no figures to look at.
		if slices.ContainsFunc(trial.Reasons, func(r results.Reason) bool { return r.Gate == gate.NoTelemetry }) {
			continue
		}
		seen++
		for _, name := range []string{"server_steal", "client_steal", "server_cores_busy", "client_cores_busy"} {
			if _, ok := trial.Metrics[name]; !ok {
				t.Errorf("trial %d has no %s", trial.Seq, name)
			}
		}
		for _, name := range []string{"server_foreign_load", "client_foreign_load"} {
			if v := trial.Metrics[name]; v <= gate.ForeignLoad {
				t.Errorf("trial %d: %s is %v beside a busy loop", trial.Seq, name, v)
			}
		}
	}
	if seen == 0 {
		t.Error("the lab saw nothing of any trial")
	}
}

// A wire that carries far less than the asked rate makes a trial at a fixed rate invalid.
// TestAloneWholeWay uses the same wire in a closed loop.
func TestWireFarBelowTheAskedRate(t *testing.T) {
	t.Parallel()
	topologytest.NeedsWire(t)
	c := brief(t, thin)
	c.edit("pipelining = 1", "pipelining = 1\nrate = 2000")
	if s := c.run(); s.status != exitInvalid {
		t.Errorf("exit %d, want %d", s.status, exitInvalid)
	}
	expectAllInvalid(t, c.only(), "rate-short")
}
