package results

import (
	"math"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

func TestAFigureIsReadWithItsResolution(t *testing.T) {
	nominal := func(v float64) *float64 { return &v }
	by := func(generator string) setting.Levels {
		return setting.Levels{setting.Generator: setting.String(generator)}
	}
	f := &File{Conditions: []Condition{{ID: "a", Levels: by(setting.Autocannon)}, {ID: "d", Levels: by(setting.HTTPLoad)}}}
	for _, c := range []struct {
		name string
		t    Trial
		of   string
		want Reading
	}{
		{"cut to a step", Trial{Condition: "a", Metrics: map[string]float64{"latency_p50_s": 0.002},
			Resolution: map[string]float64{"latency_p50_s": 0.0005}}, "latency_p50_s", Reading{0.002, 0.0025, nominal(0.002)}},
		{"below a limit", Trial{Condition: "a", Below: map[string]float64{"latency_p50_s": 0.001}}, "latency_p50_s",
			Reading{0, 0.001, nil}},
		{"the upper edge of a step", Trial{Condition: "d", Metrics: map[string]float64{"latency_p99_s": 0.5}}, "latency_p99_s",
			Reading{0.4995, 0.5, nominal(0.5)}},
		{"no latency", Trial{Condition: "a", Metrics: map[string]float64{"throughput_rps": 7}}, "throughput_rps",
			Reading{7, 7, nominal(7)}},
		{"an exact mean", Trial{Condition: "d", Metrics: map[string]float64{"latency_mean_s": 0.5}}, "latency_mean_s",
			Reading{0.5, 0.5, nominal(0.5)}},
		{"no step known", Trial{Condition: "a", Metrics: map[string]float64{"latency_p50_s": 0.5}},
			"latency_p50_s", Reading{0.5, 0.5, nominal(0.5)}},
	} {
		got, ok := f.Reading(c.t, c.of)
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }
		if !ok || !near(got.Low, c.want.Low) || !near(got.High, c.want.High) ||
			(got.Nominal == nil) != (c.want.Nominal == nil) || got.Nominal != nil && *got.Nominal != *c.want.Nominal {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	if _, ok := f.Reading(Trial{Condition: "a"}, "latency_p50_s"); ok {
		t.Error("a figure that is not there was read")
	}
}
