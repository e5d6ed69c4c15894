package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/tune"
)

// flowTable is the only one of these knobs with a value for the whole machine.
const flowTable = "/proc/sys/net/core/rps_sock_flow_entries"

func flows(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(flowTable)
	if err != nil {
		t.Skipf("needs this kernel to have RFS: %v", err)
	}
	return string(b)
}

// held reads the journal of the knobs' original values.
func held(t *testing.T, c *clone) string {
	t.Helper()
	_, dir, _ := strings.Cut(c.env[len(c.env)-1], "=")
	b, err := os.ReadFile(filepath.Join(dir, "originals.json"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(b)
}

// turned starts a run in which RFS is on, and waits until it is.
func turned(t *testing.T) (c *clone, cmd *exec.Cmd, end func() said) {
	t.Helper()
	if err := tune.Reach("rps", nil); err != nil {
		t.Skip(err)
	}
	needsWire(t)
	before := flows(t)
	c = newClone(t, netns, 10)
	c.program("lab")
	c.env = append(c.env, "LINE_RATE_STATE="+t.TempDir())
	c.edit("name = \"workers\"\nlevels", "name = \"replicate\"\nlevels")
	c.edit("pipelining = 1", "pipelining = 1\nworkers = 1\nrfs = true")
	cmd = c.run99()
	end = begin(t, cmd)
	t.Cleanup(func() { finish(t, c.command("tune", "restore")) })
	until(t, "the flow table is set", func() bool { return flows(t) != before })
	return c, cmd, end
}

// However the lab ends, the machine has its old settings again.
func TestKnobsComeBackWhenTheLabDies(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			before := flows(t)
			c, cmd, end := turned(t)
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			end()
			until(t, "the flow table is back", func() bool { return flows(t) == before })
			until(t, "no process is left", func() bool { return len(c.processes()) == 0 })
			// Settings in the namespaces went with them. The originals of those are useless now,
			// and the next lab that turns a knob forgets them.
			if s := finish(t, c.command("tune", "restore")); s.status != exitHeld {
				t.Error("nothing is to be restored, and that failed")
			}
			if left := held(t, c); left != "" {
				t.Errorf("originals are still held:\n%s", left)
			}
		})
	}
}

// killed kills the lab of a clone with all that it has started, and first what would
// restore the settings, so that nothing does.
func (c *clone) killed() {
	for range 3 {
		all := c.processes()
		slices.SortStableFunc(all, func(a, b string) int {
			restores := func(p string) int { return strings.Count(p, " tune hold ") }
			return restores(b) - restores(a)
		})
		for _, p := range all {
			pid, _ := strconv.Atoi(strings.Fields(p)[0])
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// What a run that was killed has left turned is no part of the next one, though that
// turns no knob; what somebody has turned by hand is neither undone nor measured with.
func TestALaterRunDoesNotInheritASetting(t *testing.T) {
	before := flows(t)
	c, _, end := turned(t)
	c.killed()
	end()
	if flows(t) == before {
		t.Fatal("the setting was restored, so nothing is shown")
	}
	c.write("lab/experiments/99-tiny.toml", fmt.Sprintf(tiny, loopback, 1))
	s := c.run()
	if !strings.Contains(s.err, "restored "+flowTable) || flows(t) != before {
		t.Errorf("the flow table is %q; it said\n%s", flows(t), s.err)
	}
	k := c.only().Provenance.Kernel
	if k["net.core.rps_sock_flow_entries"] != strings.TrimSpace(before) || k["rps_cpus"] == "" ||
		k["rps_flow_cnt"] == "" || k["irqbalance"] != "does not run" {
		t.Errorf("provenance says %v", k)
	}

	if s := finish(t, c.command("tune", "apply", "rfs", "--table-only", "--entries", "4096")); s.status != exitHeld {
		t.Fatal("the flow table cannot be set")
	}
	s = c.run()
	if said := s.complaint(t); s.status != exitFailed || !strings.Contains(said, flowTable) ||
		!strings.Contains(said, "lab tune restore") {
		t.Errorf("exit %d: %s", s.status, said)
	}
	if flows(t) != "4096\n" {
		t.Errorf("the flow table is %q", flows(t))
	}
}
