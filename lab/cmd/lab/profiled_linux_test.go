package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
)

// profiling makes of a clone's experiment one that takes profiles.
func profiling(c *clone) {
	c.edit("[sizes.smoke]", "[profile]\ncompare = \"workers\"\n[sizes.smoke]")
	c.edit("pipelining = 1", "pipelining = 1\ngenerator = \"fortio\"\nindex = \"gofakeit\"")
	c.edit("[[claims]]\nid = \"count\"", `[[claims]]
id = "writes"
kind = "share"
text = "It writes."
profile = "cpu"
work = "write"
at_least = 0.001
[[claims]]
id = "gone"
kind = "absent"
text = "It is not there."
profile = "cpu"
package = "example.com/nowhere"
[[claims]]
id = "count"`)
}

func TestProfiledRun(t *testing.T) {
	c := newClone(t, loopback, "/read", 1, 1)
	profiling(c)
	s := c.run()
	f := c.only()
	if s.status == exitFailed || len(f.Trials) < 3 {
		t.Fatalf("status %d, %d trials", s.status, len(f.Trials))
	}
	valid := map[string]int{}
	for _, trial := range f.Trials {
		if !trial.Valid {
			t.Logf("invalid: %+v", trial.Reasons)
			continue
		}
		valid[trial.Condition]++
		var kinds []profiles.Kind
		for _, p := range trial.Profiles {
			kinds = append(kinds, p.Kind)
		}
		if !slices.Equal(kinds, profiles.Kinds()) {
			t.Errorf("trial %d has profiles %v", trial.Seq, kinds)
		}
		for _, name := range []string{"profile_spread_s", "profiled_throughput_share", "goroutines_parked", "block_stacks", "live_heap_bytes"} {
			if v, ok := trial.Metrics[name]; !ok || v < 0 || name != "profile_spread_s" && v == 0 {
				t.Errorf("trial %d: %s is %v", trial.Seq, name, v)
			}
		}
		cpu, _ := trial.Profile(profiles.CPU)
		if cpu.Packages["github.com/valyala/fasthttp"] == 0 || cpu.Work["write"] == 0 {
			t.Errorf("trial %d: CPU profile %+v", trial.Seq, cpu)
		}
	}
	for _, cond := range f.Conditions {
		if len(cond.Profiles) == 0 && valid[cond.ID] > 0 {
			t.Errorf("%s names no raw profile", cond.ID)
		}
		for _, raw := range cond.Profiles {
			data, err := os.ReadFile(filepath.Join(c.root, "data", "profiles", raw.File))
			if err != nil {
				t.Fatal(err)
			}
			p, err := profile.Parse(bytes.NewReader(data))
			if err != nil || raw.Trials != valid[cond.ID] {
				t.Errorf("%s: %v, of %d trials, want %d", raw.File, err, raw.Trials, valid[cond.ID])
				continue
			}
			if raw.Kind == profiles.CPU && p.DurationNanos < int64(valid[cond.ID])*int64(time.Second)*9/10 {
				t.Errorf("%s: lasts %v", raw.File, time.Duration(p.DurationNanos))
			}
			tree := strings.TrimSuffix(filepath.Join(c.root, "data", "flames", raw.File), ".pb.gz") + ".json"
			if _, err := os.Stat(tree); err != nil {
				t.Error(err)
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(c.root, pprofSockets, "*")); len(left) > 0 {
		t.Errorf("sockets left behind: %v", left)
	}
	if s := finish(t, c.command("check")); s.status != exitHeld {
		t.Error("lab check does not accept what the lab made")
	}
	// What a results file names is what it was made from.
	i := slices.IndexFunc(f.Conditions, func(c results.Condition) bool { return len(c.Profiles) > 0 })
	if i < 0 {
		t.Fatal("no condition has a valid trial: leave the machine alone")
	}
	raw := filepath.Join(c.root, "data", "profiles", f.Conditions[i].Profiles[0].File)
	if err := os.WriteFile(raw, []byte("another"), 0o644); err != nil {
		t.Fatal(err)
	}
	if s := finish(t, c.command("check")); s.status != exitFailed || !strings.Contains(s.err+s.out, fmt.Sprintf("/conditions/%d/profiles/0", i)) {
		t.Error("lab check passes over a raw profile that was changed")
	}
}

const pprofSockets = ".tools/scratch/pprof"

// untilProfiled waits for the server to have started, and for the second window.
func untilProfiled(t *testing.T, c *clone) (lab int, stop func() said) {
	t.Helper()
	cmd := c.command("run", "99-tiny", "--port", strconv.Itoa(c.port))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		sockets, _ := filepath.Glob(filepath.Join(c.root, pprofSockets, "*.sock"))
		if len(sockets) > 0 {
			// The first window is a second; in the middle of the next the load is on again.
			time.Sleep(2500 * time.Millisecond)
			return cmd.Process.Pid, func() said { return wait(t, cmd, &out, &errs) }
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("no profile socket appeared")
	return 0, nil
}

func TestProfilingIsInterrupted(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			c := newClone(t, loopback, "/read", 1, 2)
			profiling(c)
			before := c.files()
			lab, ended := untilProfiled(t, c)
			if err := syscall.Kill(lab, sig); err != nil {
				t.Fatal(err)
			}
			ended()
			gone := time.Now().Add(5 * time.Second)
			for len(c.processes()) > 0 && time.Now().Before(gone) {
				time.Sleep(50 * time.Millisecond)
			}
			if after := c.files(); !slices.Equal(before, after) {
				t.Errorf("left in data: %v", after)
			}
		})
	}
}

func TestServerDiesWhileProfiled(t *testing.T) {
	c := newClone(t, loopback, "/read", 1, 2)
	profiling(c)
	lab, ended := untilProfiled(t, c)
	time.Sleep(1200 * time.Millisecond)
	killed := false
	for _, pid := range telemetry.Descendants(lab) {
		if telemetry.Command(pid) == "fiber_server" {
			killed = syscall.Kill(pid, syscall.SIGKILL) == nil || killed
		}
	}
	ended()
	if !killed {
		t.Fatal("no server to kill")
	}
	f := c.only()
	i := slices.IndexFunc(f.Trials, func(t results.Trial) bool {
		return slices.ContainsFunc(t.Reasons, func(r results.Reason) bool {
			return slices.Contains([]string{gate.ServerExited, gate.LostWorker, gate.ProfileFailed}, r.Gate)
		})
	})
	if i < 0 {
		t.Fatalf("no trial is invalid for it: %+v", f.Trials)
	}
	if f.Trials[i].Valid || len(f.Trials[i].Profiles) > 0 {
		t.Errorf("the trial in which the server died has profiles: %+v", f.Trials[i])
	}
}
