package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
compare = "stack"
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

// Servers that are up together are profiled one after the other, each under its own load, after the slots. A run keeps
// the profiles of its valid trials, and lab check accepts those from which its figures were made and no others.
func TestAloneProfiledRun(t *testing.T) {
	c := newClone(t, loopback, "/read", 1, 1)
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
	at, zip := -1, ""
	var windows [][2]int64
	for i, cond := range f.Conditions {
		if len(cond.Profiles) == 0 && valid[cond.ID] > 0 {
			t.Errorf("%s names no raw profile", cond.ID)
		}
		for _, raw := range cond.Profiles {
			file := filepath.Join(c.root, "data", "profiles", filepath.Dir(raw.File)+".zip")
			if at < 0 {
				at, zip = i, file
			}
			data, err := results.ReadRaw(file, raw.File)
			if err != nil {
				t.Fatal(err)
			}
			p, err := pprof.Parse(bytes.NewReader(data))
			if err != nil || raw.Trials != valid[cond.ID] {
				t.Fatalf("%s: %v, of %d trials, want %d", raw.File, err, raw.Trials, valid[cond.ID])
			}
			if raw.Kind == profile.CPU {
				windows = append(windows, [2]int64{p.TimeNanos, p.TimeNanos + p.DurationNanos})
			}
		}
	}
	slices.SortFunc(windows, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	for i, w := range windows {
		if w[1]-w[0] < int64(time.Second)*9/10 || i > 0 && w[0] < windows[i-1][1] {
			t.Errorf("windows of %v: one is short, or begins within another", windows)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(c.root, ".tools/scratch/pprof/*/*")); len(left) > 0 {
		t.Errorf("sockets left behind: %v", left)
	}
	if s := finish(t, c.command("check")); s.status != exitHeld || at < 0 {
		t.Fatalf("lab check does not accept what the lab made, or no condition has profiles: %d", at)
	}
	if err := os.WriteFile(zip, []byte("another"), 0o644); err != nil {
		t.Fatal(err)
	}
	if s := finish(t, c.command("check")); s.status != exitFailed ||
		!strings.Contains(s.err+s.out, fmt.Sprintf("/conditions/%d/profiles/0", at)) {
		t.Error("lab check passes over a raw profile that was changed")
	}
}
