package pages

import (
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

func TestConditionsAreNamedByTheirLevels(t *testing.T) {
	x := &experiment.Experiment{Factors: []experiment.Factor{{Name: setting.Variant}, {Name: setting.RPS},
		{Name: setting.EventRate}, {Name: setting.Connections}}}
	for _, c := range []struct {
		levels setting.Levels
		want   string
	}{
		{nil, "all trials"},
		{setting.Levels{setting.Connections: setting.Int(1600)}, "Connections 1,600"},
		{setting.Levels{setting.Connections: setting.Int(8), setting.RPS: setting.Bool(true)}, "RPS yes, connections 8"},
		{setting.Levels{setting.EventRate: setting.Int(400000), setting.RPS: setting.Bool(false),
			setting.Variant: setting.String("pool-10")}, "pool-10, RPS no, event rate 400,000"},
		// Settings that the experiment does not vary today come last.
		{setting.Levels{setting.ServerCPUs: setting.String("0-3"), setting.Connections: setting.Int(1),
			setting.IRQBalance: setting.Bool(true)}, "Connections 1, irqbalance yes, 0-3"},
	} {
		if got := conditionName(x, c.levels); got != c.want {
			t.Errorf("%v: %q; want %q", c.levels, got, c.want)
		}
	}
}
