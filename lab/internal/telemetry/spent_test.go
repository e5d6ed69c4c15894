package telemetry

import (
	"math"
	"slices"
	"testing"
)

func TestClientThreadsStandBusiestFirst(t *testing.T) {
	w := whole(sampler(pair()), 1000)
	// The last thread was started in between.
	want := []float64{0.7, 0.05, 0.01}
	if !slices.EqualFunc(w.ClientThreads, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
		t.Errorf("%v, want %v", w.ClientThreads, want)
	}
}

func TestCPUTimeOfATree(t *testing.T) {
	root := process{pid: 1, cpu: seconds(1)}
	grown := process{pid: 1, cpu: seconds(1.5)}
	child := func(pid, parent int, cpu, began float64) process {
		return process{pid: pid, parent: parent, cpu: seconds(cpu), began: seconds(began)}
	}
	waited := func(s float64) process { p := grown; p.waited = seconds(s); return p }
	for _, c := range []struct {
		name string
		a, b []process
		want float64 // negative: unknown
	}{
		{"alone", []process{root}, []process{grown}, 0.5},
		{"gone", []process{root}, nil, -1},
		{"one was started", []process{root}, []process{grown, child(2, 1, 0.3, 101)}, 0.8},
		{"one was there and was not read", []process{root}, []process{grown, child(2, 1, 0.3, 99)}, -1},
		{"one ended, and was waited for", []process{root, child(2, 1, 4, 9)}, []process{waited(4.2)}, 0.7},
		{"one was started and ended", []process{root}, []process{waited(0.2)}, 0.7},
		{"one ended, and nobody waited for it", []process{root, child(2, 1, 4, 9)}, []process{grown}, -1},
		{"one ended with its child", []process{root, child(2, 1, 4, 9), child(3, 2, 1, 9)}, []process{waited(5.1)}, 0.6},
		{"of two that ended one was waited for", []process{root, child(2, 1, 4, 9), child(3, 1, 4, 9)},
			[]process{waited(4.1)}, -1},
	} {
		got, ok := spent(c.a, c.b, seconds(100))
		if ok != (c.want >= 0) || ok && math.Abs(got.Seconds()-c.want) > 1e-9 {
			t.Errorf("%s: %v (known: %v), want %v s", c.name, got, ok, c.want)
		}
	}
}
