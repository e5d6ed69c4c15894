package verdict

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/bound"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

var update = flag.Bool("update", false, "write the golden file anew")

const (
	rps  = "throughput_rps"
	cost = "server_cpu_per_request_s"
)

// Claims over the levels of workers, 1 and 2 unless a test says otherwise.
const (
	isFlat    = `{ id = "c", kind = "flat", text = "t", metric = "throughput_rps", over = "workers", margin = 0.1 }`
	flatCost  = `{ id = "c", kind = "flat", text = "t", metric = "server_cpu_per_request_s", over = "workers", margin = 0.1 }`
	flatWide  = `{ id = "c", kind = "flat", text = "t", metric = "throughput_rps", over = "workers", margin = 0.25 }`
	atLeast   = `{ id = "c", kind = "ratio", text = "t", metric = "throughput_rps", over = "workers", at_least = 1.5 }`
	atMost    = `{ id = "c", kind = "ratio", text = "t", metric = "throughput_rps", over = "workers", at_most = 0.5 }`
	rises     = `{ id = "c", kind = "monotonic", text = "t", metric = "throughput_rps", over = "workers", margin = 0.1 }`
	wireWall  = `{ id = "c", kind = "bound", text = "t", bound = "wire" }`
	asMany    = `{ id = "c", kind = "count", text = "t", metric = "workers", equals = "workers" }`
	oneMore   = `{ id = "c", kind = "count", text = "t", metric = "processes", equals = "workers", plus = 1 }`
	flatNeeds = `{ id = "c", kind = "flat", text = "t", metric = "throughput_rps", over = "workers", margin = 0.1, needs = { %s } }`
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
sizes.smoke = { blocks = 6, duration_s = 1 }
sizes.full = { blocks = 12, duration_s = 1 }
claims = [`+strings.Join(claims, ",")+`]
`))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

type figures = map[string]float64

// bounded gives a trial figures that meet one wall and leave room at the
// others. For bound.Unknown there are no figures at all.
func bounded(t *results.Trial, b bound.Bound) {
	m := figures{}
	for name, v := range t.Metrics {
		if name != "client_thread_busy_max" && name != "client_cores_busy" && name != "server_cores_busy" && name != "line_rate_share" {
			m[name] = v
		}
	}
	if t.Metrics, t.Bound = m, b; b == bound.Unknown {
		return
	}
	m["client_thread_busy_max"], m["client_cores_busy"], m["server_cores_busy"] = 0.5, 0.5, 0.5
	switch b {
	case bound.ClientCPU:
		m["client_thread_busy_max"] = 0.95
	case bound.ServerCPU:
		m["server_cores_busy"] = 0.95
	case bound.Wire:
		m["line_rate_share"] = 0.95
	}
}

// made is a made-up measured run: every condition once a block, with the
// figures that the function gives. All trials are valid and bounded by the
// server.
func made(x *experiment.Experiment, blocks int, f func(ls setting.Levels, block int) figures) *results.File {
	r := &results.File{
		SchemaVersion: 2, Experiment: x.Name, Run: "r", Source: results.Measured, Hosts: results.Hosts{Server: "h", Client: "h"},
		Provenance: &results.Provenance{StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), ExperimentSHA256: x.SHA256, Size: "smoke", Blocks: blocks, ServerCPUs: "0-1", ClientCPUs: "2-3"},
		Topology:   results.Topology{Kind: "loopback"}, Settings: x.Fixed(),
	}
	for i, ls := range x.Conditions() {
		r.Conditions = append(r.Conditions, results.Condition{ID: fmt.Sprintf("c%d", i+1), Levels: ls})
	}
	for b := 1; b <= blocks; b++ {
		for _, c := range r.Conditions {
			t := results.Trial{Seq: len(r.Trials) + 1, Block: b, Condition: c.ID, Valid: true, Metrics: f(c.Levels, b)}
			bounded(&t, bound.ServerCPU)
			r.Trials = append(r.Trials, t)
		}
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

var machine = &host.Profile{SchemaVersion: 1, ID: "h", Name: "H", Cores: 4}

func one(t *testing.T, x *experiment.Experiment, r *results.File, h *host.Profile) Claim {
	t.Helper()
	f := Decide(x, h, []Run{{r, x}})
	if len(f.Claims) != len(x.Claims) {
		t.Fatalf("%d verdicts of %d claims", len(f.Claims), len(x.Claims))
	}
	return f.Claims[0]
}

func spoil(t *results.Trial) {
	t.Valid, t.Reasons = false, []results.Reason{{Gate: "errors", Detail: "1 connection errors"}}
}

// By hand, for a single claim: one edge is decided at an e-value of 20, which
// six of six blocks (36) reach and five do not. A band that can be refuted at
// either of two edges needs 40, seven of seven (69). Nine of ten have 19.4, ten
// of eleven 34, seven of nine 1.5. The interval needs 40 on each side.
func TestRatiosAgainstTheClaim(t *testing.T) {
	for _, c := range []struct {
		name, claim string
		ratios      []float64 // by block
		want        Verdict
		// The first effect: the median, and the smallest and largest ratio, which are
		// the interval for seven to ten blocks.
		ratio, low, high float64
		says             string
	}{
		{"flat", isFlat, []float64{1.03, 0.98, 1.01, 1.00, 0.99, 1.02, 1.00}, Reproduced, 1, 0.98, 1.03,
			"throughput_rps 2 over 1: 7 of 7 blocks lie between 0.9091 and 1.1; median ratio 1.000 (0.980 to 1.030)"},
		{"flat, of six, which have no interval yet", isFlat, []float64{1.03, 0.98, 1.01, 1.00, 0.99, 1.02}, Reproduced, 1.005, 0, 0,
			"6 of 6 blocks lie between 0.9091 and 1.1; median ratio 1.005; the blocks lie from 0.980 to 1.030"},
		{"flat, refuted above", isFlat, []float64{1.22, 1.21, 1.24, 1.23, 1.26, 1.25, 1.24}, Refuted, 1.24, 1.21, 1.26, "7 of 7 blocks lie outside 0.9091 to 1.1; median ratio 1.24 (1.21 to 1.26)"},
		{"flat, refuted below", isFlat, []float64{0.55, 0.54, 0.53, 0.52, 0.51, 0.50, 0.54}, Refuted, 0.53, 0.50, 0.55, ""},
		{"flat, six above: either edge could have refuted it", isFlat, []float64{1.22, 1.21, 1.24, 1.23, 1.26, 1.25}, Inconclusive, 1.235, 0, 0, "about 1 more block would tell"},
		{"flat, crossing the upper margin", isFlat, []float64{1.05, 1.06, 1.07, 1.08, 1.09, 1.09, 1.20}, Inconclusive, 1.08, 1.05, 1.20, "6 of 7 blocks lie between 0.9091 and 1.1, 1 outside; median ratio 1.080 (1.050 to 1.200); about "},
		{"flat, crossing the lower margin", isFlat, []float64{0.80, 0.95, 0.96, 0.97, 0.98, 0.99, 0.99}, Inconclusive, 0.97, 0.80, 0.99, ""},
		{"flat, wider than the margin on both sides", isFlat, []float64{0.5, 0.9, 1, 1, 1, 1.1, 2}, Inconclusive, 1, 0.5, 2, ""},
		{"flat, at its very margins", flatWide, []float64{0.8, 0.8, 0.8, 1, 1.25, 1.25, 1.25}, Reproduced, 1, 0.8, 1.25, ""},
		// Ten of eleven are inside of each edge.
		{"eleven blocks bear one that is off on each side", isFlat, []float64{1.02, 0.2, 0.96, 0.97, 5, 0.98, 0.99, 1.00, 1.01, 1, 1}, Reproduced, 1, 0.2, 5, "9 of 11 blocks lie between"},
		{"but not two on one side", isFlat, []float64{1.02, 5, 0.96, 0.97, 5, 0.98, 0.99, 1.00, 1.01, 1, 1}, Inconclusive, 1, 0.96, 5, ""},

		{"at least", atLeast, []float64{1.5, 1.6, 1.7, 1.8, 1.9, 2, 2}, Reproduced, 1.8, 1.5, 2, "7 of 7 blocks lie at 1.5 or above; median ratio 1.8 (1.5 to 2)"},
		{"at least, refuted", atLeast, []float64{1, 1.1, 1.2, 1.3, 1.4, 1.45, 1.49}, Refuted, 1.3, 1, 1.49, "7 of 7 blocks lie below 1.5"},
		{"at least, open", atLeast, []float64{1.4, 1.6, 1.7, 1.8, 1.9, 2, 2}, Inconclusive, 1.8, 1.4, 2, "6 of 7 blocks lie at 1.5 or above, 1 below"},
		{"at most", atMost, []float64{0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.5}, Reproduced, 0.4, 0.1, 0.5, "7 of 7 blocks lie at 0.5 or below"},
		{"at most, refuted", atMost, []float64{0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2}, Refuted, 0.9, 0.6, 1.2, "7 of 7 blocks lie above 0.5"},
		{"at most, open", atMost, []float64{0.1, 0.2, 0.3, 0.4, 0.45, 0.45, 0.6}, Inconclusive, 0.4, 0.1, 0.6, ""},

		// With two levels the single step is also the whole: as a step it may fall by
		// the margin, but as the whole it may not fall at all.
		{"rises", rises, []float64{1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.5}, Reproduced, 1.3, 1, 1.5, "all 2 comparisons hold"},
		{"rises, a little lower all through", rises, []float64{0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.99}, Refuted, 0.98, 0.95, 0.99, "7 of 7 blocks lie below 1"},
		{"rises, by nothing that can be seen", rises, []float64{0.98, 0.99, 1, 1.01, 1.02, 1.03, 1}, Inconclusive, 1, 0.98, 1.03, "5 of 7 blocks lie at 1 or above, 2 below"},
	} {
		x := design(t, "", c.claim)
		got := one(t, x, ratios(x, c.ratios...), machine)
		if got.Verdict != c.want || !strings.Contains(got.Reason, c.says) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, got.Verdict, got.Reason, c.want, c.says)
			continue
		}
		e := got.Effects[0]
		if e.Ratio != c.ratio || e.Low != c.low || e.High != c.high || e.Pairs != len(c.ratios) || e.Metric != rps {
			t.Errorf("%s: effect %+v, want %v, %v to %v over %d pairs", c.name, e, c.ratio, c.low, c.high, len(c.ratios))
		}
		if e.A.Key() != "workers=2" || e.B.Key() != "workers=1" || e.At != nil {
			t.Errorf("%s: %v over %v at %v", c.name, e.A, e.B, e.At)
		}
		if open := got.Verdict == Inconclusive; got.SingleRun != "" || got.Open != open || got.BlocksNeeded > 0 && !open || got.Blocks != len(c.ratios) || got.Runs != 1 {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestEveryComparisonHasToAgree(t *testing.T) {
	three := `{ name = "workers", levels = [1, 2, 4] }`
	by := func(v1, v2, v4 float64) func(setting.Levels, int) figures {
		return func(ls setting.Levels, b int) figures {
			n, _ := ls[setting.Workers].Int()
			return figures{rps: base(b) * map[int64]float64{1: v1, 2: v2, 4: v4}[n]}
		}
	}
	for _, c := range []struct {
		name, claim string
		v1, v2, v4  float64
		want        Verdict
		effects     int
		says        string
	}{
		{"flat: each pair of three levels", isFlat, 1, 1.04, 1.08, Reproduced, 3, "all 3 comparisons hold"},
		// Each step is within the margin; the ends are not.
		{"flat: the ends drift apart", isFlat, 1, 1.08, 1.17, Refuted, 3, "throughput_rps 4 over 1"},
		{"flat: the middle stands out", isFlat, 1, 1.5, 1.02, Refuted, 3, "throughput_rps 2 over 1: 10 of 10 blocks lie outside 0.9091 to 1.1; median ratio 1.5"},
		{"rises at each step", rises, 1, 1.5, 3, Reproduced, 3, "all 3 comparisons hold"},
		{"rises, with a step down within the margin", rises, 1, 0.95, 3, Reproduced, 3, "all 3"},
		{"rises, but for one step", rises, 1, 0.8, 3, Refuted, 3, "throughput_rps 2 over 1"},
		{"falls in the end", rises, 1, 3, 2, Refuted, 3, "throughput_rps 4 over 2"},
		// A ratio compares the last level with the first; levels between are ignored.
		{"ratio of the ends only", atLeast, 1, 0.1, 2, Reproduced, 1, "throughput_rps 4 over 1"},
	} {
		x := design(t, three, c.claim)
		got := one(t, x, made(x, 10, by(c.v1, c.v2, c.v4)), machine)
		if got.Verdict != c.want || len(got.Effects) != c.effects || !strings.Contains(got.Reason, c.says) {
			t.Errorf("%s: %s (%s) of %d effects, want %s (%s) of %d", c.name, got.Verdict, got.Reason, len(got.Effects), c.want, c.says, c.effects)
		}
	}
}

func TestLevelsAreComparedWithinEachLevelOfTheOtherFactors(t *testing.T) {
	two := `{ name = "workers", levels = [1, 2] }, { name = "pipelining", levels = [1, 10] }`
	run := func(x *experiment.Experiment, gainDeep float64) *results.File {
		return made(x, 10, func(ls setting.Levels, b int) figures {
			v := base(b)
			workers, _ := ls[setting.Workers].Int()
			depth, _ := ls[setting.Pipelining].Int()
			if depth == 10 {
				v *= 8 // the other factor's own effect must not matter
			}
			if workers == 2 && depth == 10 {
				v *= gainDeep
			}
			return figures{rps: v}
		})
	}
	x := design(t, two, isFlat)
	got := one(t, x, run(x, 1), machine)
	if got.Verdict != Reproduced || len(got.Effects) != 2 {
		t.Fatalf("%s (%s), %d effects", got.Verdict, got.Reason, len(got.Effects))
	}
	if got.Effects[0].At.Key() != "pipelining=1" || got.Effects[1].At.Key() != "pipelining=10" {
		t.Errorf("compared at %v and %v", got.Effects[0].At, got.Effects[1].At)
	}
	if got := one(t, x, run(x, 2), machine); got.Verdict != Refuted {
		t.Errorf("twofold at one depth only: %s (%s)", got.Verdict, got.Reason)
	}
}

func TestBoundClaims(t *testing.T) {
	for _, c := range []struct {
		name string
		hits int // of twenty trials, two a block, the first so many are bounded by the wire
		want Verdict
		says string
	}{
		{"all", 20, Reproduced, "in 10 of 10 blocks wire was the only wall of every trial; 20 of 20 trials were bounded by wire; the least full wire was at 93.0 %"},
		{"all but one", 19, Inconclusive, "in 9 of 10 blocks wire was the only wall of every trial, in 1 a trial had room there; 19 of 20 trials"},
		{"half", 10, Inconclusive, "in 5 of 10"},
		{"one", 1, Refuted, "in 0 of 10 blocks wire was the only wall of every trial, in 10 a trial had room there; 1 of 20"},
		{"none", 0, Refuted, "0 of 20"},
	} {
		x := design(t, "", wireWall)
		r := ratios(x, slices.Repeat([]float64{1}, 10)...)
		for i := range r.Trials {
			bounded(&r.Trials[i], bound.ServerCPU)
			r.Trials[i].Metrics["line_rate_share"] = 0.5
			if i < c.hits {
				bounded(&r.Trials[i], bound.Wire)
				r.Trials[i].Metrics["line_rate_share"] = 0.93 + float64(i)/1000
			}
		}
		if got := one(t, x, r, machine); got.Verdict != c.want || !strings.Contains(got.Reason, c.says) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, got.Verdict, got.Reason, c.want, c.says)
		}
	}
}

// If two walls were met, the trial is named for one of them: this is evidence
// neither against the other nor for it.
func TestAWallMetBesideAnotherIsNotRefuted(t *testing.T) {
	// If one block of eleven cannot tell, ten against are enough; if two cannot,
	// they are not.
	for both, want := range map[int]Verdict{0: Refuted, 2: Refuted, 4: Inconclusive, 22: Inconclusive} {
		x := design(t, "", `{ id = "c", kind = "bound", text = "t", bound = "server-cpu" }`)
		r := ratios(x, slices.Repeat([]float64{1}, 11)...)
		for i := range r.Trials {
			bounded(&r.Trials[i], bound.ClientCPU)
			if i < both {
				r.Trials[i].Metrics["server_cores_busy"] = 0.98
			}
		}
		if got := one(t, x, r, machine); got.Verdict != want || both > 0 && !strings.Contains(got.Reason, fmt.Sprintf("in %d more", both)) {
			t.Errorf("%d of 22: %s (%s), want %s", both, got.Verdict, got.Reason, want)
		}
	}
}

// A claim limited to some levels and the other conditions do not affect each
// other.
func TestAClaimKeptToLevelsLooksAtThoseOnly(t *testing.T) {
	const factors = `{ name = "workers", levels = [1, 2] }, { name = "pipelining", levels = [1, 10] }`
	run := func(claim string) Claim {
		x := design(t, factors, claim)
		return one(t, x, made(x, 8, func(ls setting.Levels, b int) figures {
			v := base(b) * (1 + float64(b)/1000)
			workers, _ := ls[setting.Workers].Int()
			if deep, _ := ls[setting.Pipelining].Int(); deep == 10 && workers == 2 {
				v *= 2
			}
			return figures{rps: v, "client_thread_busy_max": 0.95}
		}), machine)
	}
	const about = `{ id = "c", kind = "flat", text = "t", metric = "throughput_rps", over = "workers", margin = 0.1, at = { pipelining = %d } }`
	if c := run(fmt.Sprintf(about, 1)); c.Verdict != Reproduced || len(c.Effects) != 1 {
		t.Errorf("where it is flat: %s (%s), %d comparisons", c.Verdict, c.Reason, len(c.Effects))
	}
	if c := run(fmt.Sprintf(about, 10)); c.Verdict != Refuted {
		t.Errorf("where it doubles: %s (%s)", c.Verdict, c.Reason)
	}
	x := design(t, factors, `{ id = "c", kind = "bound", text = "t", bound = "client-cpu", at = { pipelining = 1 } }`)
	r := made(x, 8, func(setting.Levels, int) figures { return figures{} })
	for i := range r.Trials {
		if r.Trials[i].Condition == "c1" || r.Trials[i].Condition == "c3" { // without pipelining
			bounded(&r.Trials[i], bound.ClientCPU)
		}
	}
	if c := one(t, x, r, machine); c.Verdict != Reproduced || c.Bounds["client-cpu"] != 16 {
		t.Errorf("bound: %s (%s), %v", c.Verdict, c.Reason, c.Bounds)
	}
	r.Conditions, r.Trials = r.Conditions[:0], r.Trials[:0]
	if c := one(t, x, r, machine); c.Verdict != NotApplicable {
		t.Errorf("without such a condition: %s (%s)", c.Verdict, c.Reason)
	}
}

func TestCountClaims(t *testing.T) {
	exact := func(ls setting.Levels, _ int) figures {
		n, _ := ls[setting.Workers].Int()
		return figures{"workers": float64(n), "processes": float64(n + 1)}
	}
	for _, c := range []struct {
		name, claim string
		set         func(*results.File)
		want        Verdict
		says        string
	}{
		{"exact", asMany, func(*results.File) {}, Reproduced, "exact in all of 12 trials"},
		{"exact, one more", oneMore, func(*results.File) {}, Reproduced, "exact in all of 12 trials"},
		{"one off in one trial", asMany, func(r *results.File) { r.Trials[11].Metrics["workers"] = 3 }, Refuted, "workers was 3 at workers=2, not 2"},
		{"a fraction off", asMany, func(r *results.File) { r.Trials[0].Metrics["workers"] = 1.5 }, Refuted, "workers was 1.5 at workers=1, not 1"},
		{"the master missing", oneMore, func(r *results.File) { r.Trials[0].Metrics["processes"] = 1 }, Refuted, "processes was 1 at workers=1, not 2"},
		{"an invalid trial that is off", asMany, func(r *results.File) {
			again := r.Trials[0]
			r.Trials[0].Metrics = figures{"workers": 7}
			spoil(&r.Trials[0])
			r.Trials = append(r.Trials, again)
		}, Reproduced, "exact in all of 12 trials"},
		{"one trial without the figure", asMany, func(r *results.File) { delete(r.Trials[0].Metrics, "workers") }, Inconclusive, "only 5 of 6 blocks can tell"},
		// Without the setting's level there is nothing to compare the count with, so
		// it is not exact.
		{"the setting is nowhere recorded", asMany, func(r *results.File) {
			for i, c := range r.Conditions {
				r.Conditions[i].Levels = setting.Levels{setting.Connections: c.Levels[setting.Workers]}
			}
		}, NotApplicable, "workers"},
	} {
		x := design(t, "", c.claim)
		r := made(x, 6, exact)
		c.set(r)
		if got := one(t, x, r, machine); got.Verdict != c.want || !strings.Contains(got.Reason, c.says) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, got.Verdict, got.Reason, c.want, c.says)
		}
	}
	// A count may also be compared with a setting that is the same in every trial.
	x := design(t, "", strings.ReplaceAll(asMany, `equals = "workers"`, `equals = "connections"`))
	r := made(x, 6, func(setting.Levels, int) figures { return figures{"workers": 100} })
	if got := one(t, x, r, machine); got.Verdict != Reproduced {
		t.Errorf("a fixed setting: %s (%s)", got.Verdict, got.Reason)
	}
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
		bounded(&r.Trials[i], bound.Wire)
	}
	return x, r
}

// Five claims divide the error, so each needs an e-value of 100, which eight of
// eight exceed.
func TestEightGoodBlocksReproduceEveryKind(t *testing.T) {
	for blocks, want := range map[int]Verdict{7: Inconclusive, 8: Reproduced} {
		x, r := good(t, blocks)
		f := Decide(x, machine, []Run{{r, x}})
		for _, c := range f.Claims {
			if counted := c.ID == "c-5"; c.Verdict != want && !counted {
				t.Errorf("%d blocks: %s: %s (%s)", blocks, c.ID, c.Verdict, c.Reason)
			}
		}
		if n, ok := Needed(f); Decided(f) != (blocks == 8) || ok != (blocks == 7) || ok && n != 1 {
			t.Errorf("%d blocks: decided %v, needed %d, %v", blocks, Decided(f), n, ok)
		}
	}
}

func TestFiveBlocksAreNeverReproduced(t *testing.T) {
	for blocks := 1; blocks <= 5; blocks++ {
		x, r := good(t, blocks)
		f := Decide(x, machine, []Run{{r, x}})
		for _, c := range f.Claims {
			if c.Verdict != Inconclusive || !strings.Contains(c.Reason, "too few: six are the least") || !c.Open || c.BlocksNeeded < 6-blocks {
				t.Errorf("%d blocks, %s: %s (%s)", blocks, c.ID, c.Verdict, c.Reason)
			}
			for _, e := range c.Effects {
				if e.Low != 0 || e.High != 0 {
					t.Errorf("%d blocks, %s: interval %v to %v", blocks, c.ID, e.Low, e.High)
				}
			}
		}
		if n, ok := Needed(f); !ok || n != 6-blocks || Decided(f) {
			t.Errorf("%d blocks: %d more, %v", blocks, n, ok)
		}
	}
}

func TestIncompleteBlocksDoNotCount(t *testing.T) {
	x, r := good(t, 6)
	spoil(&r.Trials[3])
	for _, c := range Decide(x, machine, []Run{{r, x}}).Claims {
		if c.Verdict != Inconclusive || !c.Open || !strings.Contains(c.Reason, "5 of 6 blocks are complete, and six are the least that decide: 1 trial invalid (errors 1)") {
			t.Errorf("%s: %s (%s)", c.ID, c.Verdict, c.Reason)
		}
	}
	r.Trials = slices.Delete(r.Trials, 3, 4) // missing rather than invalid
	for _, c := range Decide(x, machine, []Run{{r, x}}).Claims {
		if c.Verdict != Inconclusive || !strings.Contains(c.Reason, "the other trials are missing") {
			t.Errorf("%s: %s (%s)", c.ID, c.Verdict, c.Reason)
		}
	}
	x, r = good(t, 12)
	for i := range 4 {
		spoil(&r.Trials[2*i])
	}
	for _, c := range Decide(x, machine, []Run{{r, x}}).Claims {
		if c.Verdict != Reproduced || c.Blocks != 8 {
			t.Errorf("%s: %s (%s)", c.ID, c.Verdict, c.Reason)
		}
	}
	for i := range 7 { // more than half of the twelve
		if t := &r.Trials[2*i]; t.Valid {
			spoil(t)
		}
	}
	for _, c := range Decide(x, machine, []Run{{r, x}}).Claims {
		if c.Verdict != Invalid || !c.Open || !strings.Contains(c.Reason, "only 5 of 12 blocks are complete: 7 trials invalid (errors 7)") {
			t.Errorf("%s: %s (%s)", c.ID, c.Verdict, c.Reason)
		}
	}
}

func TestAConditionWithoutValidTrialsNeverLetsAClaimPass(t *testing.T) {
	for _, lost := range []string{"c1", "c2"} {
		x, r := good(t, 6)
		for i := range r.Trials {
			if r.Trials[i].Condition == lost {
				spoil(&r.Trials[i])
			}
		}
		for _, c := range Decide(x, machine, []Run{{r, x}}).Claims {
			if c.Verdict != Invalid || !strings.Contains(c.Reason, "6 trials invalid (errors 6)") {
				t.Errorf("without %s, %s: %s (%s)", lost, c.ID, c.Verdict, c.Reason)
			}
		}
	}
	// Losing all conditions, or all figures of one level, gives no verdict either.
	x, r := good(t, 6)
	for i := range r.Trials {
		spoil(&r.Trials[i])
	}
	for _, c := range Decide(x, machine, []Run{{r, x}}).Claims {
		if c.Verdict != Invalid || !strings.Contains(c.Reason, "no valid trial: 12 trials invalid (errors 12)") {
			t.Errorf("without any, %s: %s (%s)", c.ID, c.Verdict, c.Reason)
		}
	}
	// A lost third condition, which no other can replace.
	x = design(t, `{ name = "workers", levels = [1, 2, 4] }`, isFlat)
	r = made(x, 6, func(_ setting.Levels, b int) figures { return figures{rps: base(b)} })
	for i := range r.Trials {
		if r.Trials[i].Condition == "c3" {
			spoil(&r.Trials[i])
		}
	}
	if c := one(t, x, r, machine); c.Verdict != Invalid {
		t.Errorf("two of three levels: %s (%s)", c.Verdict, c.Reason)
	}
}

func TestAMetricAtOneLevelOnlyIsNotApplicable(t *testing.T) {
	x := design(t, "", isFlat)
	r := ratios(x, 1, 1, 1, 1, 1, 1)
	for _, t := range r.Trials {
		if t.Condition == "c2" {
			delete(t.Metrics, rps)
		}
	}
	if c := one(t, x, r, machine); c.Verdict != NotApplicable || !strings.Contains(c.Reason, "at one level of workers only") {
		t.Errorf("%s (%s)", c.Verdict, c.Reason)
	}
	for _, t := range r.Trials {
		delete(t.Metrics, rps)
	}
	if c := one(t, x, r, machine); c.Verdict != NotApplicable || c.Reason != "the run did not record throughput_rps" {
		t.Errorf("%s (%s)", c.Verdict, c.Reason)
	}
}

func TestAMetricThatWasNotRecordedIsNotTheTrialsFault(t *testing.T) {
	x := design(t, "", flatCost)
	r := ratios(x, 1, 1, 1, 1, 1, 1)
	for i := range r.Trials {
		delete(r.Trials[i].Metrics, cost)
	}
	// One trial of twelve is invalid; the eleven valid ones lack the metric.
	spoil(&r.Trials[0])
	if c := one(t, x, r, machine); c.Verdict != NotApplicable || c.Reason != "the run did not record "+cost {
		t.Errorf("%s (%s)", c.Verdict, c.Reason)
	}
	// A figure known only to be below a limit is recorded, and its ratio may be
	// anything.
	for i := range r.Trials {
		r.Trials[i].Below = figures{cost: 0.001}
		r.Trials[i].Valid, r.Trials[i].Reasons = true, nil
	}
	if c := one(t, x, r, machine); c.Verdict != Inconclusive || c.Effects[0].Ratio != 0 {
		t.Errorf("below only: %s (%s)", c.Verdict, c.Reason)
	}
}

func TestAFigureWithoutARatioSaysNothing(t *testing.T) {
	x := design(t, "", isFlat)
	r := ratios(x, slices.Repeat([]float64{1}, 12)...)
	r.Trials[4].Metrics[rps] = 0
	if c := one(t, x, r, machine); c.Verdict != Reproduced || c.For != 11 || !strings.Contains(c.Reason, "in 1 of 12 blocks a figure is nought, which has no ratio") {
		t.Errorf("%s (%s)", c.Verdict, c.Reason)
	}
	for i := range 14 {
		r.Trials[i].Metrics[rps] = 0
	}
	if c := one(t, x, r, machine); c.Verdict != Invalid || !strings.HasPrefix(c.Reason, "in 7 of 12 blocks a figure is nought") {
		t.Errorf("%s (%s)", c.Verdict, c.Reason)
	}
}

func TestAnInvalidTrialChangesNothingButItsCount(t *testing.T) {
	x, r := good(t, 6)
	before := Decide(x, machine, []Run{{r, x}})
	for b := 1; b <= 6; b++ {
		great := results.Trial{
			Block: b, Condition: "c2", Bound: bound.ClientCPU,
			Metrics: figures{rps: 1e9, "workers": 64, "latency_p99_s": 1e-6}, Below: figures{"latency_p50_s": 1e-9},
		}
		spoil(&great)
		// Before and after the valid trial of its block.
		r.Trials = append(append([]results.Trial{great}, r.Trials...), great)
	}
	after := Decide(x, machine, []Run{{r, x}})
	if after.Trials != 24 || after.InvalidTrials != 12 || after.Conditions[1].Trials != 18 || after.Conditions[1].Invalid != 12 {
		t.Errorf("counts: %d trials, %d invalid; of c2 %d and %d", after.Trials, after.InvalidTrials, after.Conditions[1].Trials, after.Conditions[1].Invalid)
	}
	after.BoundsNow = nil // the bounds named in the file, which do not follow from the figures
	after.Trials, after.InvalidTrials, after.Conditions[1].Trials, after.Conditions[1].Invalid = 12, 0, 6, 0
	if !reflect.DeepEqual(before, after) {
		t.Errorf("before %+v\nafter  %+v", before, after)
	}
}

func TestARepeatedTrialCountsForItsBlock(t *testing.T) {
	x := design(t, "", isFlat)
	want := one(t, x, ratios(x, 1.03, 0.98, 1.01, 1.00, 0.99, 1.02), machine)
	r := ratios(x, 1.03, 0.98, 1.01, 1.00, 0.99, 1.02)
	again := r.Trials[5]
	r.Trials[5].Metrics = figures{rps: 1}
	spoil(&r.Trials[5])
	// It ran after the rest of its block, so it is later in the file.
	r.Trials = slices.Insert(r.Trials, 6, again)
	if got := one(t, x, r, machine); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestTheFirstValidTrialOfABlockStands(t *testing.T) {
	x := design(t, "", isFlat)
	r := ratios(x, 1, 1, 1, 1, 1, 1)
	want := Decide(x, machine, []Run{{r, x}}).Claims
	better := r.Trials[1]
	better.Metrics = figures{rps: 1e6}
	r.Trials = append(r.Trials, better)
	if got := Decide(x, machine, []Run{{r, x}}).Claims; !reflect.DeepEqual(got, want) {
		t.Errorf("a second valid trial of a block replaced the first: %+v", got)
	}
}

func TestTheOrderOfTrialsDoesNotMatter(t *testing.T) {
	x, r := good(t, 6)
	want := Decide(x, machine, []Run{{r, x}})
	rnd := rand.New(rand.NewPCG(3, 3))
	for range 20 {
		rnd.Shuffle(len(r.Trials), func(i, j int) { r.Trials[i], r.Trials[j] = r.Trials[j], r.Trials[i] })
		rnd.Shuffle(len(r.Conditions), func(i, j int) { r.Conditions[i], r.Conditions[j] = r.Conditions[j], r.Conditions[i] })
		if got := Decide(x, machine, []Run{{r, x}}); !reflect.DeepEqual(got, want) {
			t.Fatalf("another order: %+v\nwant %+v", got, want)
		}
	}
}

func TestWhereTheClientIsTheWallItsFiguresAreInvalid(t *testing.T) {
	for n, want := range map[int]Verdict{1: Reproduced, 6: Inconclusive, 7: Invalid, 12: Invalid} {
		x := design(t, "", isFlat, named(flatCost, "cost"))
		r := ratios(x, slices.Repeat([]float64{1}, 12)...)
		for i := range n { // in one trial of n blocks
			bounded(&r.Trials[2*i], bound.ClientCPU)
		}
		f := Decide(x, machine, []Run{{r, x}})
		says := fmt.Sprintf("in %d of 12 blocks the client's CPU was the wall, so that the figures measure the client", n)
		if c := f.Claims[0]; c.Verdict != want || !strings.Contains(c.Reason, says) || c.Bounds["client-cpu"] != n {
			t.Errorf("throughput, %d blocks: %s (%s), bounds %v; want %s", n, c.Verdict, c.Reason, c.Bounds, want)
		}
		// The server's cost of a request does not depend on the client.
		if c := f.Claims[1]; c.Verdict != Reproduced {
			t.Errorf("CPU per request: %s (%s)", c.Verdict, c.Reason)
		}
	}
	// A wall that an invalid trial met does not count.
	x := design(t, "", isFlat)
	r := ratios(x, 1, 1, 1, 1, 1, 1)
	spoiled := r.Trials[0]
	bounded(&spoiled, bound.ClientCPU)
	spoil(&spoiled)
	r.Trials = append(r.Trials, spoiled)
	if c := one(t, x, r, machine); c.Verdict != Reproduced {
		t.Errorf("%s (%s)", c.Verdict, c.Reason)
	}
}

func TestUnmetNeedsAreNotApplicable(t *testing.T) {
	bad := slices.Repeat([]float64{2}, 10) // would refute the claim
	for _, c := range []struct {
		name, needs string
		set         func(*results.File, *host.Profile)
		want        Verdict
		says        string
	}{
		{"enough cores", "cores = 4", func(*results.File, *host.Profile) {}, Refuted, ""},
		{"too few cores", "cores = 4", func(_ *results.File, h *host.Profile) { h.Cores = 2 }, NotApplicable, "needs 4 cores; this host has 2"},
		{"cores not known", "cores = 4", func(_ *results.File, h *host.Profile) { h.Cores = 0 }, NotApplicable, "needs 4 cores"},
		{"a line rate", "line_rate = true", func(r *results.File, _ *host.Profile) {
			r.Topology.LineRateBps = 1e9
			for i := range r.Trials {
				r.Trials[i].Metrics["line_rate_share"] = 0.5
			}
		}, Refuted, ""},
		{"no line rate", "line_rate = true", func(*results.File, *host.Profile) {}, NotApplicable, "needs a wire of known line rate; this run went over loopback"},
		{"every trial so bounded", `bound = "wire"`, func(r *results.File, _ *host.Profile) {
			for i := range r.Trials {
				bounded(&r.Trials[i], bound.Wire)
			}
		}, Refuted, ""},
		{"six blocks of ten not so bounded, in one trial", `bound = "wire"`, func(r *results.File, _ *host.Profile) {
			for i := range r.Trials {
				if i >= 12 || i%2 == 0 {
					bounded(&r.Trials[i], bound.Wire)
				}
			}
		}, NotApplicable, "in 6 of 10 blocks the wall was another than the wire that it needs, or was not seen"},
		{"one block not so bounded, which says nothing", `bound = "wire"`, func(r *results.File, _ *host.Profile) {
			for i := range r.Trials[1:] {
				bounded(&r.Trials[i], bound.Wire)
			}
		}, Inconclusive, "0 of 10 blocks lie between 0.9091 and 1.1, 9 outside"},
		// The precondition is checked before the wall.
		{"bounded by the client", `bound = "wire"`, func(r *results.File, _ *host.Profile) {
			for i := range r.Trials {
				bounded(&r.Trials[i], bound.ClientCPU)
			}
		}, NotApplicable, "in 10 of 10 blocks the wall was another"},
		{"no such run here", "cores = 1", func(r *results.File, _ *host.Profile) { r.Trials, r.NotApplicable = nil, "no wire here" }, NotApplicable, "no wire here"},
	} {
		x := design(t, "", fmt.Sprintf(flatNeeds, c.needs))
		r, h := ratios(x, bad...), *machine
		c.set(r, &h)
		if got := one(t, x, r, &h); got.Verdict != c.want || !strings.Contains(got.Reason, c.says) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, got.Verdict, got.Reason, c.want, c.says)
		}
	}
}

// A lost condition must not be hidden by the bounds of the others.
func TestNeededBoundWithALostConditionDoesNotPass(t *testing.T) {
	x := design(t, "", fmt.Sprintf(flatNeeds, `bound = "wire"`))
	r := ratios(x, 1, 1, 1, 1, 1, 1)
	for i := range r.Trials {
		if bounded(&r.Trials[i], bound.Wire); r.Trials[i].Condition == "c2" {
			spoil(&r.Trials[i])
		}
	}
	if c := one(t, x, r, machine); c.Verdict != Invalid {
		t.Errorf("%s (%s)", c.Verdict, c.Reason)
	}
}

func asPrinted(r *results.File) *results.File {
	r.Source, r.Provenance, r.Text = results.Published, nil, &results.Text{Entry: "7", Date: "2026-01-01"}
	for i := range r.Trials {
		r.Trials[i].Printed = map[string]string{}
		for name := range r.Trials[i].Metrics {
			r.Trials[i].Printed[name] = "as printed"
		}
	}
	return r
}

func TestAPublishedSingleRunAgreesOrDisagrees(t *testing.T) {
	for _, c := range []struct {
		name, claim string
		ratio       float64
		bound       bound.Bound
		want        string
	}{
		{"flat, within the margin", isFlat, 1.09, bound.Unknown, "agrees"},
		{"flat, beyond it", isFlat, 1.11, bound.Unknown, "disagrees"},
		{"at least", atLeast, 1.5, bound.Unknown, "agrees"},
		{"at least, not reached", atLeast, 1.49, bound.Unknown, "disagrees"},
		{"at most", atMost, 0.5, bound.Unknown, "agrees"},
		{"at most, exceeded", atMost, 0.51, bound.Unknown, "disagrees"},
		{"rises", rises, 1.01, bound.Unknown, "agrees"},
		{"falls", rises, 0.99, bound.Unknown, "disagrees"},
		{"the wall that was claimed", wireWall, 1, bound.Wire, "agrees"},
		{"another", wireWall, 1, bound.ServerCPU, "disagrees"},
		{"a count that is off", asMany, 1, bound.Unknown, "disagrees"}, // one worker at workers=2
	} {
		x := design(t, "", c.claim)
		r := asPrinted(ratios(x, c.ratio))
		for i := range r.Trials {
			bounded(&r.Trials[i], c.bound)
		}
		got := one(t, x, r, machine)
		if got.Verdict != Inconclusive || got.SingleRun != c.want || !strings.HasPrefix(got.Reason, "one run has no interval; ") || strings.Contains(got.Reason, "six are the least") {
			t.Errorf("%s: %s, %q (%s); want inconclusive, %q", c.name, got.Verdict, got.SingleRun, got.Reason, c.want)
		}
	}
}

// A published run that did not record a wall is not evidence against it.
func TestAnUnknownBoundOfAPublishedRunDoesNotDisagree(t *testing.T) {
	x := design(t, "", wireWall)
	r := asPrinted(ratios(x, 1))
	r.Topology.Kind = "fleet" // whose line rate is not given
	for i, b := range []bound.Bound{bound.Unknown, bound.Wire} {
		bounded(&r.Trials[i], b)
	}
	if got := one(t, x, r, machine); got.Verdict != Inconclusive || got.SingleRun != "" || !strings.Contains(got.Reason, "of 1 more it was not recorded whether they were") {
		t.Errorf("%s, %q (%s)", got.Verdict, got.SingleRun, got.Reason)
	}
	bounded(&r.Trials[1], bound.ServerCPU)
	r.Trials[1].Metrics["line_rate_share"] = 0.5
	if got := one(t, x, r, machine); got.SingleRun != "disagrees" {
		t.Errorf("another wall: %s, %q (%s)", got.Verdict, got.SingleRun, got.Reason)
	}
}

func TestAPublishedRunWithoutPairsNeitherAgreesNorDisagrees(t *testing.T) {
	x := design(t, "", isFlat)
	r := asPrinted(ratios(x, 1, 1))
	// Figures of two runs, neither of which has both levels.
	r.Trials = []results.Trial{r.Trials[0], r.Trials[3]}
	if c := one(t, x, r, machine); c.SingleRun != "" || c.Verdict == Reproduced {
		t.Errorf("%s, %q (%s): nothing was compared", c.Verdict, c.SingleRun, c.Reason)
	}
}

func TestAPublishedRunIsDatedByItsText(t *testing.T) {
	x := design(t, "", isFlat)
	f := Decide(x, machine, []Run{{asPrinted(ratios(x, 1)), x}})
	if f.Date != "2026-01-01" || f.Started != "2026-01-01" || f.Size != "" || f.Blocks != 0 || f.Source != "published" {
		t.Errorf("%+v", f)
	}
	if got := f.Conditions[0].Metrics[rps]; got.Printed != "as printed" || got.N != 1 {
		t.Errorf("figure %+v", got)
	}
	f = Decide(x, machine, []Run{{ratios(x, 1, 1, 1, 1, 1, 1), x}})
	if f.Date != "2026-01-02" || f.Started != "2026-01-02T03:04:05Z" || f.Size != "smoke" || f.Blocks != 6 || f.Source != "measured" {
		t.Errorf("%+v", f)
	}
}

func TestFiguresWithSomeBelowALimit(t *testing.T) {
	const name = "latency_p99_s"
	below := func(v float64) results.Trial { return results.Trial{Below: figures{name: v}} }
	known := func(v float64) results.Trial { return results.Trial{Metrics: figures{name: v}} }
	for _, c := range []struct {
		name   string
		trials []results.Trial
		n      int
		median float64 // 0: none
		below  float64 // 0: none
	}{
		{"none at all", []results.Trial{{}, {}}, 0, 0, 0},
		{"one known", []results.Trial{known(5)}, 1, 5, 0},
		{"one below", []results.Trial{below(1)}, 1, 0, 1},
		{"all below, odd", []results.Trial{below(1), below(1), below(1)}, 3, 0, 1},
		{"all below, even", []results.Trial{below(1), below(1)}, 2, 0, 1},
		{"the higher limit, of two", []results.Trial{below(1), below(2)}, 2, 0, 2},
		{"the higher limit, of two the other way round", []results.Trial{below(2), below(1)}, 2, 0, 2},
		{"the middle of three is below", []results.Trial{known(9), below(1), below(1)}, 3, 0, 1},
		{"the middle of three is known", []results.Trial{known(9), below(1), known(4)}, 3, 4, 0},
		// Of four, ranks 2 and 3 make the median: one is below 1, the other is 5.
		{"the lower of the middle two is below", []results.Trial{below(1), below(1), known(5), known(9)}, 4, 0, 5},
		{"both of the middle two are below", []results.Trial{below(1), below(1), below(1), known(9)}, 4, 0, 1},
		{"both of the middle two are known", []results.Trial{known(9), known(6), below(1), known(4)}, 4, 5, 0},
		{"a trial without the figure is none", []results.Trial{known(4), {}, known(6)}, 2, 5, 0},
	} {
		got, ok := figure(name, c.trials)
		if ok != (c.n > 0) || got.N != c.n {
			t.Errorf("%s: %+v, %v; want n %d", c.name, got, ok, c.n)
			continue
		}
		if (got.Median != nil) != (c.median != 0) || got.Median != nil && *got.Median != c.median {
			t.Errorf("%s: median %v, want %v", c.name, deref(got.Median), c.median)
		}
		if (got.Below != nil) != (c.below != 0) || got.Below != nil && *got.Below != c.below {
			t.Errorf("%s: below %v, want %v", c.name, deref(got.Below), c.below)
		}
	}
}

func deref(p *float64) any {
	if p == nil {
		return "none"
	}
	return *p
}

func TestFiguresFromSixOnHaveAnInterval(t *testing.T) {
	var trials []results.Trial
	for n := 1; n <= 9; n++ {
		trials = append(trials, results.Trial{Metrics: figures{rps: float64(n)}})
		got, _ := figure(rps, trials)
		if (got.Low != nil) != (n >= 6) || (got.High != nil) != (n >= 6) {
			t.Errorf("n=%d: %v to %v", n, deref(got.Low), deref(got.High))
		}
	}
	if got, _ := figure(rps, trials); *got.Median != 5 || *got.Low != 2 || *got.High != 8 {
		t.Errorf("of 1 to 9: %v, %v to %v; want 5, ranks 2 to 8", *got.Median, *got.Low, *got.High)
	}
	// An interval would need the value that is known only to be below a limit.
	trials = append(trials, results.Trial{Below: figures{rps: 0.5}})
	if got, _ := figure(rps, trials); got.Low != nil || got.Median == nil {
		t.Errorf("with one below: %v to %v, median %v", deref(got.Low), deref(got.High), deref(got.Median))
	}
}

func TestAFigureKeepsWhatWasPrintedOfIt(t *testing.T) {
	printed := results.Trial{Metrics: figures{rps: 1000}, Printed: map[string]string{rps: "1,000"}}
	other := results.Trial{Metrics: figures{"requests": 5}, Printed: map[string]string{"requests": "5"}}
	for name, trials := range map[string][]results.Trial{
		"alone": {printed}, "before another table's": {printed, other}, "behind it": {other, printed},
	} {
		if got, _ := figure(rps, trials); got.Printed != "1,000" {
			t.Errorf("%s: printed %q", name, got.Printed)
		}
	}
	// The median of two figures was printed nowhere.
	if got, _ := figure(rps, []results.Trial{printed, printed}); got.Printed != "" {
		t.Errorf("of two: printed %q", got.Printed)
	}
}

func TestSummariesStandInTheOrderOfLevels(t *testing.T) {
	x := design(t, `{ name = "workers", levels = [2, 10] }, { name = "prefork", levels = [false, true] }`, isFlat)
	r := made(x, 1, func(setting.Levels, int) figures { return figures{rps: 1} })
	slices.Reverse(r.Conditions)
	var got []string
	for _, s := range Decide(x, machine, []Run{{r, x}}).Conditions {
		got = append(got, s.Levels.Key())
	}
	want := []string{"prefork=false workers=2", "prefork=false workers=10", "prefork=true workers=2", "prefork=true workers=10"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestDigitsKeepsNine(t *testing.T) {
	for v, want := range map[float64]float64{
		0: 0, 1.0 / 3: 0.333333333, 123456789.4: 123456789, 1234567891: 1234567890, -1.0 / 3: -0.333333333, 0.1: 0.1,
		1.23456789012e-5: 1.23456789e-5, 48812345678.9: 48812345700,
	} {
		if got := digits(v); got != want {
			t.Errorf("%v became %v, want %v", v, got, want)
		}
	}
	// The result must always be a number that JSON can hold.
	r := rand.New(rand.NewPCG(5, 5))
	for _, v := range []float64{math.SmallestNonzeroFloat64, 1e-308, 1e-305, 1e-300, 1e300, math.MaxFloat64} {
		if got := digits(v); math.IsNaN(got) || math.Abs(got-v) > 1e-8*v {
			t.Errorf("%v became %v", v, got)
		}
	}
	for range 2000 {
		v := math.Exp(60*r.Float64() - 30)
		text := strconv.FormatFloat(digits(v), 'e', -1, 64)
		if mantissa, _, _ := strings.Cut(text, "e"); len(mantissa) > 10 || math.Abs(digits(v)-v) > 5e-9*v {
			t.Fatalf("%v became %s", v, text)
		}
	}
}

// The names of blocks, and the machine's speed, must not affect a claim about a
// ratio.
func TestVerdictsDoNotDependOnNamesOfBlocksOrOnSpeed(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 7))
	var claims []string
	for i, c := range []string{isFlat, atLeast, atMost, rises} {
		claims = append(claims, strings.Replace(c, `"c"`, fmt.Sprintf(`"c-%d"`, i), 1))
	}
	x := design(t, `{ name = "workers", levels = [1, 2, 4] }`, claims...)
	seen := map[Verdict]int{}
	for round := range 120 {
		blocks := 4 + r.IntN(10)
		gain := 0.3 + 2*r.Float64()
		spread := 0.3 * r.Float64()
		f := made(x, blocks, func(ls setting.Levels, b int) figures {
			n, _ := ls[setting.Workers].Int()
			return figures{rps: base(b) * math.Pow(gain, float64(n-1)) * math.Exp(spread*r.NormFloat64())}
		})
		for i := range f.Trials {
			if r.IntN(20) == 0 {
				spoil(&f.Trials[i])
			}
		}
		want := Decide(x, machine, []Run{{f, x}}).Claims
		for _, c := range want {
			seen[c.Verdict]++
		}

		names := r.Perm(blocks)
		for i := range f.Trials {
			f.Trials[i].Block = 1 + names[f.Trials[i].Block-1]
		}
		if got := Decide(x, machine, []Run{{f, x}}).Claims; !reflect.DeepEqual(got, want) {
			t.Fatalf("round %d: with other names of blocks %+v\nwant %+v", round, got, want)
		}

		// Multiplying by a power of two leaves each ratio exactly as it is.
		for i := range f.Trials {
			f.Trials[i].Metrics[rps] *= 1024
		}
		if got := Decide(x, machine, []Run{{f, x}}).Claims; !reflect.DeepEqual(got, want) {
			t.Fatalf("round %d: on a faster machine %+v\nwant %+v", round, got, want)
		}
		// Other factors round, but the verdicts must be the same.
		for i := range f.Trials {
			f.Trials[i].Metrics[rps] /= 3
		}
		for i, got := range Decide(x, machine, []Run{{f, x}}).Claims {
			if got.Verdict != want[i].Verdict || got.SingleRun != want[i].SingleRun {
				t.Fatalf("round %d: on a slower machine %+v, want %+v", round, got, want[i])
			}
		}
	}
	for _, v := range []Verdict{Reproduced, Refuted, Inconclusive} {
		if seen[v] < 20 {
			t.Errorf("only %d were %s; the rounds show too little", seen[v], v)
		}
	}
}

// Two equal conditions: "flat" is refuted only if the interval misses 1, so in
// at most one run of twenty, whatever the noise.
func TestIdenticalConditionsAreSeldomRefuted(t *testing.T) {
	const runs = 1500
	x := design(t, "", isFlat)
	for _, noise := range []struct {
		name string
		draw func(*rand.Rand) float64
		// The least share of runs that must be reproduced.
		reproduced float64
	}{
		// Ratios have a standard deviation of 1.4 %, far below the margin of a tenth.
		{"quiet", func(r *rand.Rand) float64 { return math.Exp(0.01 * r.NormFloat64()) }, 0.99},
		{"skewed", func(r *rand.Rand) float64 { return math.Exp(0.3 * r.ExpFloat64()) }, 0},
		{"a neighbour half of the time", func(r *rand.Rand) float64 {
			if r.IntN(2) == 0 {
				return 1.6 * math.Exp(0.01*r.NormFloat64())
			}
			return math.Exp(0.01 * r.NormFloat64())
		}, 0},
	} {
		for _, blocks := range []int{6, 12} {
			r := rand.New(rand.NewPCG(uint64(blocks), 99))
			seen := map[Verdict]int{}
			for range runs {
				f := made(x, blocks, func(_ setting.Levels, b int) figures { return figures{rps: base(b) * noise.draw(r)} })
				seen[one(t, x, f, machine).Verdict]++
			}
			if seen[Reproduced]+seen[Inconclusive]+seen[Refuted] != runs {
				t.Errorf("%s, %d blocks: %v", noise.name, blocks, seen)
			}
			if share := float64(seen[Refuted]) / runs; share > 0.05 {
				t.Errorf("%s, %d blocks: %.3f of runs refute what is true", noise.name, blocks, share)
			}
			if share := float64(seen[Reproduced]) / runs; share < noise.reproduced {
				t.Errorf("%s, %d blocks: only %.3f of runs reproduce it", noise.name, blocks, share)
			}
		}
	}
}

func TestEveryVerdictHasItsSentence(t *testing.T) {
	rules := Rules()
	seen := map[string]bool{}
	for _, v := range []Verdict{Reproduced, Refuted, Inconclusive, Invalid, NotApplicable} {
		if s := rules.Verdicts[v]; s == "" || s != v.Meaning() || seen[s] {
			t.Errorf("%s: %q", v, s)
		}
		seen[rules.Verdicts[v]] = true
	}
	if len(rules.Verdicts) != 5 || Verdict("perhaps").Meaning() != "" {
		t.Errorf("%v", rules.Verdicts)
	}
	if rules.MinBlocks != 6 || rules.Confidence != 0.95 || rules.WireSaturated != 0.9 || rules.CPUSaturated != 0.9 {
		t.Errorf("%+v; the design gives 6, 0.95 and nine tenths", rules)
	}
}

// The whole verdict file of a made-up run: ten blocks, one trial repeated, the
// wire full at the deeper level. `go test ./internal/verdict -update` writes it
// again; each changed line changes what the journal says.
func TestAWholeVerdictFile(t *testing.T) {
	x := design(t, `{ name = "workers", levels = [1, 2] }, { name = "pipelining", levels = [1, 10] }`,
		strings.Replace(isFlat, `"c"`, `"is-flat"`, 1),
		strings.Replace(atMost, `"c"`, `"halves"`, 1),
		strings.Replace(wireWall, `"c"`, `"wire-is-the-wall"`, 1),
		strings.Replace(asMany, `"c"`, `"as-many"`, 1),
		strings.Replace(fmt.Sprintf(flatNeeds, "cores = 64"), `"c"`, `"on-a-large-machine"`, 1),
		strings.Replace(strings.Replace(flatCost, `"c"`, `"cost"`, 1), cost, "latency_p50_s", 1))
	jitter := []float64{1.03, 0.98, 1.01, 1.00, 0.99, 1.02, 1.01, 0.99, 1, 1.02}
	r := made(x, 10, func(ls setting.Levels, b int) figures {
		n, _ := ls[setting.Workers].Int()
		v := base(b)
		if n == 2 {
			v *= jitter[b-1]
		}
		return figures{rps: v, "workers": float64(n), "line_rate_share": 0.5}
	})
	r.Topology = results.Topology{Kind: "netns", LineRateBps: 5e8}
	for i := range r.Trials {
		tr := &r.Trials[i]
		tr.Below = figures{"latency_p50_s": 0.001}
		bounded(tr, bound.ServerCPU)
		tr.Metrics["line_rate_share"] = 0.5
		if tr.Condition == "c2" || tr.Condition == "c4" {
			bounded(tr, bound.Wire)
			tr.Metrics["line_rate_share"] = 0.96
		}
	}
	again := r.Trials[7]
	spoil(&r.Trials[7])
	r.Trials = append(r.Trials, again)
	got, err := results.Encode(Decide(x, machine, []Run{{r, x}}))
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "verdict.golden.json")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("it differs from %s:\n%s", golden, firstDifference(got, want))
	}
}

func firstDifference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d: %s\nwant    %s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
