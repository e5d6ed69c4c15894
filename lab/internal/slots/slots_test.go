package slots

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

func TestFiguresOfSlotsAreTheirSums(t *testing.T) {
	all := []Slot{
		{AtS: 1, DurationS: 0.5, Requests: 100, ServerCPUS: 0.5, ClientCPUS: 0.125, TxBytes: 1000, RxBytes: 10},
		{AtS: 2, DurationS: 0.75, Requests: 400, ServerCPUS: 0.25, ClientCPUS: 0.125, IdleCPUS: 0.0125, TxBytes: 250, RxBytes: 15},
	}
	want := map[string]float64{
		"requests": 500, "duration_s": 1.25, "throughput_rps": 400, "server_cpu_s": 0.75,
		"server_cpu_per_request_s": 0.0015, "client_cpu_per_request_s": 0.0005,
		"server_cores_busy": 0.3, "client_cores_busy": 0.2, "idle_servers_busy": 0.01, "wire_tx_bps": 8000,
		"wire_rx_bps": 160, "line_rate_share": 0.8,
	}
	got := Metrics(all, Setup{2, 1, 10_000})
	for name, v := range want {
		if math.Abs(got[name]-v) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got[name], v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v", got)
	}
	// An unknown value has no share, and nothing is divided by 0.
	got = Metrics([]Slot{{ServerCPUS: 1}}, Setup{})
	if want := map[string]float64{"requests": 0, "duration_s": 0, "server_cpu_s": 1}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

func TestFiguresAreCutToTheirDigits(t *testing.T) {
	m := map[string]float64{"a": 4631.798730754293, "b": 123456789012, "c": 1.4259642523866149e-05, "d": 0,
		"e": math.NaN()}
	Round(m)
	if m["a"] != 4631.8 || m["b"] != 123456789012 || m["c"] != 1.42596e-05 || m["d"] != 0 || !math.IsNaN(m["e"]) {
		t.Errorf("%v", m)
	}
	s := Slot{AtS: 1.23456789, DurationS: 0.1000004, FillS: 1e-7, ServerCPUS: 0.12345678949, ClientCPUS: 1}.Rounded()
	if want := (Slot{AtS: 1.234568, DurationS: 0.1, ServerCPUS: 0.123457, ClientCPUS: 1}); s != want {
		t.Errorf("%+v", s)
	}
}

// A slot is a row of seven numbers, and of nine over a wire.
func TestASlotIsARow(t *testing.T) {
	for _, text := range []string{"[[1,2,3,4,5,6,7],[1,2,3,4,5,6,8]]", "[[1,2,3,4,5,6,7,8,9]]"} {
		var all []Slot
		err := json.Unmarshal([]byte(text), &all)
		if again, _ := json.Marshal(all); err != nil || string(again) != text || all[0].FillS != 3e-6 || all[0].Requests != 4 {
			t.Errorf("%v: %s, want %s", err, again, text)
		}
	}
	if json.Unmarshal([]byte("[[1,2,3,4,5,6,7,8]]"), new([]Slot)) == nil {
		t.Error("a row of eight numbers is read")
	}
}
