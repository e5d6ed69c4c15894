package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

func TestTheRunFitsADesignOfItsOwn(t *testing.T) {
	f, err := decode(t, made)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Check(design(t)); err != nil {
		t.Errorf("the made-up run that the next test breaks is broken itself: %v", err)
	}
}

func design(t testing.TB) *experiment.Experiment {
	t.Helper()
	x, err := experiment.Parse("made-up", []byte(`
entry = "7"
title = "t"
question = "q"
metrics = ["throughput_rps"]
topology = { kind = "loopback" }
settings = { route = "/read", prefork = true, connections = 100 }
factors = [{ name = "workers", levels = [1, 2] }]
sizes.smoke = { blocks = 1, duration_s = 1 }
sizes.full = { blocks = 6, duration_s = 1 }
claims = [{ id = "c", kind = "flat", text = "t", why = "Made up.", metric = "throughput_rps", over = "workers", margin = 0.1 }]
`))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// again measures the first condition n more times, as controls.
func again(n int) func(*File) {
	return func(f *File) {
		for i := range n {
			c := f.Conditions[0]
			c.ID, c.ControlOf = fmt.Sprintf("a%d", i+1), c.ID
			f.Conditions = append(f.Conditions, c)
			// At the place that the seed draws: after the first condition.
			t := f.Trials[0]
			t.Condition, t.StartedAt = c.ID, t.StartedAt.Add(time.Duration(5*(i+1))*time.Second)
			f.Trials = slices.Insert(f.Trials, 1+i, t)
		}
		for i := range f.Trials {
			f.Trials[i].Seq = i + 1
		}
	}
}

func TestCheckFindsContradictions(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*File)
		says string // empty: accepted
	}{
		{"nothing", func(*File) {}, ""},

		{"without provenance", func(f *File) { f.Provenance = nil }, "/provenance: missing"},
		{"not applicable, with trials", func(f *File) { f.NotApplicable = "no wire" }, "/not_applicable: "},
		{"not applicable, without", func(f *File) { f.NotApplicable = "no wire"; f.Trials = nil }, ""},
		{"no trials and no reason", func(f *File) { f.Trials = nil }, "/trials: empty"},

		{"an unknown setting", func(f *File) { f.Settings["speed"] = setting.Int(1) }, "/settings/speed: unknown setting"},
		{"a setting of the wrong kind", func(f *File) { f.Settings["prefork"] = setting.Int(1) }, "/settings/prefork: "},
		{"an unknown factor", func(f *File) { f.Conditions[1].Levels["speed"] = setting.Int(1) }, "/conditions/1/levels/speed: unknown setting"},
		{"a level of the wrong kind", func(f *File) { f.Conditions[1].Levels["workers"] = setting.String("2") }, "/conditions/1/levels/workers: "},
		{"an id twice", func(f *File) { f.Conditions[1].ID = "c1" }, `/conditions/1/id: "c1" stands twice`},
		{"levels twice", func(f *File) { f.Conditions[1].Levels["workers"] = setting.Int(1) }, `/conditions/1/levels: the same as those of "c1"`},
		{"measured over what is no factor", func(f *File) { f.Conditions[1].Levels["pipelining"] = setting.Int(2) }, "/conditions/1/levels/pipelining: not a factor of made-up"},

		{"an A/A control", again(1), ""},
		{"two of them", again(2), "/conditions: 2 A/A controls; a run has one at most"},
		{"a control of nothing", func(f *File) { again(1)(f); f.Conditions[2].ControlOf = "c9" }, "/conditions/2/control_of: "},
		{"a control at other levels", func(f *File) { again(1)(f); f.Conditions[2].ControlOf = "c2" }, "/conditions/2/control_of: "},

		{"a trial out of order", func(f *File) { f.Trials[1].Seq = 3 }, "/trials/1/seq: 3, but it is the trial at place 2"},
		{"trials swapped", func(f *File) { f.Trials[0], f.Trials[1] = f.Trials[1], f.Trials[0] }, "/trials/0/seq: 2"},
		{"a trial left out", func(f *File) { f.Trials = f.Trials[1:] }, "/trials/0/seq: 2"},
		{"a trial of no condition", func(f *File) { f.Trials[1].Condition = "c3" }, `/trials/1/condition: no condition "c3"`},
		{"valid with a reason", func(f *File) { f.Trials[1].Valid = true }, "/trials/1/reasons: a valid trial has none"},
		{"invalid without", func(f *File) { f.Trials[1].Reasons = nil }, "/trials/1/reasons: an invalid trial needs at least one"},
		{"a figure that is none", func(f *File) { f.Trials[0].Metrics["throughput_rps"] = math.NaN() }, "/trials/0/metrics/throughput_rps: NaN is not a figure"},
		{"an endless figure", func(f *File) { f.Trials[0].Metrics["throughput_rps"] = math.Inf(1) }, "/trials/0/metrics/throughput_rps: +Inf is not a figure"},
		{"known and below", func(f *File) { f.Trials[0].Below["throughput_rps"] = 1 }, "/trials/0/below/throughput_rps: the figure is known as well"},
		{"a bound that the figures do not give", func(f *File) { f.Trials[0].Bound = gate.BoundServerCPU }, `/trials/0/bound: "server-cpu", but the figures give "unknown"`},
		{"a bound kept back", func(f *File) { f.Trials[0].Metrics["client_cores_busy"] = 1 }, `/trials/0/bound: "unknown", but the figures give "client-cpu"`},
		// A megabyte a second is 8 Mbit/s, all of a line rate of 8 Mbit/s.
		{"a full wire by its transfer", func(f *File) {
			f.Topology.LineRateBps = 8e6
			f.Trials[0].Metrics["transfer_bytes_per_s"] = 1e6
		}, `/trials/0/bound: "unknown", but the figures give "wire"`},
	} {
		f, err := decode(t, made)
		if err != nil {
			t.Fatal(err)
		}
		c.set(f)
		err = f.Check(design(t))
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

// A measured run with another design than its experiment's must not decide that
// experiment's claims.
func TestMeasuredRunFollowsItsDesign(t *testing.T) {
	const design = `entry = "1"
title = "t"
question = "q"
metrics = ["workers"]
[topology]
kind = "loopback"
[settings]
route = "/read"
connections = 10
[[factors]]
name = "workers"
levels = [1, 2]
[sizes.smoke]
blocks = 2
duration_s = 1
[sizes.full]
blocks = 2
duration_s = 1
[[claims]]
id = "c"
kind = "count"
text = "t"
why = "Made up."
metric = "workers"
equals = "workers"
`
	x, err := experiment.Parse("x", []byte(design))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, test := range map[string]struct {
		spoil func(f *File)
		want  string
	}{
		"as designed":          {func(*File) {}, ""},
		"another route":        {func(f *File) { f.Settings["route"] = setting.String("/simple") }, "/settings: "},
		"another topology":     {func(f *File) { f.Topology = Topology{Kind: "netns", LineRateBps: 1} }, "/topology: "},
		"another level":        {func(f *File) { f.Conditions[1].Levels["workers"] = setting.Int(8) }, "/conditions/1/levels: "},
		"a condition short":    {func(f *File) { f.Conditions = f.Conditions[:1]; f.Trials = f.Trials[:1] }, "/conditions: 1, but x has 2"},
		"a block too many":     {func(f *File) { f.Trials[1].Block = 3 }, "/trials/1/block: 3 of 1"},
		"two chances, one won": {func(f *File) { f.Trials[1].Condition = "c1" }, `/trials/1: "c1" counts already in block 1`},
	} {
		t.Run(name, func(t *testing.T) {
			f := &File{
				SchemaVersion: Earlier, Experiment: "x", Run: "20260102t030405z-h", Source: Measured, Hosts: Hosts{Server: "h", Client: "h"},
				Provenance: &Provenance{Size: "smoke", Blocks: 1, WarmupS: new(float64), DurationS: 1, Seed: 1, StartedAt: began, FinishedAt: began.Add(time.Minute)},
				Topology:   Topology{Kind: "loopback"}, Settings: x.Fixed(),
				Conditions: []Condition{
					{ID: "c1", Levels: setting.Levels{"workers": setting.Int(1)}},
					{ID: "c2", Levels: setting.Levels{"workers": setting.Int(2)}},
				},
			}
			for i := range 2 {
				f.Trials = append(f.Trials, Trial{
					Seq: i + 1, Block: 1, Condition: f.Conditions[i].ID, StartedAt: began.Add(time.Duration(2*i) * time.Second), Valid: true, Bound: gate.BoundUnknown,
					Metrics: map[string]float64{"workers": float64(i + 1), "throughput_rps": 5, "requests": 5, "duration_s": 1},
				})
			}
			test.spoil(f)
			err := f.Check(x)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
				t.Errorf("Check: %v, want %q", err, test.want)
			}
		})
	}
}
