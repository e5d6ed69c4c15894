package verdict

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

func runOf(x *experiment.Experiment, name string, rs ...float64) Run {
	f := ratios(x, rs...)
	f.Run = name
	of := fnv.New32()
	of.Write([]byte(name))
	return Run{day(f, int(of.Sum32()%10000)), x}
}

func named(claim, id string) string { return strings.Replace(claim, `"c"`, fmt.Sprintf("%q", id), 1) }

// controlled adds an A/A control of the first condition: its figures times the
// given factor of each block; 0 leaves the block's trial invalid.
func controlled(r *results.File, by ...float64) *results.File {
	r.Conditions = append(r.Conditions, results.Condition{ID: "again", Levels: r.Conditions[0].Levels,
		ControlOf: r.Conditions[0].ID})
	for _, of := range slices.Clone(r.Trials) {
		if of.Condition != r.Conditions[0].ID {
			continue
		}
		again := of
		again.Condition, again.Metrics = "again", figures{}
		for name, v := range of.Metrics {
			again.Metrics[name] = v * by[of.Block-1]
		}
		if by[of.Block-1] == 0 {
			spoil(&again)
		}
		r.Trials = append(r.Trials, again)
	}
	return r
}

const lock = "github.com/brianvoe/gofakeit"

const (
	aTenth   = `{ id = "c", kind = "share", text = "t", why = "Made up.", profile = "block", package = "github.com/brianvoe/gofakeit", at_least = 0.1, at = { index = "gofakeit" } }`
	atMost10 = `{ id = "c", kind = "share", text = "t", why = "Made up.", profile = "block", package = "github.com/brianvoe/gofakeit", at_most = 0.1, at = { index = "gofakeit" } }`
	gone     = `{ id = "c", kind = "absent", text = "t", why = "Made up.", profile = "block", package = "github.com/brianvoe/gofakeit", at = { index = "gofakeit" } }`
	writing  = `{ id = "c", kind = "share", text = "t", why = "Made up.", profile = "cpu", work = "write", at_least = 0.4 }`
)

// profiled is a design that takes profiles.
func profiled(t *testing.T, claims ...string) *experiment.Experiment {
	t.Helper()
	x, err := experiment.Parse("made-up", []byte(`
entry = "7"
title = "A made-up lock"
question = "q"
metrics = ["throughput_rps"]
topology = { kind = "loopback" }
settings = { route = "/read", connections = 100 }
factors = [{ name = "index", levels = ["gofakeit", "pool"] }]
profile = { seconds = 1, compare = "index" }
budget_s = 60
block = { slot_s = 1, rounds = 1, warmup_s = 0 }
claims = [`+strings.Join(claims, ",")+`]
`))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// shares is a run whose trials with the lock have these shares in the block
// profile; a share of 0 is left out, as in real profiles. At the other level
// the lock has a fifth, so that the profiles are known to show it.
func shares(x *experiment.Experiment, of ...float64) *results.File {
	r := made(x, len(of), func(setting.Levels, int) figures { return figures{rps: 1} })
	for i := range r.Trials {
		t := &r.Trials[i]
		p := profiles.Profile{Kind: profiles.Block, Unit: "s", Total: 2, DurationS: 1,
			Packages: map[string]float64{"runtime": 1}}
		if v := of[t.Block-1]; t.Condition == "c1" && v > 0 {
			p.Packages[lock] = v
		} else if t.Condition == "c2" {
			p.Packages[lock] = 0.2
		}
		cpu := profiles.Profile{Kind: profiles.CPU, Unit: "s", Total: 1, DurationS: 1,
			Work: map[string]float64{"write": 0.5, "http": 0.5}, Packages: map[string]float64{}}
		t.Profiles = []profiles.Profile{cpu, p}
	}
	return r
}
