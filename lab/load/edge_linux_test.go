package load

import (
	"reflect"
	"testing"
)

// A slot has its part of what its server used in the whole turn, whatever the clocks said amid it.
func TestASlotHasItsPartOfTheTurnsCPUTime(t *testing.T) {
	g := &gauges{of: [][]int{{2}, {0, 1}}}
	at := func(requests int64, clocks ...int64) edge { return edge{requests: requests, processes: clocks} }
	for _, c := range []struct {
		name     string
		requests int64
		turn     [2]edge
		want     []float64
	}{
		{"nine of ten requests", 90, [2]edge{at(1000, 0, 7e9, 0), at(1100, 1e9, 9e9, 5)}, []float64{0.9, 1.8}},
		{"all requests", 100, [2]edge{at(1000, 0, 7e9, 0), at(1100, 1e9, 9e9, 5)}, []float64{1, 2}},
		{"a clock that cannot be read", 90, [2]edge{at(1000, -1, 7e9, 0), at(1100, 1e9, 9e9, 5)}, []float64{-3, 1.8}},
		{"a clock that is gone", 90, [2]edge{at(1000, 0, 7e9, 0), at(1100, 1e9, -1, 5)}, []float64{0.9, -4}},
		{"no request", 0, [2]edge{at(1000, 0, 7e9, 0), at(1100, 1e9, 9e9, 5)}, []float64{-3, -4}},
		{"more than the turn has", 101, [2]edge{at(1000, 0, 7e9, 0), at(1100, 1e9, 9e9, 5)}, []float64{-3, -4}},
	} {
		r := SlotReport{Requests: c.requests, ServerCPUS: []float64{-3, -4}} // as read at the edges
		if g.ofTurn(&r, &c.turn, 1); !reflect.DeepEqual(r.ServerCPUS, c.want) {
			t.Errorf("%s: %v, want %v", c.name, r.ServerCPUS, c.want)
		}
	}
}
