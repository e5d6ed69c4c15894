package telemetry

import (
	"slices"
	"testing"
	"time"
)

// beside is a second pair at the same times as pair: a server of one process,
// which used half a second in two, and its client, which used a tenth.
func beside() []sample {
	both := pair()
	for i := range both {
		used := float64(i)
		both[i].server = []process{{pid: 30, parent: 3, threads: 4, cpu: seconds(1 + used/2), switches: int64(100 * used),
			rss: 500}}
		both[i].client = []process{{pid: 40, parent: 1, cpu: seconds(used / 10), rss: 70}}
		both[i].threads = map[int]time.Duration{40: seconds(used / 10)}
	}
	return both
}

// Each of several pairs has its own processes' figures; all other figures are
// the machine's, and the same for all pairs.
func TestEachPairHasItsOwnFigures(t *testing.T) {
	alone := whole(sampler(pair()), 1000).Metrics
	s := sampler(pair())
	s.targets.Pairs, s.samples = make([]Pair, 2), append(s.samples, beside())
	want := alone
	expect(t, s.Between(0, at(9.5), at(100), 1000).Metrics, want)

	// a server without workers
	for _, name := range []string{"server_workers_busy", "workers_active", "threads_per_worker"} {
		delete(want, name)
	}
	for name, v := range map[string]float64{
		"workers": 0, "processes": 1, "server_cpu_s": 0.5, "server_cpu_per_request_s": 0.5 / 2 / 50,
		"server_context_switches_per_s": 50, "server_rss_bytes": 500,
		"client_cpu_per_request_s": 0.1 / 2 / 50, "client_thread_busy_max": 0.05, "client_rss_bytes": 70,
	} {
		want[name] = v
	}
	w := s.Between(1, at(9.5), at(100), 50)
	expect(t, w.Metrics, want)
	if w.WorkersMin != 0 || w.WorkersMax != 0 || len(w.ClientThreads) != 1 {
		t.Errorf("workers from %d to %d, threads of the client %v", w.WorkersMin, w.WorkersMax, w.ClientThreads)
	}
	// A stopped process is reported for its own pair only.
	s.samples[1][0].server[0].stopped = true
	if a, b := s.Between(0, at(9.5), at(100), 1).Stopped, s.Between(1, at(9.5), at(100), 1).Stopped; len(a) != 0 ||
		!slices.Equal(b, []string{"server"}) {
		t.Errorf("stopped: %v of the first, %v of the second", a, b)
	}
}
