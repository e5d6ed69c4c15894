package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/session"
	"github.com/line-rate/line-rate/lab/internal/wire/wiretest"
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
	split, _, err := cores.Here()
	if err != nil || len(split.Server) == 0 {
		t.Skip("one core: server and client share it with everybody")
	}
	c := brief(t, loopback)
	stranger(t, split.Server[0])
	s := c.run()
	if !strings.Contains(s.out, " of a core was used by others") {
		t.Errorf("exit %d, and nothing says what disturbed the run:\n%s", s.status, s.out)
	}
	for _, one := range c.only().Trials {
		if !one.Valid {
			t.Errorf("a disturbance refused a trial: %q", one.Reasons)
		}
	}
}

// A wire that carries far less than the asked rate makes a trial at a fixed rate invalid.
// TestAloneWholeWay uses the same wire in a closed loop.
func TestWireFarBelowTheAskedRate(t *testing.T) {
	t.Parallel()
	wiretest.NeedsWire(t)
	c := brief(t, thin)
	c.edit("pipelining = 1", "pipelining = 1\nrate = 2000")
	if s := c.run(); s.status != int(session.Invalid) {
		t.Errorf("exit %d, want %d", s.status, int(session.Invalid))
	}
	expectAllInvalid(t, c.only(), "rate-short")
}
