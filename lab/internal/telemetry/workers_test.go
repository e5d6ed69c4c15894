package telemetry

import (
	"math"
	"testing"
)

func TestAWorkerThatVanishesIsSeen(t *testing.T) {
	p := pair()
	p[1].server = p[1].server[:2]
	w := whole(sampler(p), 1000)
	if w.WorkersMin != 1 || w.WorkersMax != 2 || w.Metrics["workers"] != 1 {
		t.Errorf("workers from %d to %d, metric %v; want 1 to 2, and the least", w.WorkersMin, w.WorkersMax,
			w.Metrics["workers"])
	}
	// Its time until then is unknown, unless its master has waited for it.
	if got, ok := w.Metrics["server_cpu_s"]; ok {
		t.Errorf("server CPU %v, of the others alone", got)
	}
	p[1].server[0].waited = seconds(3.5)
	if got := whole(sampler(p), 1000).Metrics["server_cpu_s"]; math.Abs(got-2.3) > 1e-9 {
		t.Errorf("server CPU %v, want 0.2 of the master, 1.6 of the worker that stayed and 0.5 of the one that ended", got)
	}
	// A process that came and went in between is seen too.
	p = pair()
	extra := sample{at: at(11), server: append(server(1.1, 2.1, 3.1, 6), process{pid: 13, parent: 10})}
	if w := whole(sampler([]sample{p[0], extra, p[1]}), 1000); w.WorkersMin != 2 || w.WorkersMax != 3 {
		t.Errorf("workers from %d to %d, want 2 to 3", w.WorkersMin, w.WorkersMax)
	}
}

func TestAServerWithoutWorkersHasNone(t *testing.T) {
	p := pair()
	p[0].server, p[1].server = p[0].server[:1], p[1].server[:1]
	w := whole(sampler(p), 1000)
	if w.Metrics["workers"] != 0 || w.Metrics["processes"] != 1 {
		t.Errorf("%v workers, %v processes", w.Metrics["workers"], w.Metrics["processes"])
	}
	for _, name := range []string{"threads_per_worker", "server_workers_busy", "workers_active"} {
		if v, ok := w.Metrics[name]; ok {
			t.Errorf("%s is %v, of no worker", name, v)
		}
	}
}

// A worker takes part from a tenth of the busiest one's CPU time.
func TestActiveWorkersAreThoseThatTookPart(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, second float64 // seconds used by each of two workers
		want          float64
	}{
		{"both alike", 1, 1, 2},
		{"one at a tenth", 2, 0.2, 2},
		{"one below", 2, 0.19, 1},
		{"one idle", 1, 0, 1},
		{"both idle, as on a server nobody asks", 0, 0, 0},
	} {
		p := pair()
		p[0].server, p[1].server = server(0, 0, 0, 6), server(9, c.first, c.second, 6)
		if got, ok := whole(sampler(p), 1000).Metrics["workers_active"]; !ok || got != c.want {
			t.Errorf("%s: %v active (there: %v), want %v", c.name, got, ok, c.want)
		}
	}
}

func TestMasterIsWhoseParentIsNotOfTheServer(t *testing.T) {
	for name, c := range map[string]struct {
		ps   []process
		want int
	}{
		"first in the list": {[]process{{pid: 5, parent: 1}, {pid: 6, parent: 5}}, 5},
		"last in the list":  {[]process{{pid: 6, parent: 9}, {pid: 7, parent: 9}, {pid: 9, parent: 1}}, 9},
		"alone":             {[]process{{pid: 5, parent: 1}}, 5},
		"none":              {nil, 0},
	} {
		if got := master(c.ps); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
