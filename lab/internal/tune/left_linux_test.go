package tune

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// lefts are the settings that are turned, as their kinds.
func lefts(t *testing.T) (by []By) {
	t.Helper()
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		by = append(by, l.By)
	}
	return by
}

// killHold kills the process that would restore what a hold has turned.
func killHold(t *testing.T, h *holder) {
	t.Helper()
	all, err := All()
	if err != nil || len(all) == 0 || all[0].By != Held {
		t.Fatalf("while it is held: %v, %v", all, err)
	}
	if err := syscall.Kill(all[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = h.cmd.Wait() // of the front: its worker may stay a zombie
}

func TestWhatAKilledHoldLeftIsKnownAndRestored(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	before := snapshot(t, root)
	if by := lefts(t); len(by) > 0 {
		t.Fatalf("turned at first: %v", by)
	}
	killHold(t, hold(t, "rps", "hold", "--dev", d.dev, "--cpus", "1"))
	all, err := All()
	if err != nil || len(all) != 8 || all[0].By != Orphan {
		t.Fatalf("after the kill: %v, %v", all, err)
	}
	for _, words := range []string{netDir + d.dev + "/queues/rx-0/rps_cpus", `is "02" and was "00"`, "has died"} {
		if !strings.Contains(all[0].String(), words) {
			t.Errorf("%v: want %s", all[0], words)
		}
	}
	restored, left, err := Settle()
	if err != nil || len(restored) != 8 || len(left) != 0 {
		t.Errorf("restored %v, left %v, %v", restored, left, err)
	}
	if !maps.Equal(before, snapshot(t, root)) {
		t.Error("not everything came back")
	}
}

// What a person turned is a person's, and what another run holds is that run's.
func TestOnlyWhatNobodyHoldsIsRestored(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	must(t, "rps", "apply", "--dev", d.dev, "--cpus", "1")
	h := hold(t, "rfs", "hold", "--table-only")
	applied := snapshot(t, root)
	restored, left, err := Settle()
	if err != nil || len(restored) != 0 || len(left) != 9 || left[0].By != ByHand || left[8].By != Held {
		t.Errorf("restored %v, left %v, %v", restored, left, err)
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
		put(t, root, filepath.Join(netDir, d.dev, "queues", "rx-"+string(rune('0'+q)), "rps_cpus"), "00\n")
	}
	if by := lefts(t); len(by) > 0 {
		t.Errorf("turned: %v", by)
	}
}

// A user's run has to know what root has turned, and cannot restore it.
func TestAUserKnowsWhatRootHasTurned(t *testing.T) {
	d := c6i2xlarge
	d.tree(t)
	killHold(t, hold(t, "rps", "hold", "--dev", d.dev))
	old := rootDir
	rootDir = os.Getenv("LINE_RATE_STATE")
	t.Cleanup(func() { rootDir = old })
	t.Setenv("LINE_RATE_STATE", "")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if machineRoot() {
		if restored, left, err := Settle(); err != nil || len(restored) != 8 || len(left) != 0 {
			t.Errorf("as root: restored %v, left %v, %v", restored, left, err)
		}
		return
	}
	if restored, left, err := Settle(); err != nil || len(restored) != 0 || len(left) != 8 {
		t.Errorf("restored %v, left %v, %v", restored, left, err)
	}
}

func TestValuesNameWhatTheKnobsTurn(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	v := Values(root)
	for name, want := range map[string]string{"rps_cpus": "00", "rps_flow_cnt": "0", "queues": "rx 8 tx 8",
		"irqbalance": "does not run", "crond": "does not run"} {
		if v[name] != want {
			t.Errorf("%s: %q, want %q", name, v[name], want)
		}
	}
	if v["smp_affinity_list"] == "" {
		t.Errorf("no interrupts: %v", v)
	}
	must(t, "rps", "apply", "--dev", d.dev, "--cpus", "1-2")
	must(t, "irq-pin", "apply", "--dev", d.dev, "--cpus", "6-7")
	withProcess(t, root, "irqbalance", 600)
	then := Values(root)
	if then["rps_cpus"] != "06" || !strings.HasPrefix(then["smp_affinity_list"], "6; 7") &&
		!strings.Contains(then["smp_affinity_list"], "; 6; 7") || then["irqbalance"] != "runs" {
		t.Errorf("turned: %v", then)
	}
	for _, text := range then {
		if strings.Contains(text, d.dev) {
			t.Errorf("it names the interface: %s", text)
		}
	}
	if empty := Values(t.TempDir()); empty["rps_cpus"] != "" {
		t.Errorf("of nothing: %v", empty)
	}
}

// withProcess has a service of the tree run as a process.
func withProcess(t *testing.T, root, service string, pid int) {
	t.Helper()
	put(t, root, fmt.Sprintf("/proc/%d/comm", pid), service+"\n")
}
