package generator

import (
	"math"
	"testing"
	"time"
)

// Three clients load for three seconds each, and begin 40 ms apart: they had the sum of
// their rates, though none of them loaded from the first begin to the last end.
func TestClientsThatBeginApartHaveTheSumOfTheirRates(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var clients []*Result
	all := Counts{}
	for k := range 3 {
		from := at.Add(time.Duration(k) * 40 * time.Millisecond)
		own := Counts{OK: 3000 * float64(k+1), Non2xx: 3, Bytes: 400_000 * float64(k+1)}
		all.OK, all.Non2xx, all.Bytes = all.OK+own.OK, all.Non2xx+own.Non2xx, all.Bytes+own.Bytes
		clients = append(clients, Of(from, from.Add(3*time.Second), own))
	}
	r := Of(at, at.Add(3080*time.Millisecond), all)
	if apart := r.Together(clients); apart != 80*time.Millisecond {
		t.Errorf("%v apart", apart)
	}
	for name, want := range map[string]float64{
		"throughput_rps": 6003, "duration_s": 3, "requests": 18_009, "transfer_bytes_per_s": 800_000,
		"response_bytes": 2_400_000. / 18_009,
	} {
		if got := r.Metrics[name]; math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if !r.Start.Equal(clients[2].Start) || !r.Finish.Equal(clients[0].Finish) {
		t.Errorf("all of them loaded from %v to %v", r.Start, r.Finish)
	}
	// A rate that is met is not called short.
	if r.Asked(6003); len(r.Faults) != 1 { // that of the answers which were not 2xx
		t.Errorf("%+v", r.Faults)
	}
	one := Of(at, at.Add(3*time.Second), clients[0].Counts)
	one.Together(clients[:1])
	if one.Metrics["throughput_rps"] != clients[0].Metrics["throughput_rps"] || one.Start != clients[0].Start {
		t.Errorf("one client alone: %+v, want %+v", one, clients[0])
	}
}
