package madeup

import (
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/check"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// eventDesign has producers at a set rate, measured at once, and producers
// whose receiver searches for the limit, each alone.
const eventDesign = `
entry = "7"
title = "t"
question = "q"
metrics = ["server_cpu_per_event_s"]
topology = { kind = "loopback" }
settings = { server = "producer", generator = "sink", batch_events = 100, flush_interval_ms = 100, queue_events = 0, pacing = "open", event_bytes = 64, sink_latency_ms = 5 }
factors = [{ name = "variant", levels = ["async", "batch", "pool-10"] }, { name = "event_rate", levels = [0, 2000] }]
budget_s = 60
block = { slot_s = 1.5, rounds = 1, warmup_s = 0.2 }
claims = [{ id = "c", kind = "flat", text = "t", why = "Made up.", metric = "server_cpu_per_event_s", over = "variant", margin = 0.1 }]
`

// group is the index of the first trial, in the first block, of those measured
// at once.
func group(f *results.File) int {
	for i := range f.Trials {
		if f.Trials[i].StartedAt.Equal(f.Trials[i+1].StartedAt) {
			return i
		}
	}
	panic("nothing was measured at once")
}

func TestRunsMeasuredAtOnceAreChecked(t *testing.T) {
	x, err := experiment.Parse("made-up", []byte(eventDesign))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(f *results.File)
		says   string // empty: accepted
	}{
		"as made": {func(*results.File) {}, ""},
		"two of a group swapped": {func(f *results.File) {
			a, b := &f.Trials[group(f)], &f.Trials[group(f)+1]
			a.Condition, b.Condition = b.Condition, a.Condition
		}, "/trials/"},
		"the groups the other way round": {func(f *results.File) {
			for i := range 7 {
				f.Trials[i].Condition = f.Trials[6-i].Condition
			}
		}, "/trials/0: "},
		"another seed": {func(f *results.File) { f.Provenance.Seed = 13 }, "/"},
		"a group of the next block as part of this": {func(f *results.File) { f.Trials[7].Block = 1 }, "/trials/7: "},
	} {
		f := Run(Plan{Experiment: x, Hosts: results.Hosts{Server: "h", Client: "h"},
			Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Seed: 11, Blocks: 5, Ended: results.Decided})
		if len(f.Trials) != 5*7 {
			t.Fatalf("%d trials, want 35", len(f.Trials))
		}
		c.change(f)
		if err := check.File(f, x); c.says == "" && err != nil || c.says != "" &&
			(err == nil || !strings.HasPrefix(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
