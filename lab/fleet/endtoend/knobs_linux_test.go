package endtoend

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// rpsOf is the setting that the far host's interface has; the lab turns it there.
func (r *rig) rps() string {
	r.t.Helper()
	return strings.TrimSpace(must(r.t, r.On("server", "cat", "/sys/class/net/fleet0/queues/rx-0/rps_cpus")))
}

// turning is a fleet whose experiment turns RPS on and off.
func turning(t *testing.T) *rig {
	if os.Getuid() != 0 {
		t.Skip("needs to be root: only root can turn RPS")
	}
	return up(t, []string{"name = \"workers\"\nlevels = [1, 2]", "name = \"rps\"\nlevels = [false, true]",
		"pipelining = 1", "pipelining = 1\nworkers = 1"}, "--as-root", "--clients", "2")
}

func TestAKnobIsTurnedOnTheFarHostAndBack(t *testing.T) {
	t.Parallel()
	r := turning(t)
	before := r.rps()
	s := start(t, r.run("--blocks", "1"))
	s.until("RPS is turned on", func() bool { return r.rps() != before })
	if got := s.wait(); got.status > 2 {
		t.Errorf("exit %d", got.status)
	}
	if f := r.only(); f.NotApplicable != "" || len(f.Trials) == 0 {
		t.Errorf("not applicable %q, %d trials", f.NotApplicable, len(f.Trials))
	}
	if after := r.rps(); after != before {
		t.Errorf("RPS was %s and is %s", before, after)
	}
	r.clean()
}

func TestAKnobIsTurnedBackWhenTheControllerIsKilled(t *testing.T) {
	t.Parallel()
	r := turning(t)
	before := r.rps()
	s := start(t, r.run("--blocks", "9"))
	s.until("RPS is turned on", func() bool { return r.rps() != before })
	for _, p := range r.Running("controller", "lab") {
		if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(cleanWithin); r.rps() != before; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %v, RPS is %s and not %s", cleanWithin, r.rps(), before)
		}
	}
	s.wait()
	r.clean()
}

// Whatever is killed on the server's host, what would have turned RPS back included, the
// setting is named from afar, and no part of the next run.
func TestAKilledRunLeavesItsSettingToNoOther(t *testing.T) {
	t.Parallel()
	r := turning(t)
	before := r.rps()
	s := start(t, r.run("--blocks", "9"))
	s.until("RPS is turned on", func() bool { return r.rps() != before })
	for range 3 {
		all := r.Processes("server")
		slices.SortStableFunc(all, func(a, b Process) int { return restores(b) - restores(a) })
		for _, p := range all {
			if p.Program() == "lab" {
				_ = syscall.Kill(p.PID, syscall.SIGKILL)
			}
		}
	}
	s.wait()
	if r.rps() == before {
		t.Fatal("the setting was restored, so nothing is shown")
	}
	hosts := finish(t, r.lab("fleet", "hosts", "--inventory", r.Inventory()))
	if said := hosts.complaint(t); hosts.status != 3 || !strings.Contains(said, "rps_cpus") ||
		!strings.Contains(said, "make fleet-restore") {
		t.Errorf("exit %d: %s", hosts.status, said)
	}
	again := finish(t, r.run("--blocks", "1", "--scratch"))
	if !strings.Contains(again.err, "restored /sys/class/net/fleet0/queues/rx-0/rps_cpus") || r.rps() != before {
		t.Errorf("RPS was %s and is %s: %s", before, r.rps(), again.err)
	}
	r.clean()
}

// restores tells how directly a process of the lab would turn a setting back.
func restores(p Process) int { return strings.Count(strings.Join(p.Args, " "), "hold-worker") }
