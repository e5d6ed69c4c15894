package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

// inSlots is a correct trial of six slots of a tenth of a second, with each
// figure exactly at its limit.
func inSlots() (map[string]float64, Asked) {
	return map[string]float64{
		"requests": 60_000, "throughput_rps": 100_000, "duration_s": 0.6, "latency_mean_s": 0.001,
		"errors": 0, "timeouts": 0, "resets": 0, "non_2xx": 0, "workers": 0, "connections_established": 100,
		"client_thread_busy_max": 0.5,
		"throttled_s":            0,
		"idle_servers_busy":      0.02, "slots": 6, "slot_requests_least": 1,
		"slot_server_busy_max": 1.1,
	}, Asked{Generator: setting.HTTPLoad, Connections: 100, Pipelining: 1, WindowS: 0.6, SlotS: 0.1, Rounds: 6}
}

// Each gate on slots closes by one figure, stays open at the limit, and reports
// the figure if it is missing.
func TestGatesOfSlotsShutStayOpenAndAreSeen(t *testing.T) {
	type row struct {
		what   string
		spoil  func(m map[string]float64, a *Asked)
		gate   string // the gate with a finding; empty: none
		metric string // the figure of the finding
		lacks  bool   // whether the figure is missing
	}
	set := func(name string, v float64) func(map[string]float64, *Asked) {
		return func(m map[string]float64, _ *Asked) { m[name] = v }
	}
	lack := func(name string) func(map[string]float64, *Asked) {
		return func(m map[string]float64, _ *Asked) { delete(m, name) }
	}
	for _, r := range []row{
		{"all at its bar", func(map[string]float64, *Asked) {}, "", "", false},

		{"an idle server that works", set("idle_servers_busy", 0.021), IdleServers, "idle_servers_busy", false},
		{"idle servers missing", lack("idle_servers_busy"), IdleServers, "idle_servers_busy", true},

		{"a slot too few", set("slots", 5), Slot, "slots", false},
		{"slots missing", lack("slots"), Slot, "slots", true},
		{"a slot without an answer", set("slot_requests_least", 0), Slot, "slot_requests_least", false},
		{"least of a slot missing", lack("slot_requests_least"), Slot, "slot_requests_least", true},
		{"more CPU time than there was", set("slot_server_busy_max", 1.26), Slot, "slot_server_busy_max", false},
		{"a server that is not pinned", lack("slot_server_busy_max"), "", "", false},

		{"late at a rate", func(m map[string]float64, a *Asked) {
			a.Rate, m["send_lag_p99_s"] = 100_000, 0.0011
		}, SendLate, "send_lag_p99_s", false},
		{"late at a rate, missing", func(m map[string]float64, a *Asked) { a.Rate = 100_000 }, SendLate, "send_lag_p99_s",
			true},

		// Each slot begins with requests in flight, a latency's worth, that are in no
		// mean.
		{"as few in flight as the slots' ends explain", func(m map[string]float64, a *Asked) {
			m["requests"], m["throughput_rps"], m["latency_mean_s"] = 1200, 2000, 0.034
		}, "", "", false},
		{"fewer", func(m map[string]float64, a *Asked) {
			m["requests"], m["throughput_rps"], m["latency_mean_s"] = 1200, 2000, 0.029
		}, Little, "latency_mean_s", false},
		{"more, by answers behind the slots' ends", func(m map[string]float64, a *Asked) {
			m["requests"], m["throughput_rps"], m["latency_mean_s"] = 1200, 2000, 0.059
			m["latency_max_s"], m["latency_cut_share"] = 0.05, 0
		}, "", "", false},
		{"more, of a generator that left those out", func(m map[string]float64, a *Asked) {
			m["requests"], m["throughput_rps"], m["latency_mean_s"] = 1200, 2000, 0.059
			m["latency_max_s"] = 0.05
		}, Little, "latency_mean_s", false},

		{"in one piece nothing of slots is asked for", func(m map[string]float64, a *Asked) {
			for name := range m {
				if name == "idle_servers_busy" || strings.HasPrefix(name, "slot") {
					delete(m, name)
				}
			}
			a.SlotS, a.Rounds, m["duration_s"] = 0, 0, 0.6
		}, "", "", false},
		{"a disturbed machine", func(m map[string]float64, _ *Asked) {
			m["server_foreign_load"], m["client_steal"], m["silence_s"], m["slot_off_s"] = 0.9, 0.5, 3, 1
		}, "", "", false},
	} {
		m, a := inSlots()
		r.spoil(m, &a)
		found := Judge(m, a)
		switch {
		case r.gate == "" && len(found) > 0:
			t.Errorf("%s: %+v", r.what, found)
		case r.gate != "" && (len(found) != 1 || found[0].Gate != r.gate || found[0].Metric != r.metric ||
			found[0].Missing() != r.lacks):
			t.Errorf("%s: %+v, want %s by %s (missing: %v)", r.what, found, r.gate, r.metric, r.lacks)
		}
	}
	_, a := inSlots()
	if !slices.IsSortedFunc(Judge(nil, a), func(x, y Finding) int { return index(x.Gate) - index(y.Gate) }) {
		t.Error("findings stand in another order than the gates")
	}
}

func index(name string) int {
	return slices.IndexFunc(All, func(g Gate) bool { return g.Name == name })
}
