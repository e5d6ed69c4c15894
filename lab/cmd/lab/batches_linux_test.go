package main

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/profile"
)

const batches = `entry = "99"
title = "A tiny experiment with batches"
question = "Does the whole way hold for events?"
metrics = ["delivered_per_s", "arrived_share"]
budget_s = 600
[topology]
kind = "loopback"
[settings]
server = "producer"
generator = "sink"
event_rate = 5000
event_bytes = 64
batch_events = 100
flush_interval_ms = 100
sink_latency_ms = 5
[[factors]]
name = "variant"
levels = ["batch", "pool-10"]
[profile]
seconds = 1
[block]
slot_s = 1
rounds = 1
warmup_s = 0.2
[[claims]]
id = "arrives"
kind = "flat"
text = "All arrives."
why = "Made up."
metric = "arrived_share"
over = "variant"
margin = 0.001
`

// A run of batches is a run like any other: its trials have a bound and figures, and
// there are profiles of the service and verdicts.
func TestAloneRunOfBatches(t *testing.T) {
	c := newClone(t, loopback, 1)
	c.program("event_producer")
	c.program("event_sink")
	c.write("lab/experiments/99-tiny.toml", batches)
	s := c.run()
	f := c.only()
	if s.status == exitFailed || len(f.Trials) < 3 || !strings.HasPrefix(f.Provenance.Generator, "sink") {
		t.Fatalf("status %d, %d trials, generator %q", s.status, len(f.Trials), f.Provenance.Generator)
	}
	seen := 0
	for _, trial := range f.Trials {
		if !trial.Valid {
			t.Logf("invalid: %+v", trial.Reasons)
			continue
		}
		seen++
		m := trial.Metrics
		// All that was taken in has arrived once the processor has sent what it held.
		if m["arrived_share"] != 1 || m["unaccounted_events"] != 0 || m["duplicate_events"] != 0 {
			t.Errorf("arrived %v, unaccounted %v, twice %v", m["arrived_share"], m["unaccounted_events"], m["duplicate_events"])
		}
		for _, name := range []string{"delivered_per_s", "offered_per_s", "delivery_p50_s", "server_cpu_per_event_s",
			"client_thread_busy_max", "events_per_batch"} {
			if m[name] <= 0 {
				t.Errorf("%s is %v", name, m[name])
			}
		}
		for _, name := range []string{"asked_in_flight", "latency_mean_s", "errors", "response_bytes"} {
			if v, ok := m[name]; ok {
				t.Errorf("%s is %v, which nobody measured", name, v)
			}
		}
		if len(trial.Profiles) != len(profile.Kinds()) || trial.BoundWhy == "" {
			t.Errorf("%d kinds of profile, bound %q", len(trial.Profiles), trial.BoundWhy)
		}
	}
	if seen == 0 {
		t.Error("no trial was valid")
	}
}
