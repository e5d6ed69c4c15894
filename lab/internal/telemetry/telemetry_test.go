package telemetry

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"github.com/line-rate/line-rate/lab/internal/shaper"
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

// wire has a shaper's readings a second and a half apart within the window, and
// one from before it, which must not count.
func wire(bytes, packets, drops uint64) []shaper.Reading {
	return []shaper.Reading{
		{At: at(5), CPUS: 0},
		{At: at(10), Bytes: 1000, Packets: 10, Drops: 3, CPUS: 1},
		{At: at(11.5), Bytes: 1000 + bytes, Packets: 10 + packets, Drops: 3 + drops, CPUS: 1.0015},
	}
}

func bothWays() (server, client []shaper.Reading) { return wire(93_750, 75, 5), wire(187_500, 150, 0) }

// kernel is a survey with the kernel's other counters.
func kernel(s, retransmits, established float64) *survey {
	return &survey{at: at(s), established: established, counters: map[string]float64{
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
			survey:  kernel(10, 4, 11), interrupts: 1000, own: seconds(1),
		},
		{
			at: at(12), mono: seconds(2), server: server(1.2, 3.6, 4.2, 8), client: []process{{pid: 20, parent: 1, cpu: seconds(6.5)}},
			threads: map[int]time.Duration{20: seconds(5.4), 21: seconds(1.1), 22: seconds(0.02)},
			cpus:    map[int64]procfs.CPUStat{0: ticks(250, 80, 860, 10), 1: ticks(50, 0, 1150, 0), 2: ticks(90, 30, 80, 30)},
			survey:  kernel(12, 10, 41), interrupts: 3000, own: seconds(1.01),
		},
	}
}

func sampler(samples []sample) *Sampler {
	return &Sampler{targets: Targets{Pairs: make([]Pair, 1), ServerCPUs: []int{0, 1}, ClientCPUs: []int{2}, Wire: bothWays}, samples: [][]sample{samples}}
}

func whole(s *Sampler, rps, lineRate float64) Window {
	return s.Between(0, at(9.5), at(100), rps, lineRate)
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

func TestWindowIsTheDifferenceOfItsEnds(t *testing.T) {
	w := whole(sampler(pair()), 1000, 1e6)
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
		// 93,750 and 187,500 bytes in the second and a half between the readings.
		"wire_tx_bps": 500_000, "wire_rx_bps": 1_000_000, "wire_tx_packets_per_s": 50, "wire_rx_packets_per_s": 100,
		// The busier direction.
		"line_rate_share": 1, "wire_drops": 5,
		// 20, 160 and 120 in two seconds.
		"server_context_switches_per_s": 150,
		// The larger of two samples: 1000, 2000 and 8000.
		"server_rss_bytes": 11000,
		"interrupts_per_s": 1000, "tcp_retransmits": 6, "listen_overflows": 0, "listen_drops": 0,
		"softnet_drops": 0, "softnet_squeezes": 0, "swap_pages": 0, "throttled_s": 0,
		// The lab used ten milliseconds in two seconds, and each watch one and a half
		// in its own interval.
		"sampler_busy": 0.007, "clock_step_s": 0,
		"server_foreign_load": 0, "client_foreign_load": 0,
		// Beyond the first count these are 0 and 30; the median of two is the later.
		"connections_established": 30,
	})
	if w.WorkersMin != 2 || w.WorkersMax != 2 {
		t.Errorf("workers from %d to %d", w.WorkersMin, w.WorkersMax)
	}
}

func TestWindowIsCutToItsTimes(t *testing.T) {
	// The warm-up before and the time after cost a hundred times as much. Samples
	// exactly at the window's ends belong to it.
	warm := sample{at: at(9.9), mono: seconds(-0.1), survey: kernel(9.9, 0, 11), server: server(0, 0, 0, 1), threads: map[int]time.Duration{20: 0}}
	middle := sample{at: at(11), server: server(1.1, 2.1, 3.1, 7)}
	late := sample{at: at(12.1), mono: seconds(2.1), server: server(100, 100, 100, 99), threads: map[int]time.Duration{20: seconds(99)}}
	p := pair()
	got := sampler([]sample{warm, p[0], middle, p[1], late}).Between(0, at(10), at(12), 1000, 1e6)
	want := whole(sampler(pair()), 1000, 1e6)
	expect(t, got.Metrics, want.Metrics)
}

func TestTooFewSamplesSayNothing(t *testing.T) {
	p := pair()
	for name, s := range map[string]*Sampler{
		"none":       sampler(nil),
		"one":        sampler(p[:1]),
		"one inside": sampler([]sample{{at: at(-5), server: server(0, 0, 0, 1)}, p[0], {at: at(200), server: server(9, 9, 9, 1)}}),
	} {
		if w := whole(s, 1000, 1e6); len(w.Metrics) != 0 || w.WorkersMin != 0 || w.WorkersMax != 0 {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

// lacking removes something from both samples, and gives the metrics that are
// left.
func lacking(t *testing.T, change func(a, b *sample), gone ...string) map[string]float64 {
	t.Helper()
	want := whole(sampler(pair()), 1000, 1e6).Metrics
	for _, name := range gone {
		if _, ok := want[name]; !ok {
			t.Fatalf("%s was never there", name)
		}
		delete(want, name)
	}
	p := pair()
	change(&p[0], &p[1])
	got := whole(sampler(p), 1000, 1e6).Metrics
	expect(t, got, want)
	return got
}

func TestWhatWasNotReadIsLeftOut(t *testing.T) {
	serverNames := []string{"workers", "workers_active", "processes", "threads_per_worker", "server_cpu_s", "server_cpu_per_request_s", "server_workers_busy", "server_context_switches_per_s", "server_rss_bytes"}
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
		{"no cores", func(a, b *sample) { a.cpus, b.cpus = nil, nil }, []string{"server_cores_busy", "server_steal", "client_cores_busy", "client_steal"}},
		// The mean over one core would cover less than was asked.
		{"one server core missing", func(a, b *sample) { delete(b.cpus, 1) }, []string{"server_cores_busy", "server_steal"}},
		{"the client's core missing at first", func(a, b *sample) { delete(a.cpus, 2) }, []string{"client_cores_busy", "client_steal"}},
		{"a core whose counters stand still", func(a, b *sample) { b.cpus[1] = a.cpus[1] }, []string{"server_cores_busy", "server_steal"}},
		{"no client", func(a, b *sample) { a.client, b.client, a.threads, b.threads = nil, nil, nil, nil }, []string{"client_cpu_per_request_s", "client_thread_busy_max"}},
		{"another client than before", func(a, b *sample) { a.client[0].pid = 99; a.threads = map[int]time.Duration{99: 0} }, []string{"client_cpu_per_request_s", "client_thread_busy_max"}},
		{"threads not readable", func(a, b *sample) { b.threads = nil }, []string{"client_thread_busy_max"}},
		// A server that was not seen does not have 0 workers.
		{"no server", func(a, b *sample) { a.server, b.server = nil, nil }, serverNames},
	} {
		t.Run(c.name, func(t *testing.T) { lacking(t, c.change, c.gone...) })
	}
}

func TestWithoutAWireThereIsNoneToReport(t *testing.T) {
	names := []string{"wire_tx_bps", "wire_rx_bps", "wire_tx_packets_per_s", "wire_rx_packets_per_s", "line_rate_share", "wire_drops"}
	for what, both := range map[string]func() (server, client []shaper.Reading){
		"none":                   nil,
		"not read yet":           func() (server, client []shaper.Reading) { return nil, nil },
		"one reading inside":     func() (server, client []shaper.Reading) { return wire(1, 1, 1)[:2], wire(1, 1, 1)[:2] },
		"one side's stand still": func() (server, client []shaper.Reading) { return wire(1, 1, 1)[:1], wire(1, 1, 1)[:1] },
	} {
		s := sampler(pair())
		s.targets.Wire = both
		got := whole(s, 1000, 1e6).Metrics
		for _, name := range names {
			if v, ok := got[name]; ok {
				t.Errorf("%s: %s is %v", what, name, v)
			}
		}
	}
}

func TestWhereEachCoresTimeWent(t *testing.T) {
	p := pair()
	p[0].cpus[0] = procfs.CPUStat{User: 100, Nice: 10, System: 50, IRQ: 5, SoftIRQ: 20, Steal: 10, Idle: 700, Iowait: 5}
	p[1].cpus[0] = procfs.CPUStat{User: 150, Nice: 20, System: 70, IRQ: 10, SoftIRQ: 25, Steal: 20, Idle: 790, Iowait: 15}
	got := whole(sampler(p), 1000, 0).Cores
	// Of 200 ticks: user 50 and 10, system 20, 5 and 5, steal 10, idle 90 and 10.
	if want := (Core{CPU: 0, User: 0.3, System: 0.1, SoftIRQ: 0.05, Steal: 0.05, Idle: 0.5}); len(got) != 3 || got[0] != want {
		t.Errorf("%+v, want %+v first of three", got, want)
	}
	if got[1].CPU != 1 || got[2].CPU != 2 {
		t.Errorf("cores out of order: %+v", got)
	}
}

func TestClientThreadsStandBusiestFirst(t *testing.T) {
	w := whole(sampler(pair()), 1000, 0)
	// The last thread was started in between.
	want := []float64{0.7, 0.05, 0.01}
	if !slices.EqualFunc(w.ClientThreads, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
		t.Errorf("%v, want %v", w.ClientThreads, want)
	}
}

// A thread that ended takes its time with it, and may have been the busiest.
func TestTheBusiestThreadIsNotKnownWhereOneHasEnded(t *testing.T) {
	lacking(t, func(a, b *sample) {
		delete(b.threads, 20)
	}, "client_thread_busy_max")
}

func TestInterruptsByQueue(t *testing.T) {
	p := pair()
	p[0].survey.irqs = map[string]float64{"eth0-0": 100, "eth0-1": 0, "gone": 1}
	p[1].survey.irqs = map[string]float64{"eth0-0": 2100, "eth0-1": 10, "new": 9}
	if got := whole(sampler(p), 1000, 0).Interrupts; len(got) != 2 || got["eth0-0"] != 1000 || got["eth0-1"] != 5 {
		t.Errorf("%v", got)
	}
}

func TestWhoWasHeldAndForHowLongNothingWasSeen(t *testing.T) {
	p := pair()
	middle := sample{at: at(10.4), client: []process{{pid: 20, stopped: true}}}
	w := sampler([]sample{p[0], middle, p[1]}).Between(0, at(10), at(12), 1000, 0)
	if len(w.Stopped) != 1 || w.Stopped[0] != "client" || w.Gap != seconds(1.6) {
		t.Errorf("stopped %v, gap %v; want the client, 1.6 s", w.Stopped, w.Gap)
	}
	if w := whole(sampler(p), 1000, 0); w.Stopped != nil {
		t.Errorf("stopped %v", w.Stopped)
	}
}

// If the machine stands still at the window's begin or end, no two samples
// inside are far apart.
func TestAGapAtTheWindowsEdge(t *testing.T) {
	for _, c := range []struct {
		name    string
		samples []float64
		want    float64
	}{
		{"none", []float64{9.8, 10.2, 10.8, 11.4, 11.9, 12.2}, 0.6},
		{"at the beginning", []float64{9, 11.4, 11.6, 11.8, 12.1}, 2.4},
		{"at the end", []float64{9.9, 10.2, 10.4, 13}, 2.6},
		{"from before the first sample", []float64{11.5, 11.8}, 1.5},
		{"to behind the last", []float64{9.9, 10.1, 10.3}, 1.7},
		{"all the while", []float64{9, 13}, 4},
		{"no sample at all", nil, 2},
		{"only before and after it", []float64{5, 9.9, 10.3, 10.9, 11.5, 12.1, 19}, 0.6},
	} {
		var samples []sample
		for _, s := range c.samples {
			samples = append(samples, sample{at: at(s)})
		}
		if got := gap(samples, at(10), at(12)); got != seconds(c.want) {
			t.Errorf("%s: a gap of %v, want %v s", c.name, got, c.want)
		}
		if len(samples) > 0 {
			if got := sampler(samples).Between(0, at(10), at(12), 1, 0).Gap; got != seconds(c.want) {
				t.Errorf("%s: the window has a gap of %v, want %v s", c.name, got, c.want)
			}
		}
	}
}

// theOthers has the processes outside the load: pid 50 is a shell with a child
// 51, and 60 runs on the client's core.
func theOthers(shell, child, third float64, childThere bool) map[int]other {
	os := map[int]other{
		50: {"sh", 1, seconds(shell), 0},
		60: {"backup", 1, seconds(third), 2},
	}
	if childThere {
		os[51] = other{"cc", 50, seconds(child), 1}
	}
	return os
}

// surveyed is a survey with other processes and nothing else.
func surveyed(s float64, os map[int]other) *survey {
	return &survey{at: at(s), others: os, established: -1}
}

func TestLoadOfOthersIsTheirsByCore(t *testing.T) {
	p := pair()
	p[0].survey = surveyed(10, theOthers(1, 5, 100, true))
	p[1].survey = surveyed(12, theOthers(1, 6, 100.5, true))
	middle := sample{at: at(11), survey: surveyed(11, theOthers(1, 5.5, 100, true))}
	w := whole(sampler([]sample{p[0], middle, p[1]}), 1000, 0)
	want := []Load{{"cc", 1, 0.5}, {"backup", 2, 0.25}}
	if !slices.Equal(w.Others, want) {
		t.Errorf("%v, want %v", w.Others, want)
	}
	// The server's cores are 0 and 1, the client's is 2.
	for name, v := range map[string]float64{"server_foreign_load": 0.5, "client_foreign_load": 0.25} {
		if w.Metrics[name] != v {
			t.Errorf("%s is %v, want %v", name, w.Metrics[name], v)
		}
	}
}

func TestWhatEndedChildrenHadUsedBeforeIsNotCounted(t *testing.T) {
	before := map[int]other{50: {"sh", 1, seconds(1), 0}, 51: {"make", 50, seconds(5), 0}, 52: {"cc", 51, seconds(3), 0}}
	for _, c := range []struct {
		name  string
		after map[int]other
		want  []Load
	}{
		{"the child's eight seconds, five of them its own before, are its parent's",
			map[int]other{50: {"sh", 1, seconds(1), 0}, 51: {"make", 50, seconds(13), 0}}, []Load{{"make", 0, 2.5}}},
		{"the child and its parent have ended",
			map[int]other{50: {"sh", 1, seconds(9.5), 0}}, []Load{{"sh", 0, 0.25}}},
		{"all have, and nobody is left to inherit", map[int]other{}, nil},
	} {
		p := pair()
		p[0].survey, p[1].survey = surveyed(10, before), surveyed(12, c.after)
		if w := whole(sampler(p), 1000, 0); !slices.Equal(w.Others, c.want) {
			t.Errorf("%s: %v, want %v", c.name, w.Others, c.want)
		}
	}
}

func TestOneSurveyTellsNoLoad(t *testing.T) {
	p := pair()
	p[0].survey = nil
	w := whole(sampler(p), 1000, 0)
	for _, name := range []string{"server_foreign_load", "client_foreign_load", "swap_pages", "tcp_retransmits", "connections_established"} {
		if v, ok := w.Metrics[name]; ok {
			t.Errorf("%s is %v", name, v)
		}
	}
}

func TestConnectionsAreThoseBeyondTheFirstCount(t *testing.T) {
	p := pair()
	samples := []sample{{at: at(8), mono: seconds(-2), survey: kernel(8, 0, 11)}}
	for i, n := range []float64{50, 211, 211} { // still connecting at the first
		samples = append(samples, sample{at: at(10.2 + float64(i)/2), survey: kernel(10, 0, n)})
	}
	for ends, want := range map[int]float64{1: 200, 2: 100, 3: 67} {
		s := sampler(append(slices.Clone(samples), p[1]))
		s.targets.Ends = ends
		if got := s.Between(0, at(10), at(11.9), 1, 0).Metrics["connections_established"]; got != want {
			t.Errorf("%d ends of each: %v connections, want %v", ends, got, want)
		}
	}
}

func TestAStepOfTheClockIsSeen(t *testing.T) {
	for _, c := range []struct{ wall, monotonic, want float64 }{{2, 2, 0}, {2.5, 2, 0.5}, {1, 2, 1}} {
		p := pair()
		p[1].at, p[1].mono = at(10+c.wall), seconds(c.monotonic)
		if got := whole(sampler(p), 1000, 0).Metrics["clock_step_s"]; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v s on the wall in %v s: a step of %v, want %v", c.wall, c.monotonic, got, c.want)
		}
	}
	// The clock was set during the warm-up, before the window.
	p := pair()
	p[0].mono, p[1].mono = seconds(5), seconds(7)
	warm := sample{at: at(4), mono: 0}
	if got := sampler([]sample{warm, p[0], p[1]}).Between(0, at(10), at(12), 1, 0).Metrics["clock_step_s"]; got != 1 {
		t.Errorf("a step of %v, want the second by which it was set before", got)
	}
}

func TestWithoutARateThereIsNoFigurePerRequest(t *testing.T) {
	w := whole(sampler(pair()), 0, 0)
	for _, name := range []string{"server_cpu_per_request_s", "client_cpu_per_request_s", "line_rate_share"} {
		if v, ok := w.Metrics[name]; ok {
			t.Errorf("%s is %v, over nothing", name, v)
		}
	}
	if w.Metrics["server_cpu_s"] != 3 || w.Metrics["wire_tx_bps"] != 500_000 {
		t.Errorf("the rest is %v", w.Metrics)
	}
}

func TestAWorkerThatVanishesIsSeen(t *testing.T) {
	p := pair()
	p[1].server = p[1].server[:2]
	w := whole(sampler(p), 1000, 0)
	if w.WorkersMin != 1 || w.WorkersMax != 2 || w.Metrics["workers"] != 1 {
		t.Errorf("workers from %d to %d, metric %v; want 1 to 2, and the least", w.WorkersMin, w.WorkersMax, w.Metrics["workers"])
	}
	// Its time until then is unknown, unless its master has waited for it.
	if got, ok := w.Metrics["server_cpu_s"]; ok {
		t.Errorf("server CPU %v, of the others alone", got)
	}
	p[1].server[0].waited = seconds(3.5)
	if got := whole(sampler(p), 1000, 0).Metrics["server_cpu_s"]; math.Abs(got-2.3) > 1e-9 {
		t.Errorf("server CPU %v, want 0.2 of the master, 1.6 of the worker that stayed and 0.5 of the one that ended", got)
	}
	// A process that came and went in between is seen too.
	p = pair()
	extra := sample{at: at(11), server: append(server(1.1, 2.1, 3.1, 6), process{pid: 13, parent: 10})}
	if w := whole(sampler([]sample{p[0], extra, p[1]}), 1000, 0); w.WorkersMin != 2 || w.WorkersMax != 3 {
		t.Errorf("workers from %d to %d, want 2 to 3", w.WorkersMin, w.WorkersMax)
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
		{"of two that ended one was waited for", []process{root, child(2, 1, 4, 9), child(3, 1, 4, 9)}, []process{waited(4.1)}, -1},
	} {
		got, ok := spent(c.a, c.b, seconds(100))
		if ok != (c.want >= 0) || ok && math.Abs(got.Seconds()-c.want) > 1e-9 {
			t.Errorf("%s: %v (known: %v), want %v s", c.name, got, ok, c.want)
		}
	}
}

func TestAServerWithoutWorkersHasNone(t *testing.T) {
	p := pair()
	p[0].server, p[1].server = p[0].server[:1], p[1].server[:1]
	w := whole(sampler(p), 1000, 0)
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
		if got, ok := whole(sampler(p), 1000, 0).Metrics["workers_active"]; !ok || got != c.want {
			t.Errorf("%s: %v active (there: %v), want %v", c.name, got, ok, c.want)
		}
	}
}

// The kernel's idle counters may run backwards by a tick; a share must stay
// between 0 and 1.
func TestSharesStayBetweenNoughtAndOne(t *testing.T) {
	p := pair()
	p[0].cpus[2], p[1].cpus[2] = ticks(100, 0, 500, 0), ticks(200, 0, 499, 0)
	p[0].cpus[0], p[1].cpus[0] = ticks(100, 0, 500, 5), ticks(99, 0, 600, 4)
	p[0].cpus[1], p[1].cpus[1] = ticks(0, 0, 500, 0), ticks(0, 0, 600, 0)
	w := whole(sampler(p), 1000, 0)
	for _, name := range []string{"client_cores_busy", "client_steal", "server_cores_busy", "server_steal"} {
		if v, ok := w.Metrics[name]; !ok || v < 0 || v > 1 {
			t.Errorf("%s is %v (there: %v)", name, v, ok)
		}
	}
}

// Waiting for the disk counts as idle; guest time is part of user time already.
func TestCoresCountWaitingAsIdleAndGuestsOnce(t *testing.T) {
	p := pair()
	p[0].cpus[2] = procfs.CPUStat{}
	p[1].cpus[2] = procfs.CPUStat{User: 30, Guest: 30, Nice: 5, GuestNice: 5, IRQ: 5, SoftIRQ: 10, Idle: 30, Iowait: 20}
	if got := whole(sampler(p), 1000, 0).Metrics["client_cores_busy"]; math.Abs(got-0.5) > 1e-9 {
		t.Errorf("busy %v, want half: 50 ticks of 100", got)
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
