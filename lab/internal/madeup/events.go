package madeup

import (
	"maps"
	"math"
	"time"

	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// atOnce makes the trials of a group of producers, each with a receiver of its
// own. All begin together, and the use of the cores is the sum of all. A batch
// costs what a request costs elsewhere. At a set rate a receiver costs half of
// its producer, and the use of each side follows from that. If the receiver
// searches for the limit, the trial says how busy both sides are.
func (m *maker) atOnce(block int, conditions []int, all []setting.Levels, machine map[string]float64) {
	x := m.Experiment
	began := m.Started.Add(time.Duration((m.at - x.Block.WarmupS) * float64(time.Second)))
	came, figures := map[int]Came{}, map[int]map[string]float64{}
	var busy Came
	longest := 0.0
	for _, c := range conditions {
		came[c] = m.came(block, c, all[c])
		figures[c] = m.received(all[c], came[c])
		rps := figures[c]["throughput_rps"]
		busy.ServerBusy += figures[c]["server_cpu_per_request_s"] * rps
		busy.ClientBusy += figures[c]["client_cpu_per_request_s"] * rps
		longest = max(longest, figures[c]["duration_s"])
	}
	cores := m.cores(busy, machine["server_steal"])
	for _, c := range conditions {
		t := results.Trial{
			Seq: len(m.f.Trials) + 1, Block: block, Condition: m.f.Conditions[c].ID, StartedAt: began, Cores: cores,
			Reasons: came[c].Reasons, Below: came[c].Below,
		}
		maps.Copy(figures[c], machine)
		for i, name := range []string{"server_cores_busy", "client_cores_busy"} {
			figures[c][name] = 1 - cores[min(i, len(cores)-1)].Idle
		}
		m.finish(&t, came[c], figures[c], machine)
		m.f.Trials = append(m.f.Trials, t)
	}
	m.at += longest
}

// received has the figures of a trial whose producer delivers everything.
func (m *maker) received(all setting.Levels, c Came) map[string]float64 {
	number := func(name string) float64 { return float64(all.Whole(name, 0)) }
	duration := m.Experiment.Block.SlotS + 1e-3*m.r.Float64()
	batch, rate, client := max(1, number(setting.BatchEvents)), number(setting.EventRate), c.CostS/2
	if rate == 0 {
		rate, client = batch*c.ServerBusy/c.CostS, c.CostS*c.ClientBusy/c.ServerBusy
	}
	batches := max(1, math.Round(rate/batch*duration))
	events := math.Round(rate * duration)
	wait := 0.0005 + number(setting.SinkLatencyMs)/1e3
	out := map[string]float64{
		"requests": batches, "duration_s": duration, "throughput_rps": batches / duration, "non_2xx": 0,
		"delivered_per_s": events / duration, "offered_per_s": events / duration, "logged_per_s": events / duration,
		"lost_per_s":    0,
		"arrived_share": 1, "events_per_batch": events / batches,
		"duplicate_events": 0, "unaccounted_events": 0, "backlog_growth_per_s": 0, "sink_in_flight_max": 1,
		"add_p99_s": m.about(4e-7, 0.1), "pace_lag_p99_s": m.about(1e-3, 0.1), "delivery_p50_s": m.about(wait, 0.01),
		"delivery_p99_s":           m.about(2*wait, 0.01),
		"server_cpu_s":             0.8 * c.CostS * batches, // of the samples within the window
		"server_cpu_per_request_s": c.CostS, "client_cpu_per_request_s": client,
		"client_thread_busy_max": client * batches / duration, "server_rss_bytes": 15245312, "client_rss_bytes": 10043392,
		"processes": 1, "workers": 0,
	}
	if number(setting.EventRate) == 0 {
		out["limit_per_s"] = rate
	}
	return out
}
