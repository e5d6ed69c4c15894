package results_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

func TestCheckFindsMistakes(t *testing.T) {
	refused := []results.Reason{{Gate: gate.NoRequests, Detail: "x"}}
	for _, c := range []struct {
		name string
		set  func(*results.File)
		says string // empty: accepted
	}{
		{"nothing", func(*results.File) {}, ""},
		{"no end", func(f *results.File) { f.Provenance.Ended = "" }, `/provenance/ended: "" is no end of a run`},

		{"no trials", func(f *results.File) { f.Trials = nil }, "/trials: empty"},
		{"half a block", func(f *results.File) { f.Trials = f.Trials[:8] },
			"/trials: 8, but 2 complete blocks of 5 conditions have 10"},
		{"a trial again", func(f *results.File) { f.Trials = append(f.Trials, f.Trials[9]) }, "/trials: 11, but"},
		{"another seed", func(f *results.File) { f.Provenance.Seed = 12 }, "/conditions/4/control_of: "},
		{"two of a group swapped", func(f *results.File) {
			f.Trials[0].Condition, f.Trials[1].Condition = f.Trials[1].Condition, f.Trials[0].Condition
		}, `/trials/0: "c4" in block 1, but the seed draws "c3" in block 1 next`},
		{"a trial of no condition", func(f *results.File) { f.Trials[1].Condition = "c9" }, `/trials/1: "c9" in block 1, but`},
		{"two controls", func(f *results.File) { f.Conditions[3].ControlOf = "c1" }, "/conditions/3/control_of: "},
		{"a control of nothing", func(f *results.File) { f.Conditions[4].ControlOf = "c9" }, "/conditions/4/control_of: "},

		{"another setting", func(f *results.File) { f.Settings["connections"] = setting.Int(1) }, "/settings: "},
		{"another wire", func(f *results.File) { f.Topology.LineRateBps = 1 }, "/topology: "},
		{"another plan", func(f *results.File) { f.Provenance.Block.ProfileS = 2 },
			"/provenance/block: {Block:{SlotS:0.1 Rounds:6 WarmupS:0.2} ProfileS:2}, but the design of turning that"},
		{"another level", func(f *results.File) {
			f.Conditions[1].Levels = f.Conditions[1].Levels.With(setting.Levels{"workers": setting.Int(3)})
		}, "/conditions: "},
		{"a control at another level", func(f *results.File) {
			f.Conditions[4].Levels = f.Conditions[4].Levels.With(setting.Levels{"workers": setting.Int(3)})
		}, "/conditions: "},

		{"a slot too few", func(f *results.File) { f.Trials[2].Slots = f.Trials[2].Slots[:5] }, "/trials/2/slots: 5 of 6"},
		{"a slot too few, and it does not count", func(f *results.File) {
			f.Trials[2].Slots, f.Trials[2].Valid, f.Trials[2].Reasons = f.Trials[2].Slots[:5], false, refused
		}, ""},
		{"nothing, and it does not count", func(f *results.File) {
			f.Trials[2] = results.Trial{Block: 1, Condition: f.Trials[2].Condition, Reasons: refused}
		}, ""},
		{"a reason of no gate", func(f *results.File) { f.Trials[2].Reasons = []results.Reason{{Gate: "speed"}} },
			`/trials/2/reasons/0/gate: no gate "speed"`},
		{"a figure of no metric", func(f *results.File) { f.Trials[2].Metrics["turns"] = 1 },
			"/trials/2/metrics/turns: no metric has this name"},
		{"a limit of no metric", func(f *results.File) { f.Trials[2].Below = map[string]float64{"latency_s": 1} },
			"/trials/2/metrics/latency_s: no metric has this name"},
		{"no answer", func(f *results.File) { delete(f.Trials[2].Metrics, "requests") }, "/trials/2/metrics/requests: missing"},
	} {
		f := turned(t, 2)
		c.set(f)
		err := f.Check(design(t, "turning"))
		if (err == nil) != (c.says == "") || err != nil && !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
	// Of an older design the order is known, and no more than that.
	x := design(t, "turning")
	older, f := x.Then(&experiment.Locks{Design: "another"}), turned(t, 2)
	if f.Topology.LineRateBps = 1; f.Check(older) != nil {
		t.Error(f.Check(older))
	}
	if f.Trials[0].Block = 2; f.Check(older) == nil {
		t.Error("another order is accepted, of an older design")
	}
}

// One changed figure of a valid trial is found, with trial, figure and gate; a disturbance refuses nothing.
func TestCheckJudgesFaultsAgain(t *testing.T) {
	for _, c := range []struct {
		metric string
		v      float64
		gate   string // empty: accepted
	}{
		{"non_2xx", 5000, gate.WrongAnswer}, {"non_2xx", 0, ""},
		{"errors", 1, gate.Errors}, {"timeouts", 1, gate.Errors}, {"resets", 1, gate.Errors},
		{"workers", 0, gate.LostWorker}, {"workers_serving", 0, gate.LostWorker},
		{"connections_established", 99, gate.Connections}, {"connections_established", 100, ""},
		{"latency_mean_s", 0.9, gate.Little}, {"throttled_s", 0.1, gate.HeldBack},
		{"calibration_after_s", 2e-6, ""}, {"server_foreign_load", 0.9, ""}, {"client_steal", 0.4, ""},
	} {
		f := turned(t, 1)
		f.Trials[3].Metrics[c.metric] = c.v
		err, want := f.Check(design(t, "turning")), fmt.Sprintf("/trials/3/metrics/%s: ", c.metric)
		if (err == nil) != (c.gate == "") || err != nil && (!strings.HasPrefix(err.Error(), want) ||
			!strings.Contains(err.Error(), "the gate "+c.gate+" makes")) {
			t.Errorf("%s of %v: %v, want %q", c.metric, c.v, err, c.gate)
		}
	}
}

// Nothing is below zero but a sum over a window, and no share is a percentage.
func TestEveryMetricHasItsRange(t *testing.T) {
	apart := map[string]bool{"server_foreign_load": true, "client_foreign_load": true, "profiled_throughput_share": true,
		"answered_share": true, "delivered_share": true}
	for _, m := range metric.All {
		for _, c := range []struct {
			v       float64
			refused bool
		}{{-1, m.Name != "backlog_growth_per_s"}, {98, m.Unit == metric.Ratio && !apart[m.Name]}} {
			f := turned(t, 1)
			f.Trials[0] = results.Trial{Block: 1, Condition: f.Trials[0].Condition, Metrics: map[string]float64{m.Name: c.v},
				Reasons: []results.Reason{{Gate: gate.NoRequests}}}
			if err := f.Check(design(t, "turning")); (err != nil) != c.refused {
				t.Errorf("%s of %v: %v", m.Name, c.v, err)
			}
		}
	}
}

func TestWhatATrialWasAskedFor(t *testing.T) {
	levels := func(generator string, more setting.Levels) setting.Levels {
		return setting.Levels{"generator": setting.String(generator)}.With(more)
	}
	nine := setting.Levels{"connections": setting.Int(9), "prefork": setting.Bool(false)}
	for _, c := range []struct {
		design string
		levels setting.Levels
		want   gate.Asked
	}{
		{"made-up", levels("autocannon", setting.Levels{"connections": setting.Int(50), "pipelining": setting.Int(4),
			"workers": setting.Int(3), "prefork": setting.Bool(true)}),
			gate.Asked{Generator: "autocannon", Connections: 50, Pipelining: 4, Workers: 3, ResolutionS: 0.001}},
		// By default there is one worker on each of the server's cores.
		{"made-up", levels("fortio", setting.Levels{"rate": setting.Int(900), "overload": setting.Bool(true)}),
			gate.Asked{Generator: "fortio", Pipelining: 1, Rate: 900, Overload: true, Workers: 5}},
		{"made-up", levels("fortio", nine), gate.Asked{Generator: "fortio", Connections: 9, Pipelining: 1}},
		{"made-up", levels("sink", setting.Levels{"server": setting.String("producer")}),
			gate.Asked{Generator: "sink", Pipelining: 1}},
		// Nothing is in flight on a stream.
		{"made-up", levels("readers", setting.Levels{"server": setting.String("fanout"), "connections": setting.Int(9)}),
			gate.Asked{Generator: "readers", Connections: 9}},
		{"turning", levels("http_load", nine), gate.Asked{Generator: "http_load", Connections: 9, Pipelining: 1, SlotS: 0.1}},
	} {
		x := design(t, c.design)
		c.want.WindowS, c.want.Claimed = x.Block.SlotS*float64(x.Block.Rounds), []string{x.Claims[0].Metric}
		if got := results.Asked(x, c.levels, 5); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", c.want) {
			t.Errorf("%v:\n%+v, want\n%+v", c.levels, got, c.want)
		}
	}
	if got := results.Asked(design(t, "made-up"), setting.Levels{}, 0); got.Workers != 1 {
		t.Errorf("%d workers on a core that is shared", got.Workers)
	}
}
