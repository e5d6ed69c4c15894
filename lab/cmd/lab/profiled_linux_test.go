package main

import (
	"bytes"
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
		var kinds []profile.Kind
		for _, p := range trial.Profiles {
			kinds = append(kinds, p.Kind)
		}
		if !slices.Equal(kinds, profile.Kinds()) {
			t.Errorf("trial %d has profiles %v", trial.Seq, kinds)
		}
		for _, name := range []string{"profiled_throughput_share", "goroutines_parked", "block_stacks",
			"live_heap_bytes"} {
			if v, ok := trial.Metrics[name]; !ok || v <= 0 {
				t.Errorf("trial %d: %s is %v", trial.Seq, name, v)
			}
		}
		cpu, _ := trial.Profile(profile.CPU)
		if cpu.Packages["github.com/valyala/fasthttp"] == 0 || cpu.Work["write"] == 0 {
			t.Errorf("trial %d: CPU profile %+v", trial.Seq, cpu)
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
			p, err := pprof.Parse(bytes.NewReader(data))
			if err != nil || raw.Trials != valid[cond.ID] {
				t.Errorf("%s: %v, of %d trials, want %d", raw.File, err, raw.Trials, valid[cond.ID])
				continue
			}
			if raw.Kind == profile.CPU && p.DurationNanos < int64(valid[cond.ID])*int64(time.Second)*9/10 {
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
	if i < 0 {
		t.Fatal("no condition has a valid trial")
	}
	raw := filepath.Join(c.root, "data", "profiles", filepath.Dir(f.Conditions[i].Profiles[0].File)+".zip")
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
