package madeup

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/check"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

var update = flag.Bool("update", false, "write the golden pages' runs anew")

// fixture is the journal behind the golden pages.
const fixture = "../../../test/site/fixture"

const small, wide = "small-cpu-2c-0000aaaa", "wide-cpu-8c-0000bbbb"

// The golden pages' runs of 94-turns are made here, so that they can be made
// again when the lab records something else. Those of 90-workers, 91-wire and
// 93-lock stay as they are.
func TestTheFixturesRunsAreMadeUpHere(t *testing.T) {
	x := designed(t, "94-turns")
	for i, p := range []Plan{
		{Blocks: 7, Ended: results.Budget, Trial: pipelines(0.45, 0.135, 0, nil)},
		// The record's second run lost a trial, and in its last blocks the client was
		// the wall.
		{Blocks: 9, Ended: results.Interrupted, Stopped: "interrupted by a signal; its complete blocks are kept",
			Trial: pipelines(0.45, 0.135, 0, func(depth int64, block int, c *Came) {
				if depth == 50 && block == 3 {
					c.Metrics = map[string]float64{"server_foreign_load": 0.31}
					c.Reasons = []results.Reason{{Gate: "other-load",
						Detail: "others ran on the server's cores for 0.31 of a core, more than 0.10"}}
				}
				if block > 7 {
					c.ClientBusy = 0.96
				}
			})},
		// On another machine deep pipelining gains less.
		{Blocks: 10, Ended: results.Decided, Hosts: results.Hosts{Server: wide, Client: wide},
			Trial: pipelines(0.72, 0.62, 2, nil)},
	} {
		p.Experiment, p.Started, p.Seed = x, time.Date(2026, 11, 21, 8+i, 0, 0, 0, time.UTC), 12345678901234567891+uint64(i)
		if p.Hosts.Server == "" {
			p.Hosts = results.Hosts{Server: small, Client: small}
		}
		made(t, x, Run(p))
	}
}

// designed reads a design of the fixture, and keeps it as that of its runs.
func designed(t *testing.T, name string) *experiment.Experiment {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(fixture, "lab/experiments", name+".toml"))
	if err != nil {
		t.Fatal(err)
	}
	x, err := experiment.Parse(name, text)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "data/designs/"+x.SHA256+".toml", text)
	return x
}

func made(t *testing.T, x *experiment.Experiment, f *results.File) {
	t.Helper()
	if err := check.File(f, x); err != nil {
		t.Errorf("%s: %v", f.Run, err)
	}
	data, err := results.Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "data/results/"+x.Name+"/"+f.Run+".json", data)
}

// same compares a file of the fixture with its expected content.
func same(t *testing.T, name string, want []byte) {
	t.Helper()
	path := filepath.Join(fixture, name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil {
		t.Error(err)
	} else if !bytes.Equal(got, want) {
		t.Errorf("%s is not what is made up here; go test ./internal/madeup -update", name)
	}
}

// pipelines gives the cost of a request at pipelining 10 and 50, as shares of
// its cost without pipelining, and the additional threads at 50.
func pipelines(ten, fifty, threads float64, more func(depth int64, block int, c *Came)) func(setting.Levels, int,
	bool) Came {
	return func(levels setting.Levels, block int, _ bool) Came {
		depth, _ := levels[setting.Pipelining].Int()
		c := Came{CostS: 8e-6 * map[int64]float64{1: 1, 10: ten, 50: fifty}[depth], Noise: 0.015, ResponseBytes: 132}
		if depth == 50 && threads > 0 {
			c.Metrics = map[string]float64{"threads_per_worker": 6 + threads}
		}
		if more != nil {
			more(depth, block, &c)
		}
		return c
	}
}
