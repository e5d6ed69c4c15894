package results

import (
	"maps"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/slots"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Conclude rounds a trial's counts as its file will have them, and adds what follows: metrics from its slots,
// profiles, load and other metrics, the walls that it met, and whether it is valid. It is the one place that says
// how, for a run that measures and for a file that is read.
func (f *File) Conclude(t *Trial) {
	slots.Round(t.Metrics)
	maps.Copy(t.Metrics, f.following(t))
	t.Valid = len(t.Reasons) == 0
	w := f.Walls(*t)
	t.Bound, t.BoundWhy = w.Bound(), w.Why()
}

func (f *File) following(t *Trial) map[string]float64 {
	m := map[string]float64{}
	levels, serverCPUs := f.LevelsOf(*t), f.Provenance.ServerCPUs
	if own, ok := levels[setting.ServerCPUs]; ok {
		serverCPUs = own.String()
	}
	if t.Slots != nil {
		m = slots.Metrics(t.Slots, slots.Setup{ServerCores: Count(serverCPUs),
			ClientCores: Count(f.Provenance.ClientCPUs), LineRateBps: f.Topology.LineRateBps})
	}
	// of finds figures that are all known, counted or following.
	of := func(names ...string) (v [2]float64, known bool) {
		for i, name := range names {
			if v[i], known = m[name]; !known {
				v[i], known = t.Metrics[name]
			}
			if !known {
				return v, false
			}
		}
		return v, true
	}
	quotient := func(name, part, whole string) {
		if v, known := of(part, whole); known && v[1] > 0 {
			m[name] = v[0] / v[1]
		}
	}
	product := func(name, a, b string) {
		if v, known := of(a, b); known {
			m[name] = v[0] * v[1]
		}
	}
	if t.Slots == nil {
		quotient("throughput_rps", "requests", "duration_s")
		if v, known := of("wire_tx_bps", "wire_rx_bps"); known && f.Topology.LineRateBps > 0 {
			m["line_rate_share"] = max(v[0], v[1]) / f.Topology.LineRateBps
		}
	}
	product("transfer_bytes_per_s", "throughput_rps", "response_bytes")
	rate, connections := levels.Whole(setting.Rate, 0), levels.Whole(setting.Connections, 0)
	requests, _ := of("requests")
	switch _, answered := of("throughput_rps"); {
	case rate > 0 && answered:
		m["asked_rate_rps"] = float64(rate)
		quotient("answered_share", "throughput_rps", "asked_rate_rps")
	case levels[setting.Generator] == setting.String(setting.Readers): // to whom an event is what an answer is elsewhere
		quotient("client_to_server_cpu", "client_cpu_per_request_s", "server_cpu_per_request_s")
		for _, side := range []string{"server", "client"} {
			if v, known := of(side + "_cpu_per_request_s"); known {
				m[side+"_cpu_per_event_s"] = v[0]
			}
		}
		if v, known := of("likes_per_s", "delivered_per_s"); known && v[0] > 0 {
			m["server_cpu_per_like_s"] = m["server_cpu_per_event_s"] * v[1] / v[0]
		}
		if rate := m["throughput_rps"]; connections > 0 {
			m["events_per_connection_per_s"] = rate / float64(connections)
		}
	case rate == 0 && connections > 0 && requests[0] > 0: // a closed loop
		m["asked_in_flight"] = float64(connections * levels.Whole(setting.Pipelining, 1))
		product("in_flight", "throughput_rps", "latency_mean_s")
	}
	quotient("delivered_share", "delivered_per_s", "offered_per_s")
	quotient("server_cpu_per_event_s", "server_cpu_per_request_s", "events_per_batch")
	if block, ok := t.Profile(profile.Block); ok && block.DurationS > 0 {
		// The mean number of goroutines that were blocked, those that waited for work included.
		m["goroutines_parked"] = words.Significant(block.Total/block.DurationS, 9)
		m["block_events"], m["block_stacks"] = block.Events, float64(block.Stacks)
	}
	if heap, ok := t.Profile(profile.Heap); ok {
		m["live_heap_bytes"] = heap.Total
	}
	for name := range t.Below {
		delete(m, name)
	}
	slots.RoundFollowing(m)
	return m
}

// Count is the number of cores in a list; 0 where there is none.
func Count(cpus string) int {
	list, _ := machine.Parse(cpus)
	return len(list)
}

// Walls are what a trial's bound is decided from.
func (f *File) Walls(t Trial) gate.Walls { return gate.WallsOf(t.Metrics, f.Topology.LineRateBps) }

// SharedCores tells whether server and clients ran on the same cores, where each takes CPU time from the other, or
// nothing was pinned.
func (f *File) SharedCores() bool {
	server, err := machine.Parse(f.Provenance.ServerCPUs)
	client, err2 := machine.Parse(f.Provenance.ClientCPUs)
	return f.Topology.Kind != "fleet" && (err != nil || err2 != nil ||
		slices.ContainsFunc(server, func(cpu int) bool { return slices.Contains(client, cpu) }))
}

// condition finds a condition by its id; nil if there is none.
func (f *File) condition(id string) *Condition {
	if i := slices.IndexFunc(f.Conditions, func(c Condition) bool { return c.ID == id }); i >= 0 {
		return &f.Conditions[i]
	}
	return nil
}

// LevelsOf are all settings of a trial's condition.
func (f *File) LevelsOf(t Trial) setting.Levels {
	if c := f.condition(t.Condition); c != nil {
		return f.Settings.With(c.Levels)
	}
	return f.Settings
}

// A Reading is the range of values that a recorded figure may have, Low and High included. Nominal
// is the recorded figure; it is absent where only a limit is known.
type Reading struct {
	Low, High float64
	Nominal   *float64
}

// stepped has the metrics of which http_load prints the upper edge of a step, which is a thousandth.
var stepped = map[string]bool{
	"latency_p50_s": true, "latency_p90_s": true, "latency_p95_s": true, "latency_p99_s": true, "latency_p999_s": true,
	"latency_max_s": true,
}

// Reading gives the range that a trial's figure may have; false where the trial has no such figure.
func (f *File) Reading(t Trial, name string) (Reading, bool) {
	if limit, ok := t.Below[name]; ok {
		return Reading{0, limit, nil}, true
	}
	v, ok := t.Metrics[name]
	if !ok {
		return Reading{}, false
	}
	r := Reading{v, v, &v}
	r.High += t.Resolution[name] // cut to whole steps: a 2 is anything from 2 up to 3
	if stepped[name] && experiment.Generator(f.LevelsOf(t)) == gate.HTTPLoad {
		r.Low -= v * 1e-3
	}
	return r, true
}
