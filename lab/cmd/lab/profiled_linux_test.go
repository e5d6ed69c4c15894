package main

import (
	"bytes"
	"path/filepath"
	"testing"

	pprof "github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// The window of the profiles matters here, so the slots before it are short.
const profiled = `entry = "99"
title = "A tiny experiment with profiles"
question = "Does each profile show its own server?"
metrics = ["throughput_rps"]
budget_s = 600
[topology]
kind = "loopback"
[settings]
route = "/read"
generator = "http_load"
connections = 4
pipelining = 1
prefork = false
[[factors]]
name = "stack"
levels = ["fasthttp", "net-http"]
[profile]
seconds = 1
[block]
slot_s = 0.1
rounds = 5
warmup_s = 0.1
[[claims]]
id = "writes"
kind = "share"
text = "It writes."
why = "Made up."
profile = "cpu"
work = "write"
at_least = 0.001
[[claims]]
id = "gone"
kind = "share"
text = "It is not there."
why = "Made up."
profile = "cpu"
package = "example.com/nowhere"
at_most = 0
`

// The lab profiles each server under its own load, after the slots. A run keeps the profiles of its
// valid trials.
func TestAloneProfiledRun(t *testing.T) {
	c := newClone(t, loopback, 1)
	c.write("lab/experiments/99-tiny.toml", profiled)
	s := c.run()
	f := c.only()
	if s.status == exitFailed || len(f.Trials) != 3 {
		t.Fatalf("status %d, %d trials", s.status, len(f.Trials))
	}
	valid, stacks := map[string]int{}, map[string]string{}
	for _, cond := range f.Conditions {
		stacks[cond.ID] = cond.Levels["stack"].String()
	}
	for _, trial := range f.Trials {
		if !trial.Valid {
			t.Logf("invalid: %+v", trial.Reasons)
			continue
		}
		valid[trial.Condition]++
		for _, name := range []string{"profiled_throughput_share", "goroutines_parked", "live_heap_bytes"} {
			if _, ok := trial.Metrics[name]; !ok {
				t.Errorf("%s has no %s", trial.Condition, name)
			}
		}
		// Half a second of slots, without the window.
		if n := len(trial.Profiles); n != len(profile.Kinds()) || trial.Metrics["duration_s"] > 1.4 {
			t.Errorf("%s: %d profiles, and figures of %v s", trial.Condition, n, trial.Metrics["duration_s"])
		}
		cpu, _ := trial.Profile(profile.CPU)
		for name, module := range map[string]string{"fasthttp": "github.com/valyala/fasthttp", "net-http": "net/http"} {
			if own := stacks[trial.Condition] == name; (cpu.Packages[module] > 0) != own || cpu.Work["write"] == 0 {
				t.Errorf("%s is of %s: %+v", trial.Condition, stacks[trial.Condition], cpu)
			}
		}
	}
	for _, cond := range f.Conditions {
		if len(cond.Profiles) == 0 && valid[cond.ID] > 0 {
			t.Errorf("%s names no raw profile", cond.ID)
		}
		for _, raw := range cond.Profiles {
			data, err := results.ReadRaw(filepath.Join(c.root, "data", "profiles", filepath.Dir(raw.File)+".zip"), raw.File)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := pprof.Parse(bytes.NewReader(data)); err != nil || raw.Trials != valid[cond.ID] {
				t.Fatalf("%s: %v, of %d trials, want %d", raw.File, err, raw.Trials, valid[cond.ID])
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(c.root, ".tools/scratch/pprof/*/*")); len(left) > 0 {
		t.Errorf("sockets left behind: %v", left)
	}
	if s := finish(t, c.command("check")); s.status != exitHeld {
		t.Fatal("lab check does not accept what the lab made")
	}
}
