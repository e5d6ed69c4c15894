package check

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

func TestTheRunFitsADesignOfItsOwn(t *testing.T) {
	f := made(t)
	if err := File(f, design(t)); err != nil {
		t.Errorf("the made-up run that the next test breaks is broken itself: %v", err)
	}
}

func design(t testing.TB) *experiment.Experiment {
	t.Helper()
	x, err := experiment.Load("../experiment/testdata/made-up.toml")
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// controls measures the first condition n more times, as controls.
func controls(n int) func(*results.File) {
	return func(f *results.File) {
		for i := range n {
			c := f.Conditions[0]
			c.ID, c.ControlOf = fmt.Sprintf("a%d", i+1), c.ID
			f.Conditions = append(f.Conditions, c)
			// At the place that the seed draws: after the others.
			t := f.Trials[0]
			t.Condition, t.StartedAt = c.ID, t.StartedAt.Add(time.Duration(5*(i+1))*time.Second)
			f.Trials = slices.Insert(f.Trials, 2+i, t)
		}
		for i := range f.Trials {
			f.Trials[i].Seq = i + 1
		}
	}
}

func TestCheckFindsContradictions(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*results.File)
		says string // empty: accepted
	}{
		{"nothing", func(*results.File) {}, ""},

		{"no trials and no reason", func(f *results.File) { f.Trials = nil }, "/trials: empty"},

		{"an unknown setting", func(f *results.File) { f.Settings["speed"] = setting.Int(1) },
			"/settings/speed: unknown setting"},
		{"a setting of the wrong kind", func(f *results.File) { f.Settings["prefork"] = setting.Int(1) },
			"/settings/prefork: "},
		{"an unknown factor", func(f *results.File) { f.Conditions[1].Levels["speed"] = setting.Int(1) },
			"/conditions/1/levels/speed: unknown setting"},
		{"a level of the wrong kind", func(f *results.File) { f.Conditions[1].Levels["workers"] = setting.String("2") },
			"/conditions/1/levels/workers: "},
		{"an id twice", func(f *results.File) { f.Conditions[1].ID = "c1" }, `/conditions/1/id: "c1" stands twice`},
		{"levels twice", func(f *results.File) { f.Conditions[1].Levels["workers"] = setting.Int(1) },
			`/conditions/1/levels: the same as those of "c1"`},
		{"measured over what is no factor", func(f *results.File) { f.Conditions[1].Levels["pipelining"] = setting.Int(2) },
			"/conditions/1/levels/pipelining: not a factor of made-up"},

		{"an A/A control", controls(1), ""},
		{"two of them", controls(2), "/conditions: 2 A/A controls; a run has one at most"},
		{"a control of nothing", func(f *results.File) { controls(1)(f); f.Conditions[2].ControlOf = "c9" },
			"/conditions/2/control_of: "},
		{"a control at other levels", func(f *results.File) { controls(1)(f); f.Conditions[2].ControlOf = "c2" },
			"/conditions/2/control_of: "},

		{"a trial of no condition", func(f *results.File) { f.Trials[1].Condition = "c3" }, `/trials/1/condition: no condition "c3"`},
		{"a figure that is none", func(f *results.File) { f.Trials[0].Metrics["throughput_rps"] = math.NaN() },
			"/trials/0/metrics/throughput_rps: NaN is not a figure"},
		{"an endless figure", func(f *results.File) { f.Trials[0].Metrics["throughput_rps"] = math.Inf(1) },
			"/trials/0/metrics/throughput_rps: +Inf is not a figure"},
		{"known and below", func(f *results.File) { f.Trials[0].Below["throughput_rps"] = 1 },
			"/trials/0/below/throughput_rps: the figure is known as well"},
	} {
		f := made(t)
		c.set(f)
		err := File(f, design(t))
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}
