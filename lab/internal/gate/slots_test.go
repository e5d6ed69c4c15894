package gate

import (
	"maps"
	"slices"
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
		"server_steal":           0, "client_steal": 0, "server_foreign_load": 0, "client_foreign_load": 0, "swap_pages": 0,
		"throttled_s": 0, "clock_step_s": 0,
		"idle_servers_busy": 0.02, "silence_s": 0.05, "slots": 6, "slot_requests_least": 1, "slot_off_s": 0.02,
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
	// A condition of /compute: few answers, far apart, all at once.
	slow := func(silence float64) func(map[string]float64, *Asked) {
		return func(m map[string]float64, a *Asked) {
			m["requests"], m["throughput_rps"], m["latency_mean_s"], m["silence_s"] = 120, 200, 0.05, silence
			a.Connections, m["connections_established"] = 10, 10
		}
	}
	for _, r := range []row{
		{"all at its bar", func(map[string]float64, *Asked) {}, "", "", false},

		{"an idle server that works", set("idle_servers_busy", 0.021), IdleServers, "idle_servers_busy", false},
		{"idle servers missing", lack("idle_servers_busy"), IdleServers, "idle_servers_busy", true},

		{"more than half a slot of silence", set("silence_s", 0.051), Silent, "silence_s", false},
		{"silence missing", lack("silence_s"), Silent, "silence_s", true},
		{"answers of 50 ms, all at once", slow(0.1), "", "", false},
		{"answers of 50 ms, and a server that stood still", slow(0.101), Silent, "silence_s", false},
		{"ten requests of a low rate", func(m map[string]float64, a *Asked) {
			a.Rate, m["throughput_rps"], m["send_lag_p99_s"], m["silence_s"] = 125, 125, 0, 0.08
		}, "", "", false},
		{"more than ten of a low rate", func(m map[string]float64, a *Asked) {
			a.Rate, m["throughput_rps"], m["send_lag_p99_s"], m["silence_s"] = 125, 125, 0, 0.081
		}, Silent, "silence_s", false},
		{"a tenth of what counts in long slots", func(m map[string]float64, a *Asked) {
			a.SlotS, a.Rounds, a.WindowS = 2, 2, 4
			m["slots"], m["duration_s"], m["silence_s"] = 2, 4, 0.4
		}, "", "", false},
		{"more than that", func(m map[string]float64, a *Asked) {
			a.SlotS, a.Rounds, a.WindowS = 2, 2, 4
			m["slots"], m["duration_s"], m["silence_s"] = 2, 4, 0.41
		}, Silent, "silence_s", false},

		{"a slot too few", set("slots", 5), Slot, "slots", false},
		{"slots missing", lack("slots"), Slot, "slots", true},
		{"a slot without an answer", set("slot_requests_least", 0), Slot, "slot_requests_least", false},
		{"least of a slot missing", lack("slot_requests_least"), Slot, "slot_requests_least", true},
		{"a slot too long", set("slot_off_s", 0.021), Slot, "slot_off_s", false},
		{"a tenth of a long slot", func(m map[string]float64, a *Asked) { a.SlotS, m["slot_off_s"] = 1, 0.1 }, "", "", false},
		{"length of slots missing", lack("slot_off_s"), Slot, "slot_off_s", true},
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
				if name == "silence_s" || name == "idle_servers_busy" || len(name) > 4 && name[:4] == "slot" {
					delete(m, name)
				}
			}
			a.SlotS, a.Rounds, m["duration_s"] = 0, 0, 0.6
		}, "", "", false},
		{"silence in one piece", func(m map[string]float64, a *Asked) {
			a.SlotS, a.Rounds, a.WindowS, m["duration_s"], m["silence_s"] = 0, 0, 2, 2, 0.21
		}, Silent, "silence_s", false},
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
	m, a := inSlots()
	for _, g := range []string{Silent, IdleServers, Slot} {
		if gate, _ := Of(g); gate.Kind != Passing {
			t.Errorf("%s is the machine's as often as not", g)
		}
		if f := Hold(g, maps.Clone(m), a); len(f) > 0 {
			t.Errorf("%s alone: %+v", g, f)
		}
	}
	if !slices.IsSortedFunc(Judge(nil, a), func(x, y Finding) int { return index(x.Gate) - index(y.Gate) }) {
		t.Error("findings stand in another order than the gates")
	}
}

func index(name string) int {
	return slices.IndexFunc(All, func(g Gate) bool { return g.Name == name })
}
