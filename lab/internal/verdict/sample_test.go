package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Names of metrics, and of the package whose lock is waited for.
const (
	rps  = "throughput_rps"
	cost = "server_cpu_per_request_s"
	lock = "github.com/brianvoe/gofakeit"
)

// head begins a claim.
const head = `{ id = "c", text = "t", why = "Made up.", `

// Claims over the levels of workers, 1 and 2 unless a test says otherwise, and of what a profile shows.
const (
	isFlat    = head + `kind = "flat", metric = "throughput_rps", over = "workers", margin = 0.1 }`
	flatCost  = head + `kind = "flat", metric = "server_cpu_per_request_s", over = "workers", margin = 0.1 }`
	flatNeeds = head + `kind = "flat", metric = "throughput_rps", over = "workers", margin = 0.1, needs = { %s } }`
	atLeast   = head + `kind = "ratio", metric = "throughput_rps", over = "workers", at_least = 1.5 }`
	atMost    = head + `kind = "ratio", metric = "throughput_rps", over = "workers", at_most = 0.5 }`
	rises     = head + `kind = "monotonic", metric = "throughput_rps", over = "workers", margin = 0.1 }`
	wireWall  = head + `kind = "bound", bound = "wire" }`
	asMany    = head + `kind = "value", metric = "workers", equals = "workers" }`
	aTenth    = head + `kind = "share", profile = "block", package = "` + lock + `", at = { index = "gofakeit" }, ` +
		`at_least = 0.1 }`
)

// rename gives a claim another id.
func rename(claim, id string) string { return strings.Replace(claim, `"c"`, fmt.Sprintf("%q", id), 1) }

// designed makes a design with these factors, or workers if there are none, and claims.
func designed(t testing.TB, factors string, claims ...string) *experiment.Experiment {
	t.Helper()
	return design(t, `factors = [`+cmp.Or(factors, `{ name = "workers", levels = [1, 2] }`)+`]`, claims)
}

// profileDesign is a design that takes profiles, where an index is waited for or not.
func profileDesign(t testing.TB, claims ...string) *experiment.Experiment {
	t.Helper()
	return design(t, `factors = [{ name = "index", levels = ["gofakeit", "pool"] }]
profile = { seconds = 1 }`, claims)
}

func design(t testing.TB, factors string, claims []string) *experiment.Experiment {
	t.Helper()
	x, err := experiment.Parse("made-up", []byte(`
entry = "7"
title = "A made-up comparison"
question = "q"
metrics = ["throughput_rps"]
topology = { kind = "loopback" }
settings = { route = "/read", connections = 100 }
`+factors+`
budget_s = 60
block = { slot_s = 1, rounds = 1, warmup_s = 0 }
claims = [`+strings.Join(claims, ",")+`]
`))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// values are those of a trial, by metric.
type values = map[string]float64

// bounded gives a trial the figures of one bottleneck, and room at the others. For
// gate.BoundUnknown it removes the figures of all.
func bounded(t *results.Trial, b gate.Bound) {
	m := maps.Clone(t.Metrics)
	for _, wall := range []string{"client_thread_busy_max", "client_cores_busy", "server_cores_busy", "line_rate_share"} {
		delete(m, wall)
	}
	if t.Metrics, t.Bound = m, b; b == gate.BoundUnknown {
		return
	}
	m["client_thread_busy_max"], m["client_cores_busy"], m["server_cores_busy"] = 0.5, 0.5, 0.5
	full := map[gate.Bound]string{gate.BoundClientCPU: "client_thread_busy_max", gate.BoundServerCPU: "server_cores_busy",
		gate.BoundWire: "line_rate_share"}
	m[full[b]] = 0.95
}

// madeUp makes up a measured run: every condition once a block, with the
// figures that the function gives. All trials are valid and bounded by the
// server, and blocks are apart.
func madeUp(x *experiment.Experiment, blocks int, f func(ls setting.Levels, block int) values) *results.File {
	r := &results.File{
		SchemaVersion: results.Version, Experiment: x.Name, Run: "r", Hosts: results.Hosts{Server: "h", Client: "h"},
		Provenance: &results.Provenance{StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), ExperimentSHA256: x.SHA256,
			Blocks:     blocks,
			Block:      &results.BlockPlan{Block: x.Block},
			ServerCPUs: "0-1", ClientCPUs: "2-3"},
		Topology: experiment.Topology{Kind: "loopback"}, Settings: x.Fixed(),
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

// onDay moves a run to another day, so that its blocks are apart from those of
// another run.
func onDay(r *results.File, n int) *results.File {
	by := time.Duration(n) * 24 * time.Hour
	r.Provenance.StartedAt = r.Provenance.StartedAt.Add(by)
	for i := range r.Trials {
		r.Trials[i].StartedAt = r.Trials[i].StartedAt.Add(by)
	}
	return r
}

// speed is the result of one worker in a block. The machine's speed differs
// twofold and fourfold between blocks, which must not affect comparisons within
// blocks.
func speed(block int) float64 { return []float64{100, 200, 400}[block%3] }

// ratios makes a run of two conditions with these per-block ratios.
func ratios(x *experiment.Experiment, rs ...float64) *results.File {
	return madeUp(x, len(rs), func(ls setting.Levels, b int) values {
		v := speed(b)
		if n, _ := ls[setting.Workers].Int(); n == 2 {
			v *= rs[b-1]
		}
		return values{rps: v, cost: v, "workers": 1, "processes": 2}
	})
}

// machine is the host of all runs.
var machine = &host.Profile{SchemaVersion: host.Version, ID: "h", Name: "H", Cores: 4}

// spoil makes a trial invalid.
func spoil(t *results.Trial) {
	t.Valid, t.Reasons = false, []results.Reason{{Gate: "errors", Detail: "1 connection errors"}}
}

// shares makes a run whose trials with the lock have these shares in the block
// profile; a share of 0 is left out, as in real profiles. At the other level
// the lock has a fifth, so that the profiles are known to show it.
func shares(x *experiment.Experiment, of ...float64) *results.File {
	r := madeUp(x, len(of), func(setting.Levels, int) values { return values{rps: 1} })
	for i := range r.Trials {
		t := &r.Trials[i]
		p := profile.Profile{Kind: profile.Block, Unit: "s", Total: 2, DurationS: 1,
			Packages: map[string]float64{"runtime": 1}}
		if v := of[t.Block-1]; t.Condition == "c1" && v > 0 {
			p.Packages[lock] = v
		} else if t.Condition == "c2" {
			p.Packages[lock] = 0.2
		}
		cpu := profile.Profile{Kind: profile.CPU, Unit: "s", Total: 1, DurationS: 1,
			Work: map[string]float64{"write": 0.5, "http": 0.5}, Packages: map[string]float64{}}
		t.Profiles = []profile.Profile{cpu, p}
	}
	return r
}
