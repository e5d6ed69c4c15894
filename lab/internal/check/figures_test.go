package check

import (
	"maps"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
)

func TestEveryMetricHasItsRange(t *testing.T) {
	of := func(name string, v float64) error {
		return figures(results.Trial{Metrics: map[string]float64{name: v}})
	}
	for _, m := range metric.All {
		if err := of(m.Name, -1); (err == nil) != (m.Name == "backlog_growth_per_s") {
			t.Errorf("%s of -1: %v", m.Name, err)
		}
		// percent
		if err := of(m.Name, 98); (err != nil) != (m.Unit == metric.Ratio && !quotients[m.Name]) {
			t.Errorf("%s of 98: %v", m.Name, err)
		}
	}
}

func TestATrialThatCountsHasAnswered(t *testing.T) {
	for _, name := range []string{"requests", "duration_s", "throughput_rps"} {
		f := made(t)
		delete(f.Trials[0].Metrics, name)
		if err := figures(f.Trials[0]); err == nil || !strings.HasPrefix(err.Error(), "metrics/"+name+": missing") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestQuantilesRise(t *testing.T) {
	metrics := func(kv ...any) func(*results.Trial) {
		return func(t *results.Trial) {
			for i := 0; i < len(kv); i += 2 {
				t.Metrics[kv[i].(string)] = kv[i+1].(float64)
			}
		}
	}
	below := func(name string, v float64) func(*results.Trial) {
		return func(t *results.Trial) { delete(t.Metrics, name); t.Below[name] = v }
	}
	for _, c := range []struct {
		name string
		set  func(*results.Trial)
		says string
	}{
		{"the median above the 90th", metrics("latency_p90_s", 0.0005, "latency_p50_s", 0.001),
			"metrics/latency_p90_s: 0.0005 is less than latency_p50_s, 0.001"},
		{"one left out between them", func(t *results.Trial) {
			delete(t.Metrics,
				"latency_p95_s")
			t.Metrics["latency_p99_s"] = 0.001
		}, "metrics/latency_p99_s: 0.001 is less than latency_p90_s"},
		{"the longest is not", metrics("latency_max_s", 0.0035),
			"metrics/latency_max_s: 0.0035 is less than latency_p999_s"},
		{"a mean above the longest", metrics("latency_mean_s", 0.006),
			"metrics/latency_max_s: 0.005 is less than latency_mean_s"},
		{"two the same", metrics("latency_p90_s", 0.003), ""},
		{"less than one before it", below("latency_p99_s", 0.003),
			"below/latency_p99_s: less than 0.003 is less than latency_p95_s, 0.003"},
		{"less than enough", below("latency_p99_s", 0.0031), ""},
		{"less than nothing", below("latency_p99_s", 0), "below/latency_p99_s: 0; nothing is less than that"},
		{"deliveries", metrics("delivery_p99_s", 0.05), "metrics/delivery_p99_s: 0.05 is less than delivery_p50_s"},
	} {
		tr := made(t).Trials[0]
		maps.Copy(tr.Metrics, map[string]float64{"latency_p50_s": 0.001, "latency_p90_s": 0.002, "latency_p95_s": 0.003,
			"latency_p99_s": 0.003, "latency_p999_s": 0.004, "latency_max_s": 0.005, "latency_mean_s": 0.002,
			"delivery_p50_s": 0.1, "delivery_p99_s": 0.2})
		tr.Below = map[string]float64{}
		c.set(&tr)
		err := figures(tr)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}
