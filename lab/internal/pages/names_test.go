package pages

import (
	"maps"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
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
		if got := ConditionName(x, c.levels); got != c.want {
			t.Errorf("%v: %q; want %q", c.levels, got, c.want)
		}
	}
}

func TestTwoMachinesOfOneModelHaveDifferentNames(t *testing.T) {
	got := HostNames(map[string]*host.Profile{"cpu-0000aaaa": {ID: "cpu-0000aaaa", Name: "A CPU"},
		"cpu-0000bbbb": {ID: "cpu-0000bbbb", Name: "A CPU"}, "mac": {ID: "mac", Name: "A Mac"},
		"x-0000cccc": {ID: "x-0000cccc", Name: "X"}, "y-0000cccc": {ID: "y-0000cccc", Name: "X"}})
	want := map[string]string{"cpu-0000aaaa": "A CPU (0000aaaa)", "cpu-0000bbbb": "A CPU (0000bbbb)", "mac": "A Mac",
		"x-0000cccc": "X (x-0000cccc)", "y-0000cccc": "X (y-0000cccc)"}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
