package main

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"
)

// underWay starts a run and waits until its first trial is loaded.
func (c *clone) underWay() (cmd *exec.Cmd, end func() said) {
	c.t.Helper()
	cmd = c.run99()
	end = begin(c.t, cmd)
	// Well into the measured part: starting and the short warm-up cost the client less
	// CPU time than this.
	until(c.t, "a loaded trial", func() bool {
		client := max(c.pid("autocannon"), c.pid("http_load"))
		spent, _ := proc.Time(client)
		return c.pid("fiber_server") > 0 && client > 0 && spent > 700*time.Millisecond
	})
	return cmd, end
}

// pid finds a running process of the clone by its command line. Wrappers that only have
// the program's name as an argument do not count.
func (c *clone) pid(program string) int {
	for _, p := range c.processes() {
		f := strings.Fields(p)
		prog := filepath.Base(f[1])
		if prog == program || prog == "node" && len(f) > 2 && strings.Contains(f[2], program) {
			pid, _ := strconv.Atoi(f[0])
			return pid
		}
	}
	return 0
}

func TestNothingIsLeftBehind(t *testing.T) {
	for name, topology := range map[string]string{"loopback": loopback, "wire": netns} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
			t.Run(name+"/"+sig.String(), func(t *testing.T) {
				t.Parallel()
				if topology == netns {
					needsWire(t)
				}
				c := newClone(t, topology, 60)
				cmd, end := c.underWay()
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				s := end()
				if s.status == exitHeld {
					t.Error("exit 0 after a signal")
				}
				if sig != syscall.SIGKILL && !strings.Contains(s.complaint(t), "interrupted") {
					t.Errorf("complaint: %s", s.err)
				}
				until(t, "all processes gone", func() bool { return len(c.processes()) == 0 })
				if files := c.files(); len(files) > 0 {
					t.Errorf("files in data/: %v", files)
				}
			})
		}
	}
}
