package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/tune"
	"github.com/line-rate/line-rate/lab/internal/wire/wiretest"
)

// turning changes a clone's experiment into one that turns RPS and RFS.
func turning(t *testing.T, c *clone) {
	c.link(labBinary, ".tools/bin/lab")
	c.env = append(c.env, "LINE_RATE_STATE="+t.TempDir())
	c.edit("name = \"workers\"\nlevels = [1, 2]",
		"name = \"rps\"\nlevels = [false, true]\n[[factors]]\nname = \"rfs\"\nlevels = [false, true]")
	c.edit("pipelining = 1", "pipelining = 1\nworkers = 1")
}

// flowTable is the only one of these knobs with a value for the whole machine.
const flowTable = "/proc/sys/net/core/rps_sock_flow_entries"

// Only one test at a time may look at it.
var flowTableTaken sync.Mutex

func flows(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(flowTable)
	if err != nil {
		t.Skipf("needs this kernel to have RFS: %v", err)
	}
	return string(b)
}

// A machine on which a knob may not be turned does not count against the claim.
func TestKnobsOutOfReach(t *testing.T) {
	t.Parallel()
	if tune.Reach("rps", nil) == nil {
		t.Skip("needs not to be root: here RPS can be turned")
	}
	c := newClone(t, netns, "/simple", 1, 1)
	turning(t, c)
	if s := c.run(); s.status != exitHeld || !strings.Contains(s.out, "root") {
		t.Errorf("status %d: %s", s.status, s.out)
	}
	if found, _ := filepath.Glob(filepath.Join(c.root, "data/results/*/*.json")); len(found) > 0 {
		t.Errorf("results of nothing: %q", found)
	}
}

func TestKnobsAreTurnedForATrialAndBack(t *testing.T) {
	if err := tune.Reach("rps", nil); err != nil {
		t.Skip(err)
	}
	t.Parallel()
	flowTableTaken.Lock()
	defer flowTableTaken.Unlock()
	before := flows(t)
	wiretest.NeedsWire(t)
	c := newClone(t, netns, "/simple", 1, 1)
	turning(t, c)
	// RFS has an effect only where RPS is on; half of the combinations show both.
	c.edit("[[factors]]\nname = \"rps\"\nlevels = [false, true]\n", "")
	c.edit("workers = 1", "workers = 1\nrps = true")
	s := c.run()
	f := c.only()
	if s.status == exitFailed {
		t.Fatalf("status %d", s.status)
	}
	for _, cond := range f.Conditions {
		rfs, _ := cond.Levels["rfs"].Bool()
		lines := strings.Join(cond.Commands, "\n")
		if !strings.Contains(lines, "tune-rps.sh hold") ||
			strings.Count(lines, "tune-rfs.sh hold") != map[bool]int{true: 2}[rfs] {
			t.Errorf("%s: %s", cond.Levels.Key(), lines)
		}
	}
	if after := flows(t); after != before {
		t.Errorf("the flow table was %q and is %q", before, after)
	}
	if left := held(t, c); left != "" {
		t.Errorf("originals are still held:\n%s", left)
	}
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
	wiretest.NeedsWire(t)
	before := flows(t)
	c = newClone(t, netns, "/simple", 1, 10)
	turning(t, c)
	c.edit("name = \"rfs\"\nlevels = [false, true]", "name = \"replicate\"\nlevels = [1, 2]")
	c.edit("workers = 1", "workers = 1\nrfs = true")
	cmd = c.run99()
	end = begin(t, cmd)
	t.Cleanup(func() { finish(t, c.command("tune", "restore")) })
	until(t, "the flow table is set", func() bool { return flows(t) != before })
	return c, cmd, end
}

// However the lab ends, the machine has its old settings again.
func TestKnobsComeBackWhenTheLabDies(t *testing.T) {
	if err := tune.Reach("rps", nil); err != nil {
		t.Skip(err)
	}
	t.Parallel()
	flowTableTaken.Lock()
	defer flowTableTaken.Unlock()
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
			// What was set in the namespaces went with them. The originals of those are
			// useless now, and the next lab that turns a knob forgets them.
			if s := finish(t, c.command("tune", "restore")); s.status != exitHeld {
				t.Error("nothing is to be restored, and that failed")
			}
			if left := held(t, c); left != "" {
				t.Errorf("originals are still held:\n%s", left)
			}
		})
	}
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
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
	if err := tune.Reach("rps", nil); err != nil {
		t.Skip(err)
	}
	flowTableTaken.Lock()
	defer flowTableTaken.Unlock()
	before := flows(t)
	c, _, end := turned(t)
	c.killed()
	end()
	if flows(t) == before {
		t.Fatal("the setting was restored, so nothing is shown")
	}
	if s := finish(t, c.command("doctor")); !strings.Contains(s.out, flowTable) ||
		!strings.Contains(s.out, "has died") {
		t.Errorf("doctor does not say what became of %s:\n%s", flowTable, s.out)
	}

	c.write("lab/experiments/99-tiny.toml", fmt.Sprintf(tiny, loopback, "/simple", 1))
	s := c.run()
	if !strings.Contains(s.err, "restored "+flowTable) || flows(t) != before {
		t.Errorf("the flow table is %q; it said\n%s", flows(t), s.err)
	}
	kernel := c.only().Provenance.Kernel
	for name, want := range map[string]string{"net.core.rps_sock_flow_entries": strings.TrimSpace(before),
		"rps_cpus": kernel["rps_cpus"], "rps_flow_cnt": kernel["rps_flow_cnt"], "irqbalance": "does not run"} {
		if kernel[name] != want || want == "" {
			t.Errorf("provenance says that %s is %q, want %q", name, kernel[name], want)
		}
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
