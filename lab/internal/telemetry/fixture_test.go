package telemetry

import (
	"math"
	"testing"
	"time"

	"github.com/prometheus/procfs"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// A made-up server: a master (pid 10) whose parent is a wrapper that does not
// count, and two workers.
func server(master, first, second float64, threads int) []process {
	return []process{
		{pid: 10, parent: 2, threads: 5, cpu: seconds(master), switches: int64(master * 100), rss: 1000},
		{pid: 11, parent: 10, threads: threads, cpu: seconds(first), switches: int64(first * 100), rss: 2000},
		{pid: 12, parent: 10, threads: threads + 2, cpu: seconds(second), switches: int64(second * 100), rss: 1000 * threads},
	}
}

// ticks is a core's counters: user, system, idle and stolen time.
func ticks(user, system, idle, steal float64) procfs.CPUStat {
	return procfs.CPUStat{User: user, System: system, Idle: idle, Steal: steal}
}

// kernel is a survey with the kernel's other counters.
func kernel(s, retransmits float64) *survey {
	return &survey{at: at(s), counters: map[string]float64{
		"tcp_retransmits": retransmits, "listen_overflows": 5, "listen_drops": 7,
		"softnet_drops": 1, "softnet_squeezes": 2, "swap_pages": 100, "throttled_s": 0.5,
	}}
}

// pair is two samples two seconds apart.
func pair() []sample {
	return []sample{
		{
			at: at(10), server: server(1, 2, 3, 6), client: []process{{pid: 20, parent: 1, cpu: seconds(5)}},
			threads: map[int]time.Duration{20: seconds(4), 21: seconds(1)},
			cpus:    map[int64]procfs.CPUStat{0: ticks(100, 50, 850, 0), 1: ticks(0, 0, 1000, 0), 2: ticks(10, 10, 10, 10)},
			survey:  kernel(10, 4), interrupts: 1000, own: seconds(1),
		},
		{
			at: at(12), mono: seconds(2), server: server(1.2, 3.6, 4.2, 8),
			client:  []process{{pid: 20, parent: 1, cpu: seconds(6.5)}},
			threads: map[int]time.Duration{20: seconds(5.4), 21: seconds(1.1), 22: seconds(0.02)},
			cpus:    map[int64]procfs.CPUStat{0: ticks(250, 80, 860, 10), 1: ticks(50, 0, 1150, 0), 2: ticks(90, 30, 80, 30)},
			survey:  kernel(12, 10), interrupts: 3000, own: seconds(1.01),
		},
	}
}

func sampler(samples []sample) *Sampler {
	return &Sampler{targets: Targets{Pairs: make([]Pair, 1), ServerCPUs: []int{0, 1}, ClientCPUs: []int{2}},
		samples: [][]sample{samples}}
}

func whole(s *Sampler, rps float64) Window {
	return s.Between(0, at(9.5), at(100), rps)
}

func expect(t *testing.T, got map[string]float64, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		if g, ok := got[name]; !ok || math.Abs(g-v) > 1e-9*max(1, math.Abs(v)) {
			t.Errorf("%s: %v (there: %v), want %v", name, g, ok, v)
		}
	}
	for name, v := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %v, which nobody expected", name, v)
		}
	}
}

// lacking removes something from both samples, and gives the metrics that are
// left.
func lacking(t *testing.T, change func(a, b *sample), gone ...string) map[string]float64 {
	t.Helper()
	want := whole(sampler(pair()), 1000).Metrics
	for _, name := range gone {
		if _, ok := want[name]; !ok {
			t.Fatalf("%s was never there", name)
		}
		delete(want, name)
	}
	p := pair()
	change(&p[0], &p[1])
	got := whole(sampler(p), 1000).Metrics
	expect(t, got, want)
	return got
}
