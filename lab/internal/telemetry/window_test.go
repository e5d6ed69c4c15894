package telemetry

import (
	"testing"
	"time"
)

func TestWindowIsTheDifferenceOfItsEnds(t *testing.T) {
	w := whole(sampler(pair()), 1000)
	expect(t, w.Metrics, map[string]float64{
		"workers": 2, "workers_active": 2, "processes": 3,
		// Means of 6 and 8 threads, and of 8 and 10.
		"threads_per_worker": 8,
		// 0.2 of the master, 1.6 and 1.2 of the workers.
		"server_cpu_s": 3.0,
		// 1.5 cores over 1000 requests a second.
		"server_cpu_per_request_s": 0.0015,
		// 2.8 s of two workers in two seconds, without the master.
		"server_workers_busy": 0.7,
		// Core 0: 10 of 200 ticks idle; core 1: 150 of 200.
		"server_cores_busy": (0.95 + 0.25) / 2, "server_steal": (0.05 + 0) / 2,
		"client_cpu_per_request_s": 1.5 / 2 / 1000,
		// 1.4 s in two seconds.
		"client_thread_busy_max": 0.7,
		// Of 190 ticks 70 were idle and 20 stolen.
		"client_cores_busy": 120.0 / 190, "client_steal": 20.0 / 190,
		// 20, 160 and 120 in two seconds.
		"server_context_switches_per_s": 150,
		// The larger of two samples: 1000, 2000 and 8000.
		"server_rss_bytes": 11000,
		"interrupts_per_s": 1000, "tcp_retransmits": 6, "listen_overflows": 0, "listen_drops": 0,
		"softnet_drops": 0, "softnet_squeezes": 0, "swap_pages": 0, "throttled_s": 0,
		// The lab used ten milliseconds in two seconds.
		"sampler_busy": 0.005, "clock_step_s": 0,
		"server_foreign_load": 0, "client_foreign_load": 0,
	})
	if w.WorkersMin != 2 || w.WorkersMax != 2 {
		t.Errorf("workers from %d to %d", w.WorkersMin, w.WorkersMax)
	}
}

func TestWindowIsCutToItsTimes(t *testing.T) {
	// The warm-up before and the time after cost a hundred times as much. Samples
	// exactly at the window's ends belong to it.
	warm := sample{at: at(9.9), mono: seconds(-0.1), survey: kernel(9.9, 0), server: server(0, 0, 0, 1),
		threads: map[int]time.Duration{20: 0}}
	middle := sample{at: at(11), server: server(1.1, 2.1, 3.1, 7)}
	late := sample{at: at(12.1), mono: seconds(2.1), server: server(100, 100, 100, 99),
		threads: map[int]time.Duration{20: seconds(99)}}
	p := pair()
	got := sampler([]sample{warm, p[0], middle, p[1], late}).Between(0, at(10), at(12), 1000)
	want := whole(sampler(pair()), 1000)
	expect(t, got.Metrics, want.Metrics)
}

func TestTooFewSamplesSayNothing(t *testing.T) {
	p := pair()
	for name, s := range map[string]*Sampler{
		"none": sampler(nil),
		"one":  sampler(p[:1]),
		"one inside": sampler([]sample{{at: at(-5), server: server(0, 0, 0, 1)}, p[0],
			{at: at(200), server: server(9, 9, 9, 1)}}),
	} {
		if w := whole(s, 1000); len(w.Metrics) != 0 || w.WorkersMin != 0 || w.WorkersMax != 0 {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

func TestWhatWasNotReadIsLeftOut(t *testing.T) {
	serverNames := []string{"workers", "workers_active", "processes", "threads_per_worker", "server_cpu_s",
		"server_cpu_per_request_s", "server_workers_busy", "server_context_switches_per_s", "server_rss_bytes"}
	for _, c := range []struct {
		name   string
		change func(a, b *sample)
		gone   []string
	}{
		{"nothing", func(a, b *sample) {}, nil},
		{"no retransmits", func(a, b *sample) { delete(b.survey.counters, "tcp_retransmits") }, []string{"tcp_retransmits"}},
		{"no throttling at first", func(a, b *sample) { delete(a.survey.counters, "throttled_s") }, []string{"throttled_s"}},
		{"the scheduler keeps no counts", func(a, b *sample) {
			for _, ps := range [][]process{a.server, b.server} {
				for i := range ps {
					ps[i].switches = 0
				}
			}
		}, []string{"server_context_switches_per_s"}},
		{"no cores", func(a, b *sample) { a.cpus, b.cpus = nil, nil },
			[]string{"server_cores_busy", "server_steal", "client_cores_busy", "client_steal"}},
		// The mean over one core would cover less than was asked.
		{"one server core missing", func(a, b *sample) { delete(b.cpus, 1) }, []string{"server_cores_busy", "server_steal"}},
		{"the client's core missing at first", func(a, b *sample) { delete(a.cpus, 2) },
			[]string{"client_cores_busy", "client_steal"}},
		{"a core whose counters stand still", func(a, b *sample) { b.cpus[1] = a.cpus[1] },
			[]string{"server_cores_busy", "server_steal"}},
		{"no client", func(a, b *sample) { a.client, b.client, a.threads, b.threads = nil, nil, nil, nil },
			[]string{"client_cpu_per_request_s", "client_thread_busy_max"}},
		{"another client than before", func(a, b *sample) { a.client[0].pid = 99; a.threads = map[int]time.Duration{99: 0} },
			[]string{"client_cpu_per_request_s", "client_thread_busy_max"}},
		{"threads not readable", func(a, b *sample) { b.threads = nil }, []string{"client_thread_busy_max"}},
		// The ended thread's CPU time is lost, and it may have been the busiest.
		{"a thread has ended", func(a, b *sample) { delete(b.threads, 20) }, []string{"client_thread_busy_max"}},
		// A server that was not seen does not have 0 workers.
		{"no server", func(a, b *sample) { a.server, b.server = nil, nil }, serverNames},
	} {
		t.Run(c.name, func(t *testing.T) { lacking(t, c.change, c.gone...) })
	}
}

func TestWithoutARateThereIsNoFigurePerRequest(t *testing.T) {
	w := whole(sampler(pair()), 0)
	for _, name := range []string{"server_cpu_per_request_s", "client_cpu_per_request_s"} {
		if v, ok := w.Metrics[name]; ok {
			t.Errorf("%s is %v, over nothing", name, v)
		}
	}
	if w.Metrics["server_cpu_s"] != 3 || w.Metrics["server_workers_busy"] != 0.7 {
		t.Errorf("the rest is %v", w.Metrics)
	}
}
