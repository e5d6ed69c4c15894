package madeup

import (
	"bytes"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// A made-up run is read back as any is, and is of its design.
func TestMadeUpRunsPassTheChecks(t *testing.T) {
	for name, c := range map[string]struct {
		design string
		change func(*Plan)
	}{
		"loopback":    {`topology = { kind = "loopback" }`, func(*Plan) {}},
		"a wire":      {`topology = { kind = "netns", line_rate_bps = 500000000, burst_bytes = 65536, queue_s = 0.01 }`, func(p *Plan) {}},
		"no control":  {`topology = { kind = "loopback" }`, func(p *Plan) { p.NoControl = true }},
		"shared core": {`topology = { kind = "loopback" }`, func(p *Plan) { p.Shared = true }},
		"invalid trials": {`topology = { kind = "loopback" }`, func(p *Plan) {
			p.Trial = func(levels setting.Levels, block int, control bool) Came {
				if block != 2 {
					return Came{}
				}
				return Came{Lost: control, Reasons: []results.Reason{{Gate: "window", Detail: "made up"}}}
			}
		}},
		"interrupted": {`topology = { kind = "loopback" }`, func(p *Plan) { p.Ended, p.Stopped = results.Interrupted, "interrupted" }},
	} {
		x, err := experiment.Parse("made-up", []byte(`
entry = "7"
title = "t"
question = "q"
metrics = ["server_cpu_per_request_s"]
`+c.design+`
settings = { route = "/read", generator = "http_load", connections = 100 }
factors = [{ name = "client_workers", levels = [0, 2] }, { name = "workers", levels = [1, 2] }]
budget_s = 60
block = { slot_s = 0.1, rounds = 3, warmup_s = 0.2 }
claims = [{ id = "c", kind = "flat", text = "t", metric = "server_cpu_per_request_s", over = "workers", margin = 0.1 }]
`))
		if err != nil {
			t.Fatal(err)
		}
		p := Plan{Experiment: x, Hosts: results.Hosts{Server: "h", Client: "h"}, Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Seed: 11, Blocks: 7, Ended: results.Decided}
		c.change(&p)
		text, err := results.Encode(Run(p))
		if err != nil {
			t.Fatal(err)
		}
		f := &results.File{}
		if err := results.Decode(text, results.SchemaURL, f); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if err := f.Check(x); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if again, _ := results.Encode(Run(p)); !bytes.Equal(again, text) {
			t.Errorf("%s: the same plan gives another run", name)
		}
	}
}
