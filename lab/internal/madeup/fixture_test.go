package madeup

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

var update = flag.Bool("update", false, "write the golden pages' runs anew")

// fixture is the journal of the golden pages.
const fixture = "../../../test/site/fixture"

const small, wide = "small-cpu-2c-0000aaaa", "wide-cpu-8c-0000bbbb"

// The golden pages' runs of version 2 are these. Those of version 1 beside them were
// made by a lab that is gone, and stay as they are.
func TestTheFixturesRunsAreMadeUpHere(t *testing.T) {
	for _, r := range []struct {
		experiment string
		day, hour  int
		change     func(p *Plan)
		after      func(t *testing.T, f *results.File)
	}{
		// Its figures of one condition lost a block, and its claims are open.
		{"90-workers", 20, 8, func(p *Plan) {
			p.Blocks, p.Ended, p.Trial = 8, results.Budget, workers(func(workers int64, block int, c *Came) {
				if workers == 4 && block == 3 {
					c.Reasons = []results.Reason{{Gate: "silent", Detail: "no answer came for 61 ms, where up to 50 ms can be"}}
				}
			})
		}, nil},
		// The record's second run, in which the client was the wall for three blocks.
		{"90-workers", 21, 8, func(p *Plan) {
			p.Blocks, p.Ended, p.Trial = 9, results.Decided, workers(func(workers int64, block int, c *Came) {
				if block > 6 {
					c.ClientBusy = 0.97
				}
			})
		}, func(_ *testing.T, f *results.File) {
			f.Warnings = []string{"The calibration loop moved by a tenth in block three."}
		}},
		{"91-wire", 20, 9, func(p *Plan) { p.Blocks, p.Ended, p.Trial = 12, results.Decided, wire(0.96, 3e-5) }, onTheWire},
		// A machine whose server is the wall without pipelining.
		{"91-wire", 21, 9, func(p *Plan) {
			p.Blocks, p.Ended, p.Trial, p.Hosts = 12, results.Interrupted, wire(0.8, 9.1e-5), results.Hosts{Server: wide, Client: wide}
			p.Stopped = "interrupted"
		}, onTheWire},
		{"93-lock", 20, 10, func(p *Plan) {
			p.Blocks, p.Ended, p.NoControl = 6, results.Blocks, true
			p.Trial = func(levels setting.Levels, _ int, _ bool) Came {
				return Came{CostS: map[string]float64{"gofakeit": 3e-5, "pool": 2.8e-5}[levels[setting.Index].String()], ResponseBytes: 4631, Noise: 0.02}
			}
		}, profiled},
	} {
		text, err := os.ReadFile(filepath.Join(fixture, "lab/experiments", r.experiment+".toml"))
		if err != nil {
			t.Fatal(err)
		}
		if r.experiment == "93-lock" { // its last claim was written after the run
			text = text[:bytes.Index(text, []byte("\n[[claims]]\nid = \"cheaper\""))]
		}
		x, err := experiment.Parse(r.experiment, text)
		if err != nil {
			t.Fatal(err)
		}
		p := Plan{Experiment: x, Hosts: results.Hosts{Server: small, Client: small}, Started: time.Date(2026, 11, r.day, r.hour, 0, 0, 0, time.UTC), Seed: 12345678901234567000 + uint64(r.day)}
		r.change(&p)
		f := Run(p)
		if r.after != nil {
			r.after(t, f)
		}
		if err := f.Check(x); err != nil {
			t.Errorf("%s: %v", f.Run, err)
		}
		data, err := results.Encode(f)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "data/designs/"+fmt.Sprintf("%x", sha256.Sum256(text))+".toml", text)
		same(t, "data/results/"+r.experiment+"/"+f.Run+".json", data)
	}
}

// same holds a file of the fixture against what it should be.
func same(t *testing.T, name string, want []byte) {
	t.Helper()
	path := filepath.Join(fixture, name)
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil {
		t.Error(err)
	} else if !bytes.Equal(got, want) {
		t.Errorf("%s is not what is made up here; go test ./internal/madeup -update, then test/site/fixture.sh --update", name)
	}
}

// workers has requests cost a little more with more workers, and what else differs.
func workers(more func(workers int64, block int, c *Came)) func(setting.Levels, int, bool) Came {
	return func(levels setting.Levels, block int, _ bool) Came {
		n, _ := levels[setting.Workers].Int()
		c := Came{CostS: 2e-4 * (1 + 0.03*float64(n)), ServerBusy: 0.98, Noise: 0.02, ResponseBytes: 230}
		more(n, block, &c)
		return c
	}
}

// wire has answers fill a wire by so much without pipelining, at a cost of so many
// seconds each, and a little less than all of it at the greatest depth.
func wire(first, cost float64) func(setting.Levels, int, bool) Came {
	return func(levels setting.Levels, _ int, _ bool) Came {
		depth, _ := levels[setting.Pipelining].Int()
		c := Came{CostS: 3e-5, ResponseBytes: 4631, ClientBusy: 0.4, Noise: 0.004}
		if depth == 1 {
			c.CostS = cost
		}
		share := map[int64]float64{1: first, 10: 0.94, 50: 0.93}[depth]
		c.ServerBusy = share * 5e8 / 8 / (c.ResponseBytes + overhead) * c.CostS
		return c
	}
}

func onTheWire(_ *testing.T, f *results.File) {
	f.Provenance.Commands = []string{"lab/scripts/wire.sh up --rate 500mbit"}
}

// profiled gives each trial the profiles that it has in the file as it is, whose
// raw ones lie beside it.
func profiled(t *testing.T, f *results.File) {
	was, err := results.Read(filepath.Join(fixture, "data/results", f.Experiment, f.Run+".json"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Conditions {
		f.Conditions[i].Profiles = was.Conditions[i].Profiles
		for k, raw := range f.Conditions[i].Profiles {
			if !strings.HasPrefix(raw.File, f.Experiment+"/"+f.Run+"/") {
				t.Fatalf("%s: profile %d of condition %d is another run's", f.Run, k, i)
			}
		}
	}
	for i := range f.Trials {
		for _, before := range was.Trials {
			if a, b := f.Trials[i], before; a.Block == b.Block && a.Condition == b.Condition {
				f.Trials[i].Profiles = b.Profiles
				for _, p := range b.Profiles {
					switch p.Kind {
					case "block":
						f.Trials[i].Metrics["block_events"], f.Trials[i].Metrics["block_stacks"] = p.Events, float64(p.Stacks)
						f.Trials[i].Metrics["goroutines_parked"] = p.Total / p.DurationS
					case "heap":
						f.Trials[i].Metrics["live_heap_bytes"] = p.Total
					}
				}
			}
		}
		results.Round(f.Trials[i].Metrics)
	}
}
