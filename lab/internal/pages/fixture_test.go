package pages

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

const (
	rps  = "throughput_rps"
	cost = "server_cpu_per_request_s"
)

// Claims over the levels of workers, 1 and 2 unless a test says otherwise.
const (
	isFlat    = `{ id = "c", kind = "flat", text = "t", why = "Made up.", metric = "throughput_rps", over = "workers", margin = 0.1 }`
	flatCost  = `{ id = "c", kind = "flat", text = "t", why = "Made up.", metric = "server_cpu_per_request_s", over = "workers", margin = 0.1 }`
	flatWide  = `{ id = "c", kind = "flat", text = "t", why = "Made up.", metric = "throughput_rps", over = "workers", margin = 0.25 }`
	atLeast   = `{ id = "c", kind = "ratio", text = "t", why = "Made up.", metric = "throughput_rps", over = "workers", at_least = 1.5 }`
	atMost    = `{ id = "c", kind = "ratio", text = "t", why = "Made up.", metric = "throughput_rps", over = "workers", at_most = 0.5 }`
	rises     = `{ id = "c", kind = "monotonic", text = "t", why = "Made up.", metric = "throughput_rps", over = "workers", margin = 0.1 }`
	wireWall  = `{ id = "c", kind = "bound", text = "t", why = "Made up.", bound = "wire" }`
	asMany    = `{ id = "c", kind = "count", text = "t", why = "Made up.", metric = "workers", equals = "workers" }`
	oneMore   = `{ id = "c", kind = "count", text = "t", why = "Made up.", metric = "processes", equals = "workers", plus = 1 }`
	flatNeeds = `{ id = "c", kind = "flat", text = "t", why = "Made up.", metric = "throughput_rps", over = "workers", margin = 0.1, needs = { %s } }`
)

func design(t testing.TB, factors string, claims ...string) *experiment.Experiment {
	t.Helper()
	if factors == "" {
		factors = `{ name = "workers", levels = [1, 2] }`
	}
	x, err := experiment.Parse("made-up", []byte(`
entry = "7"
title = "A made-up comparison"
question = "q"
metrics = ["throughput_rps"]
topology = { kind = "loopback" }
settings = { route = "/read", connections = 100 }
factors = [`+factors+`]
budget_s = 60
block = { slot_s = 1, rounds = 1, warmup_s = 0 }
claims = [`+strings.Join(claims, ",")+`]
`))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

type figures = map[string]float64

// bounded gives a trial the figures of one wall, and room at the others. For
// gate.BoundUnknown it removes the figures of all walls.
func bounded(t *results.Trial, b gate.Bound) {
	m := figures{}
	for name, v := range t.Metrics {
		if name != "client_thread_busy_max" && name != "client_cores_busy" && name != "server_cores_busy" &&
			name != "line_rate_share" {
			m[name] = v
		}
	}
	if t.Metrics, t.Bound = m, b; b == gate.BoundUnknown {
		return
	}
	m["client_thread_busy_max"], m["client_cores_busy"], m["server_cores_busy"] = 0.5, 0.5, 0.5
	switch b {
	case gate.BoundClientCPU:
		m["client_thread_busy_max"] = 0.95
	case gate.BoundServerCPU:
		m["server_cores_busy"] = 0.95
	case gate.BoundWire:
		m["line_rate_share"] = 0.95
	}
}

// made is a made-up measured run: every condition once a block, with the
// figures that the function gives. All trials are valid and bounded by the
// server, and each block is a visit.
func made(x *experiment.Experiment, blocks int, f func(ls setting.Levels, block int) figures) *results.File {
	r := &results.File{
		SchemaVersion: results.Version, Experiment: x.Name, Run: "r", Hosts: results.Hosts{Server: "h", Client: "h"},
		Provenance: &results.Provenance{StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), ExperimentSHA256: x.SHA256,
			Blocks:     blocks,
			Block:      &results.BlockPlan{SlotS: x.Block.SlotS, Rounds: x.Block.Rounds, WarmupS: x.Block.WarmupS},
			ServerCPUs: "0-1", ClientCPUs: "2-3"},
		Topology: results.Topology{Kind: "loopback"}, Settings: x.Fixed(),
	}
	for i, ls := range x.Conditions() {
		r.Conditions = append(r.Conditions, results.Condition{ID: fmt.Sprintf("c%d", i+1), Levels: ls})
	}
	for b := 1; b <= blocks; b++ {
		for _, c := range r.Conditions {
			t := results.Trial{Seq: len(r.Trials) + 1, Block: b, Condition: c.ID, Valid: true, Metrics: f(c.Levels, b),
				StartedAt: r.Provenance.StartedAt.Add(time.Duration(b-1) * time.Minute)}
			bounded(&t, gate.BoundServerCPU)
			r.Trials = append(r.Trials, t)
		}
	}
	return r
}

// day moves a run to another day, so that its blocks share no visit with those of
// another run.
func day(r *results.File, n int) *results.File {
	by := time.Duration(n) * 24 * time.Hour
	r.Provenance.StartedAt = r.Provenance.StartedAt.Add(by)
	for i := range r.Trials {
		r.Trials[i].StartedAt = r.Trials[i].StartedAt.Add(by)
	}
	return r
}

// stay moves the blocks of a run together, so that so many of them are one visit.
func stay(r *results.File, each int) *results.File {
	for i, t := range r.Trials {
		at := time.Duration((t.Block-1)/each)*time.Hour + time.Duration((t.Block-1)%each)*time.Second
		r.Trials[i].StartedAt = r.Provenance.StartedAt.Add(at)
	}
	return r
}

// base is the result of one worker in a block. The machine's speed differs
// twofold and fourfold between blocks, which must not affect comparisons within
// blocks.
func base(block int) float64 { return []float64{100, 200, 400}[block%3] }

// ratios makes a run of two conditions with these per-block ratios.
func ratios(x *experiment.Experiment, rs ...float64) *results.File {
	return made(x, len(rs), func(ls setting.Levels, b int) figures {
		v := base(b)
		if n, _ := ls[setting.Workers].Int(); n == 2 {
			v *= rs[b-1]
		}
		return figures{rps: v, cost: v, "workers": 1, "processes": 2}
	})
}

var machine = &host.Profile{SchemaVersion: host.Version, ID: "h", Name: "H", Cores: 4}

func one(t *testing.T, x *experiment.Experiment, r *results.File, h *host.Profile) verdict.Claim {
	t.Helper()
	f := verdict.Decide(x, h, []verdict.Run{{File: r, Then: x}})
	if len(f.Claims) != len(x.Claims) {
		t.Fatalf("%d verdicts of %d claims", len(f.Claims), len(x.Claims))
	}
	return f.Claims[0]
}

func spoil(t *results.Trial) {
	t.Valid, t.Reasons = false, []results.Reason{{Gate: "errors", Detail: "1 connection errors"}}
}

// every has one claim of each kind, and good is a run that reproduces them all.
var every = []string{
	isFlat,
	strings.Replace(atLeast, "1.5", "0.9", 1),
	strings.Replace(atMost, "0.5", "1.1", 1),
	rises, wireWall, asMany,
}

func good(t *testing.T, blocks int) (*experiment.Experiment, *results.File) {
	t.Helper()
	var claims []string
	for i, c := range every {
		claims = append(claims, strings.Replace(c, `id = "c"`, fmt.Sprintf(`id = "c-%d"`, i), 1))
	}
	x := design(t, "", claims...)
	r := made(x, blocks, func(ls setting.Levels, b int) figures {
		n, _ := ls[setting.Workers].Int()
		return figures{rps: base(b) * (1 + 0.05*float64(n-1)), "workers": float64(n)}
	})
	for i := range r.Trials {
		bounded(&r.Trials[i], gate.BoundWire)
	}
	return x, r
}

func runOf(x *experiment.Experiment, name string, rs ...float64) verdict.Run {
	f := ratios(x, rs...)
	f.Run = name
	of := fnv.New32()
	of.Write([]byte(name))
	return verdict.Run{File: day(f, int(of.Sum32()%10000)), Then: x}
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
func ptr[T any](v T) *T { return &v }

const p50 = "latency_p50_s"
