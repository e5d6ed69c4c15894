package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/cores"
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
	split, _, err := cores.Here()
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
