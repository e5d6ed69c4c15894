package verdict

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

const diffDesign = `
entry = "7"
title = "t"
question = "q"
metrics = ["server_cpu_per_request_s", "throughput_rps", "errors"]
topology = { kind = "loopback" }
settings = { route = "/read", generator = "http_load", connections = 100 }
factors = [{ name = "workers", levels = [1, 2] }]
budget_s = 60
block = { slot_s = 0.1, rounds = 3, warmup_s = 0.2 }
claims = [{ id = "c", kind = "flat", text = "t", why = "w", metric = "latency_mean_s", over = "workers", margin = 0.1 }]
`

// diffRun makes up a run whose requests cost cost times the usual.
func diffRun(t *testing.T, seed uint64, blocks int, cost float64, edits ...string) Run {
	t.Helper()
	x, err := experiment.Parse("made-up", []byte(strings.NewReplacer(edits...).Replace(diffDesign)))
	if err != nil {
		t.Fatal(err)
	}
	return Run{File: madeup.Run(madeup.Plan{
		Experiment: x, Hosts: results.Hosts{Server: "h", Client: "h"}, Started: time.Date(2026, 1, 2, 3, 4, int(seed), 0, time.UTC), Seed: seed, Blocks: blocks, Ended: results.Decided,
		Trial: func(setting.Levels, int, bool) madeup.Came { return madeup.Came{CostS: cost * madeup.Usual.CostS} },
	}), Then: x}
}

func ratioIn(t *testing.T, d *Diff, condition int, metric string) Ratio {
	t.Helper()
	i := slices.IndexFunc(d.Conditions[condition].Ratios, func(r Ratio) bool { return r.Metric == metric })
	if i < 0 {
		t.Fatalf("no %s among %+v", metric, d.Conditions[condition].Ratios)
	}
	return d.Conditions[condition].Ratios[i]
}

func TestTwoRunsOfTheSameShowNoDifference(t *testing.T) {
	d := Compare([]Run{diffRun(t, 1, 7, 1)}, []Run{diffRun(t, 2, 6, 1)})
	if len(d.Conditions) != 2 || len(d.OnlyA)+len(d.OnlyB)+len(d.Designs) > 0 {
		t.Fatalf("%+v", d)
	}
	for i, c := range d.Conditions {
		for _, name := range []string{cost, rps, "latency_mean_s"} {
			r := ratioIn(t, d, i, name)
			// Noise of one percent leaves an interval of about two.
			if r.Differs || r.Low > 1 || r.High < 1 || r.Low < 0.96 || r.High > 1.04 || r.BlocksA != 7 || r.BlocksB != 6 {
				t.Errorf("%s: %+v", c.Name, r)
			}
			if r.Unseen <= 0 || r.Unseen > 0.04 || !strings.HasPrefix(r.Says, "no difference seen; one of ") || !strings.HasSuffix(r.Says, " % would have been") {
				t.Errorf("%s: unseen %v, %s", c.Name, r.Unseen, r.Says)
			}
		}
		if r := ratioIn(t, d, i, "errors"); r.Says != "0 in all blocks of both" || r.Ratio != 0 || r.High != 0 {
			t.Errorf("%+v", r)
		}
	}
}

func TestATenthMoreIsSeenAndMeasured(t *testing.T) {
	d := Compare([]Run{diffRun(t, 1, 7, 1)}, []Run{diffRun(t, 2, 7, 1.1)})
	for i := range d.Conditions {
		if r := ratioIn(t, d, i, cost); !r.Differs || r.Ratio < 1.08 || r.Ratio > 1.12 || r.Low > 1.1 || r.High < 1.1 || r.Unseen != 0 || !strings.HasSuffix(r.Says, " % more") {
			t.Errorf("cost: %+v", r)
		}
		if r := ratioIn(t, d, i, rps); !r.Differs || r.Low > 1/1.1 || r.High < 1/1.1 || !strings.HasSuffix(r.Says, " % less") {
			t.Errorf("throughput: %+v", r)
		}
	}
}

// sampled makes a run from figures, which both of its conditions have.
func sampled(t *testing.T, figures ...float64) Run {
	x := design(t, "", isFlat)
	return Run{made(x, len(figures), func(_ setting.Levels, b int) map[string]float64 { return map[string]float64{rps: figures[b-1]} }), x}
}

// Medians 25 and 30 make 1.2. Of four and four the interval is from the least quotient,
// 20/40, to the largest, 40/10; a change of 4/1.2 or of 1.2/0.5 would have had to be
// exceeded.
func TestRatioIsOfTheMediansAndTheIntervalOfTheQuotients(t *testing.T) {
	r := ratioIn(t, Compare([]Run{sampled(t, 10, 20, 30, 40)}, []Run{sampled(t, 20, 28, 32, 40)}), 0, rps)
	if r.Ratio != 1.2 || r.Low != 0.5 || r.High != 4 || r.Unseen != 2.33333333 || r.Says != "no difference seen; one of 233 % would have been" {
		t.Errorf("%+v", r)
	}
	// The lower end is 101/40, above 1.
	r = ratioIn(t, Compare([]Run{sampled(t, 10, 20, 30, 40)}, []Run{sampled(t, 101, 102, 103, 104)}), 0, rps)
	if r.Ratio != 4.1 || r.Low != 2.525 || r.High != 10.4 || !r.Differs || r.Says != "4.10 times as much" {
		t.Errorf("%+v", r)
	}
	r = ratioIn(t, Compare([]Run{sampled(t, 10, 20, 30)}, []Run{sampled(t, 10, 20, 30, 40)}), 0, rps)
	if r.Ratio != 1.25 || r.Low != 0 || r.High != 0 || r.Says != "too few blocks for an interval" {
		t.Errorf("%+v", r)
	}
	r = ratioIn(t, Compare([]Run{sampled(t, 10, 10, 10, 10)}, []Run{sampled(t, 10, 10, 10, 0)}), 0, rps)
	if r.Ratio != 0 || r.Says != "no ratio: it is 0 in some blocks" {
		t.Errorf("%+v", r)
	}
}

func TestInvalidTrialsAreLeftOutAndCounted(t *testing.T) {
	a, b := sampled(t, 10, 20, 30, 40, 1000), sampled(t, 10, 20, 30, 40)
	a.File.Trials[8].Valid, a.File.Trials[8].Reasons = false, []results.Reason{{Gate: "errors", Detail: "d"}}
	d := Compare([]Run{a}, []Run{b})
	if r := ratioIn(t, d, 0, rps); r.Ratio != 1 || r.BlocksA != 4 {
		t.Errorf("%+v", r)
	}
	if d.A.Trials != 10 || d.A.Invalid != 1 || d.A.Why != "1 trial invalid (errors 1)" || d.B.Invalid != 0 {
		t.Errorf("%+v, %+v", d.A, d.B)
	}
}

func TestConditionsAreMatchedByAllSettings(t *testing.T) {
	usual := diffRun(t, 1, 4, 1)
	for _, c := range []struct {
		name         string
		edits        []string
		designs      string
		matched      int
		onlyA, onlyB string
	}{
		{"another level", []string{"levels = [1, 2]", "levels = [2, 4]"}, "", 1, "Workers 1", "Workers 4"},
		{"another load", []string{"connections = 100", "connections = 50"}, "connections 100 and 50", 0, "Workers 1, Workers 2", "Workers 1, Workers 2"},
		{"another block", []string{"rounds = 3", "rounds = 5"}, "block 3 × 0.1 s after 0.2 s and 5 × 0.1 s after 0.2 s", 2, "", ""},
		{"a wire", []string{`{ kind = "loopback" }`, `{ kind = "netns", line_rate_bps = 500000000, burst_bytes = 65536, queue_s = 0.01 }`},
			"topology loopback and netns 500 Mbit/s burst 65536 B queue 10 ms", 0, "Workers 1, Workers 2", "Workers 1, Workers 2"},
		// What is a factor of one and fixed in the other is matched by its level.
		{"a factor that was fixed", []string{"connections = 100 }", "}", "factors = [", `factors = [{ name = "connections", levels = [50, 100] }, `}, "",
			2, "", "Connections 50, workers 1, Connections 50, workers 2"},
	} {
		d := Compare([]Run{usual}, []Run{diffRun(t, 2, 4, 1, c.edits...)})
		if got := strings.Join(d.Designs, "; "); got != c.designs || len(d.Conditions) != c.matched || strings.Join(d.OnlyA, ", ") != c.onlyA || strings.Join(d.OnlyB, ", ") != c.onlyB {
			t.Errorf("%s: designs %q, %d matched, only %q, %q", c.name, got, len(d.Conditions), d.OnlyA, d.OnlyB)
		}
	}
}

// A host's record has the blocks of all runs of the newest design.
func TestARecordsBlocksCountTogether(t *testing.T) {
	d := Compare([]Run{diffRun(t, 1, 4, 1, "rounds = 3", "rounds = 5"), diffRun(t, 2, 4, 1), diffRun(t, 3, 5, 1)}, []Run{diffRun(t, 4, 4, 1)})
	if got := fmt.Sprint(len(d.A.Runs), ratioIn(t, d, 0, cost).BlocksA, ratioIn(t, d, 0, cost).BlocksB, d.A.Trials); got != "2 9 4 18" {
		t.Error(got)
	}
}

// A latency cut to whole milliseconds stands for a range, and so does its ratio.
func TestCoarseFiguresHaveARange(t *testing.T) {
	ms := func(v float64) Run {
		x := design(t, "", strings.Replace(isFlat, rps, "latency_p99_s", 1))
		r := made(x, 4, func(setting.Levels, int) map[string]float64 { return map[string]float64{"latency_p99_s": v} })
		r.Provenance.Generator = "autocannon 9.0.0"
		return Run{r, x}
	}
	r := ratioIn(t, Compare([]Run{ms(0.002)}, []Run{ms(0.006)}), 0, "latency_p99_s")
	// 6 to 7 over 2 to 3.
	if r.Ratio != 0 || r.RatioLow != 2 || r.RatioHigh != 3.5 || r.Low != 2 || r.High != 3.5 || !r.Differs || r.Says != "they differ" {
		t.Errorf("%+v", r)
	}
	r = ratioIn(t, Compare([]Run{ms(0)}, []Run{ms(0.006)}), 0, "latency_p99_s")
	if r.RatioLow != 6 || r.RatioHigh != 0 || r.Low != 6 || r.High != 0 || !r.Differs {
		t.Errorf("%+v", r)
	}
}
