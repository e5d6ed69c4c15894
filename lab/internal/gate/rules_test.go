package gate

import (
	"strings"
	"testing"
)

// inSlots is a correct trial of six slots, a tenth of a second each, at the limit of every rule.
func inSlots() (map[string]float64, Asked) {
	return map[string]float64{
		"requests": 60_000, "throughput_rps": 100_000, "latency_mean_s": 0.001,
		"errors": 0, "timeouts": 0, "resets": 0, "non_2xx": 0, "workers": 2, "workers_serving": 2, "connections_established": 100,
		"client_thread_busy_max": 0.5, "throttled_s": 0,
	}, Asked{Generator: HTTPLoad, Connections: 100, Pipelining: 1, Workers: 2, WindowS: 0.6, SlotS: 0.1}
}

// A figure shows its fault, shows none at the limit, and is missed where it is missing.
func TestRules(t *testing.T) {
	type values = map[string]float64
	const absent = -1
	open := func(rate float64) func(a *Asked) { return func(a *Asked) { a.Rate = rate } }
	autocannon := func(a *Asked) { a.Generator, a.SlotS, a.ResolutionS = Autocannon, 0, AutocannonStep }
	for _, c := range []struct {
		name   string
		set    values // absent takes a figure out
		asked  func(a *Asked)
		gate   string // the only fault; empty: none
		metric string
	}{
		{"nothing", nil, nil, "", ""},
		{"an answer that was not 2xx", values{"non_2xx": 1}, nil, WrongAnswer, "non_2xx"},
		{"statuses missing", values{"non_2xx": absent}, nil, NoTelemetry, "non_2xx"},
		{"a timeout, which is among the errors too", values{"errors": 3, "timeouts": 3}, nil, Errors, "timeouts"},
		{"an error", values{"errors": 1}, nil, Errors, "errors"},
		{"a reset", values{"resets": 2}, nil, Errors, "resets"},
		{"resets missing", values{"resets": absent}, nil, NoTelemetry, "resets"},
		{"a receiver, which does not count them", values{"errors": absent, "timeouts": absent, "resets": absent},
			func(a *Asked) { a.Generator = Sink }, "", ""},
		{"no answer", values{"requests": 0}, nil, NoRequests, "requests"},

		{"a rate that was met", values{"send_lag_p99_s": 0.001}, open(101_000), "", ""},
		{"one that was not", values{"send_lag_p99_s": 0.001}, open(101_100), RateShort, "throughput_rps"},
		{"late", values{"send_lag_p99_s": 0.0011}, open(100_000), SendLate, "send_lag_p99_s"},
		{"lateness missing", nil, open(100_000), NoTelemetry, "send_lag_p99_s"},
		{"a rate that is meant to be too high", nil, func(a *Asked) { a.Rate, a.Overload = 1e9, true }, "", ""},

		{"no worker", values{"workers": 0}, nil, LostWorker, "workers"},
		{"a worker less", values{"workers": 1}, nil, LostWorker, "workers"},
		{"a worker less, of which a claim is", values{"workers": 1}, func(a *Asked) { a.Claimed = []string{"workers"} }, "", ""},
		{"workers missing", values{"workers": absent}, nil, NoTelemetry, "workers"},
		{"an idle worker", values{"workers_serving": 1}, nil, LostWorker, "workers_serving"},
		{"one of few connections", values{"workers_serving": 1, "latency_mean_s": 0.00031}, func(a *Asked) { a.Connections = 31 }, "", ""},
		{"one of which a claim is", values{"workers_serving": 1}, func(a *Asked) { a.Claimed = []string{"workers_active"} }, "", ""},

		{"a connection less", values{"connections_established": 99}, nil, Connections, "connections_established"},
		{"connections missing", values{"connections_established": absent}, nil, NoTelemetry, "connections_established"},
		{"cores that were held back", values{"throttled_s": 0.1}, nil, HeldBack, "throttled_s"},
		{"the client's threads missing", values{"client_thread_busy_max": absent}, nil, NoTelemetry, "client_thread_busy_max"},
		{"a disturbed machine", values{"server_foreign_load": 0.9, "client_steal": 0.5, "silence_s": 3}, nil, "", ""},

		// Each slot begins with requests in flight, a latency's worth, that are in no mean.
		{"as few in flight as the slots' ends explain", values{"throughput_rps": 2000, "latency_mean_s": 0.034}, nil, "", ""},
		{"fewer", values{"throughput_rps": 2000, "latency_mean_s": 0.029}, nil, Little, "latency_mean_s"},
		{"more, by answers behind the slots' ends",
			values{"throughput_rps": 2000, "latency_mean_s": 0.059, "latency_max_s": 0.05, "latency_cut_share": 0}, nil, "", ""},
		{"more", values{"throughput_rps": 3000, "latency_mean_s": 0.059, "latency_max_s": 0.05}, nil, Little, "latency_mean_s"},
		{"the mean missing", values{"latency_mean_s": absent}, nil, NoTelemetry, "latency_mean_s"},
		// Cut latencies give a least mean, and no other is needed.
		{"a mean that is cut", values{"latency_mean_s": absent, "latency_mean_least_s": 0.0005}, autocannon,
			"", ""},
		{"a least mean missing", values{"latency_mean_s": absent}, autocannon, NoTelemetry,
			"latency_mean_least_s"},

		{"an event in no place", values{"unaccounted_events": 1, "duplicate_events": 0}, func(a *Asked) { a.Generator = Readers },
			Ledger, "unaccounted_events"},
		{"one read twice", values{"unaccounted_events": 0, "duplicate_events": 1}, func(a *Asked) { a.Generator = Readers },
			Ledger, "duplicate_events"},
	} {
		m, a := inSlots()
		for name, v := range c.set {
			if m[name] = v; v == absent {
				delete(m, name)
			}
		}
		if c.asked != nil {
			c.asked(&a)
		}
		found := Judge(m, a)
		switch {
		case c.gate == "" && len(found) > 0:
			t.Errorf("%s: %+v", c.name, found)
		case c.gate != "" && (len(found) != 1 || found[0].Gate != c.gate || found[0].Metric != c.metric || found[0].Detail == ""):
			t.Errorf("%s: %+v, want %s by %s", c.name, found, c.gate, c.metric)
		}
		if c.gate != "" && !Known(c.gate) {
			t.Errorf("%s is not in the table", c.gate)
		}
	}
}

// Thresholds are text, not Go's formatting, and each fault has its way out.
func TestSentences(t *testing.T) {
	for name, want := range map[string]string{RateShort: "99 % of", SendLate: "1ms late", Little: "10 % off"} {
		for _, g := range All {
			if g.Name == name && !strings.Contains(g.Closes, want) {
				t.Errorf("%s: %q lacks %q", name, g.Closes, want)
			}
		}
	}
	for _, g := range All {
		if g.WayOut == "" {
			t.Errorf("%s has no way out", g.Name)
		}
	}
	if Known("perhaps") {
		t.Error("a fault that does not exist is known")
	}
}

func TestDisturbancesAreSaid(t *testing.T) {
	trials := []map[string]float64{{"server_foreign_load": 0.2, "client_foreign_load": 0.2, "calibration_before_s": 1},
		{"server_steal": 0.1, "client_steal": 0.1, "calibration_after_s": 1.5}}
	for shared, want := range map[bool]string{false: "0.2 of a core", true: "0.1 of a core"} {
		want += " was used by others, 5 % of the cores' time was stolen, the server's core was up to 1.5 times slower at times; " +
			"intervals are wider for it"
		if says := Disturbed(trials, shared); says != want {
			t.Errorf("%q, want %q", says, want)
		}
	}
	if says := Disturbed(nil, false); says != "" {
		t.Error(says)
	}
}
