package slots

import (
	"math"
	"slices"
	"testing"
)

func TestFiguresOfSlotsAreTheirSums(t *testing.T) {
	s := &Slots{
		AtS: []float64{1, 2}, DurationS: []float64{0.5, 0.75}, FillS: []float64{0, 0}, Requests: []int64{100, 400},
		ServerCPUS: []float64{0.5, 0.25}, ClientCPUS: []float64{0.125, 0.125}, IdleCPUS: []float64{0, 0.0125},
		TxBytes: []int64{1000, 250}, RxBytes: []int64{10, 15},
	}
	want := map[string]float64{
		"requests": 500, "duration_s": 1.25, "throughput_rps": 400, "server_cpu_s": 0.75,
		"server_cpu_per_request_s": 0.0015, "client_cpu_per_request_s": 0.0005,
		"server_cores_busy": 0.3, "client_cores_busy": 0.2, "idle_servers_busy": 0.01, "wire_tx_bps": 8000,
		"wire_rx_bps": 160, "line_rate_share": 0.8,
	}
	got := s.Metrics(Setup{2, 1, 10_000})
	for name, v := range want {
		if math.Abs(got[name]-v) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got[name], v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v", got)
	}
	// An unknown value has no share, and nothing is divided by 0.
	s.TxBytes, s.RxBytes, s.Requests, s.DurationS = nil, nil, []int64{0, 0}, []float64{0, 0}
	got = s.Metrics(Setup{})
	for name, v := range got {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%s: %v", name, v)
		}
	}
	for _, name := range []string{"server_cores_busy", "wire_tx_bps", "line_rate_share", "throughput_rps"} {
		if _, ok := got[name]; ok {
			t.Errorf("%s of nothing: %v", name, got[name])
		}
	}
}

func TestFiguresAreCutToTheirDigits(t *testing.T) {
	m := map[string]float64{"a": 4631.798730754293, "b": 123456789012, "c": 1.4259642523866149e-05, "d": 0,
		"e": math.NaN()}
	Round(m)
	if m["a"] != 4631.8 || m["b"] != 123456789012 || m["c"] != 1.42596e-05 || m["d"] != 0 || !math.IsNaN(m["e"]) {
		t.Errorf("%v", m)
	}
	s := &Slots{AtS: []float64{1.23456789}, DurationS: []float64{0.1000004}, FillS: []float64{1e-7},
		ServerCPUS: []float64{0.12345678949}, ClientCPUS: []float64{1}, IdleCPUS: []float64{0}}
	s.Round()
	if s.AtS[0] != 1.234568 || s.DurationS[0] != 0.1 || s.FillS[0] != 0 || s.ServerCPUS[0] != 0.123457 ||
		!slices.Equal(s.ClientCPUS, []float64{1}) {
		t.Errorf("%+v", s)
	}
}
