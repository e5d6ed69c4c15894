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
		{pid: 10, parent: 2, threads: 5, cpu: seconds(master)},
		{pid: 11, parent: 10, threads: threads, cpu: seconds(first)},
		{pid: 12, parent: 10, threads: threads + 2, cpu: seconds(second)},
	}
}

// stat is a core's counters: busy in user and system time, idle, stolen.
func stat(user, system, idle, steal float64) procfs.CPUStat {
	return procfs.CPUStat{User: user, System: system, Idle: idle, Steal: steal}
}

func wire(tx, rx, txPackets, rxPackets uint64) *procfs.NetDevLine {
	return &procfs.NetDevLine{Name: "eth0", TxBytes: tx, RxBytes: rx, TxPackets: txPackets, RxPackets: rxPackets}
}

// pair is two samples two seconds apart.
func pair() []sample {
	return []sample{
		{
			at: at(10), server: server(1, 2, 3, 6), client: []process{{pid: 20, parent: 1, cpu: seconds(5)}},
			threads: map[int]time.Duration{20: seconds(4), 21: seconds(1)},
			cpus:    map[int64]procfs.CPUStat{0: stat(100, 50, 850, 0), 1: stat(0, 0, 1000, 0), 2: stat(10, 10, 10, 10)},
			wire:    wire(1000, 2000, 10, 20),
		},
		{
			at: at(12), server: server(1.2, 3.6, 4.2, 8), client: []process{{pid: 20, parent: 1, cpu: seconds(6.5)}},
			threads: map[int]time.Duration{20: seconds(5.4), 21: seconds(1.1), 22: seconds(9)},
			cpus:    map[int64]procfs.CPUStat{0: stat(250, 80, 860, 10), 1: stat(50, 0, 1150, 0), 2: stat(90, 30, 80, 30)},
			wire:    wire(126_000, 252_000, 110, 220),
		},
	}
}

func sampler(samples []sample) *Sampler {
	return &Sampler{targets: Targets{ServerCPUs: []int{0, 1}, ClientCPUs: []int{2}}, samples: samples}
}

func whole(s *Sampler, rps, lineRate float64) Window { return s.Between(at(0), at(100), rps, lineRate) }

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
		"workers": 2, "processes": 3,
		// Means of 6 and 8 threads, and of 8 and 10.
		"threads_per_worker": 8,
		// 0.2 of the master, 1.6 and 1.2 of the workers.
		"server_cpu_s": 3.0,
		// 1.5 cores over 1000 requests a second.
		"server_cpu_per_request_s": 0.0015,
		// 2.8 s of two workers in two seconds; the master is none.
		"server_workers_busy": 0.7,
		// Core 0: of 200 ticks 10 idle; core 1: of 200 ticks 150.
		"server_cores_busy": (0.95 + 0.25) / 2, "server_steal": (0.05 + 0) / 2,
		"client_cpu_per_request_s": 1.5 / 2 / 1000,
		// 1.4 s in two seconds; the thread that was not there at first is left out.
		"client_thread_busy_max": 0.7,
		// Of 190 ticks 70 were idle and 20 stolen.
		"client_cores_busy": 120.0 / 190, "client_steal": 20.0 / 190,
		// 125,000 and 250,000 bytes in two seconds.
		"wire_tx_bps": 500_000, "wire_rx_bps": 1_000_000, "wire_tx_packets_per_s": 50, "wire_rx_packets_per_s": 100,
		// The busier direction.
		"line_rate_share": 1,
	})
	if w.WorkersMin != 2 || w.WorkersMax != 2 {
		t.Errorf("workers from %d to %d", w.WorkersMin, w.WorkersMax)
	}
}

func TestWindowIsCutToItsTimes(t *testing.T) {
	// Warm-up before and the end after it cost a hundredfold; the samples at
	// the window's very ends belong to it.
	warm := sample{at: at(9.9), server: server(0, 0, 0, 1), threads: map[int]time.Duration{20: 0}}
	middle := sample{at: at(11), server: server(1.1, 2.1, 3.1, 7)}
	late := sample{at: at(12.1), server: server(100, 100, 100, 99), threads: map[int]time.Duration{20: seconds(99)}}
	p := pair()
	got := sampler([]sample{warm, p[0], middle, p[1], late}).Between(at(10), at(12), 1000, 1e6)
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

// lacking takes something away from both samples and tells what is left.
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
	wireNames := []string{"wire_tx_bps", "wire_rx_bps", "wire_tx_packets_per_s", "wire_rx_packets_per_s", "line_rate_share"}
	serverNames := []string{"workers", "processes", "threads_per_worker", "server_cpu_s", "server_cpu_per_request_s", "server_workers_busy"}
	for _, c := range []struct {
		name   string
		change func(a, b *sample)
		gone   []string
	}{
		{"nothing", func(a, b *sample) {}, nil},
		{"no wire", func(a, b *sample) { a.wire, b.wire = nil, nil }, wireNames},
		{"no wire at first", func(a, b *sample) { a.wire = nil }, wireNames},
		{"no wire at last", func(a, b *sample) { b.wire = nil }, wireNames},
		{"no cores", func(a, b *sample) { a.cpus, b.cpus = nil, nil }, []string{"server_cores_busy", "server_steal", "client_cores_busy", "client_steal"}},
		// The mean over the other core would be of less than what was asked.
		{"one server core missing", func(a, b *sample) { delete(b.cpus, 1) }, []string{"server_cores_busy", "server_steal"}},
		{"the client's core missing at first", func(a, b *sample) { delete(a.cpus, 2) }, []string{"client_cores_busy", "client_steal"}},
		{"a core whose counters stand still", func(a, b *sample) { b.cpus[1] = a.cpus[1] }, []string{"server_cores_busy", "server_steal"}},
		{"no client", func(a, b *sample) { a.client, b.client, a.threads, b.threads = nil, nil, nil, nil }, []string{"client_cpu_per_request_s", "client_thread_busy_max"}},
		{"another client than before", func(a, b *sample) { a.client[0].pid = 99; a.threads = map[int]time.Duration{99: 0} }, []string{"client_cpu_per_request_s", "client_thread_busy_max"}},
		{"threads not readable", func(a, b *sample) { b.threads = nil }, []string{"client_thread_busy_max"}},
		// A server that was never seen had no nought workers.
		{"no server", func(a, b *sample) { a.server, b.server = nil, nil }, serverNames},
	} {
		t.Run(c.name, func(t *testing.T) { lacking(t, c.change, c.gone...) })
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
	// What it used until then is not known; what the others used is.
	if got := w.Metrics["server_cpu_s"]; math.Abs(got-1.8) > 1e-9 {
		t.Errorf("server CPU %v, want 0.2 of the master and 1.6 of the worker that stayed", got)
	}
	// One that came and went in between is seen as well.
	p = pair()
	extra := sample{at: at(11), server: append(server(1.1, 2.1, 3.1, 6), process{pid: 13, parent: 10})}
	if w := whole(sampler([]sample{p[0], extra, p[1]}), 1000, 0); w.WorkersMin != 2 || w.WorkersMax != 3 {
		t.Errorf("workers from %d to %d, want 2 to 3", w.WorkersMin, w.WorkersMax)
	}
}

func TestAServerWithoutWorkersHasNone(t *testing.T) {
	p := pair()
	p[0].server, p[1].server = p[0].server[:1], p[1].server[:1]
	w := whole(sampler(p), 1000, 0)
	if w.Metrics["workers"] != 0 || w.Metrics["processes"] != 1 {
		t.Errorf("%v workers, %v processes", w.Metrics["workers"], w.Metrics["processes"])
	}
	for _, name := range []string{"threads_per_worker", "server_workers_busy"} {
		if v, ok := w.Metrics[name]; ok {
			t.Errorf("%s is %v, of no worker", name, v)
		}
	}
}

// The kernel's idle counters may run back by a tick; a share stays a share.
func TestSharesStayBetweenNoughtAndOne(t *testing.T) {
	p := pair()
	p[0].cpus[2], p[1].cpus[2] = stat(100, 0, 500, 0), stat(200, 0, 499, 0)
	p[0].cpus[0], p[1].cpus[0] = stat(100, 0, 500, 5), stat(99, 0, 600, 4)
	p[0].cpus[1], p[1].cpus[1] = stat(0, 0, 500, 0), stat(0, 0, 600, 0)
	w := whole(sampler(p), 1000, 0)
	for _, name := range []string{"client_cores_busy", "client_steal", "server_cores_busy", "server_steal"} {
		if v, ok := w.Metrics[name]; !ok || v < 0 || v > 1 {
			t.Errorf("%s is %v (there: %v)", name, v, ok)
		}
	}
}

// Waiting for the disk is idle time too; guest time is in user time already.
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
