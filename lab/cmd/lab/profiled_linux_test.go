package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// profiling changes a clone's experiment into one that takes profiles. The window of the
// profiles matters here, so the slots before it are short.
func profiling(c *clone) {
	c.edit("slot_s = 1", "slot_s = 0.5")
	c.edit("[block]", "[profile]\nseconds = 1\ncompare = \"workers\"\n[block]")
	c.edit("pipelining = 1", "pipelining = 1\ngenerator = \"http_load\"\nindex = \"gofakeit\"")
	c.edit("[[claims]]\nid = \"count\"", `[[claims]]
id = "writes"
kind = "share"
text = "It writes."
why = "Made up."
profile = "cpu"
work = "write"
at_least = 0.001
[[claims]]
id = "gone"
kind = "absent"
text = "It is not there."
why = "Made up."
profile = "cpu"
package = "example.com/nowhere"
[[claims]]
id = "count"`)
}

func TestAloneProfiledRun(t *testing.T) {
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
		for _, name := range []string{"profile_spread_s", "profiled_throughput_share", "goroutines_parked", "block_stacks",
			"live_heap_bytes"} {
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
		}
	}
	if left, _ := filepath.Glob(filepath.Join(c.root, pprofSockets, "*", "*")); len(left) > 0 {
		t.Errorf("sockets left behind: %v", left)
	}
	if s := finish(t, c.command("check")); s.status != exitHeld {
		t.Error("lab check does not accept what the lab made")
	}
	// The profiles that a results file names are those that its figures were made from.
	i := slices.IndexFunc(f.Conditions, func(c results.Condition) bool { return len(c.Profiles) > 0 })
	if i < 0 && !weather(f) {
		t.Fatal("no condition has a valid trial")
	}
	if i < 0 {
		t.Skip("the machine is too disturbed to measure on: no condition has a valid trial, so there is no profile to be " +
			"changed")
	}
	raw := filepath.Join(c.root, "data", "profiles", f.Conditions[i].Profiles[0].File)
	if err := os.WriteFile(raw, []byte("another"), 0o644); err != nil {
		t.Fatal(err)
	}
	if s := finish(t, c.command("check")); s.status != exitFailed ||
		!strings.Contains(s.err+s.out, fmt.Sprintf("/conditions/%d/profiles/0", i)) {
		t.Error("lab check passes over a raw profile that was changed")
	}
}

// pprofSockets has a directory for each server.
const pprofSockets = ".tools/scratch/pprof"

// profilesTaken reports whether a server in the clone is being profiled.
func (r *profiledRun) profilesTaken(t *testing.T) bool {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(r.c.root, pprofSockets, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(dirs, func(dir string) bool { return beingTaken(t, dir) })
}

// A profiledRun is a running lab in a clone that takes profiles.
type profiledRun struct {
	c     *clone
	cmd   *exec.Cmd
	ended chan struct{}
	out   bytes.Buffer
	errs  bytes.Buffer
}

func startProfiled(t *testing.T) *profiledRun {
	t.Helper()
	c := newClone(t, loopback, "/read", 1, 1)
	profiling(c)
	r := &profiledRun{c: c, cmd: c.run99(), ended: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.errs
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = r.cmd.Wait(); close(r.ended) }()
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill() // if the test ended before the lab did
		<-r.ended
	})
	return r
}

// window waits until a trial has been taking profiles for a while. It returns false if
// the lab has ended before.
func (r *profiledRun) window(t *testing.T) bool {
	t.Helper()
	for {
		select {
		case <-r.ended:
			return false
		case <-time.After(20 * time.Millisecond):
		}
		if r.profilesTaken(t) {
			time.Sleep(300 * time.Millisecond)
			return true
		}
	}
}

// end waits until the lab has ended, and logs what it printed.
func (r *profiledRun) end(t *testing.T) {
	t.Helper()
	<-r.ended
	t.Logf("exit %d\n%s%s", r.cmd.ProcessState.ExitCode(), r.errs.String(), r.out.String())
}

// If disturbances of the machine make every trial invalid, there are no profiles. What
// dies or is stopped before the profiles is tested elsewhere.
const noWindow = "the machine is too disturbed to measure on: no trial came to its profiles"

func TestAloneProfilingIsInterrupted(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			r := startProfiled(t)
			if !r.window(t) {
				r.end(t)
				t.Skip(noWindow)
			}
			if err := r.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			r.end(t)
			gone := time.Now().Add(5 * time.Second)
			for len(r.c.processes()) > 0 && time.Now().Before(gone) {
				time.Sleep(50 * time.Millisecond)
			}
			if left := r.c.files(); len(left) > 0 {
				t.Errorf("left in data: %v", left)
			}
		})
	}
}
