package check

import (
	"maps"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// full is the made-up run with every derived figure in its first trial, all
// consistent.
func full(t *testing.T) *results.File {
	t.Helper()
	f := made(t)
	f.Provenance.ServerCPUs, f.Provenance.ClientCPUs, f.Provenance.CalibrationS = "0-1", "2", 9e-7
	f.Settings[setting.Rate] = setting.Int(2000)
	f.Topology.LineRateBps = 1e8
	tr := &f.Trials[0]
	tr.Below = map[string]float64{"latency_p50_s": 0.001}
	maps.Copy(tr.Metrics, map[string]float64{
		"response_bytes": 124, "transfer_bytes_per_s": 124 * 1000.25, "asked_rate_rps": 2000,
		"answered_share": 1000.25 / 2000, "asked_in_flight": 100,
		"latency_p90_s": 0.002, "latency_p95_s": 0.003, "latency_p99_s": 0.003, "latency_p999_s": 0.004,
		"latency_max_s":  0.005,
		"latency_mean_s": 0.002, "in_flight": 2.0005, "errors": 0, "timeouts": 0, "non_2xx": 0,
		"wire_tx_bps": 2e6, "wire_rx_bps": 1e6, "line_rate_share": 0.02,
		"workers": 2, "workers_active": 2, "processes": 3,
		// Seen for 3.9 of 4 seconds, with both workers busy for half of that.
		"server_cpu_s": 3.9, "server_cpu_per_request_s": 3.9 / 3.9 / 1000.25, "server_workers_busy": 0.5,
		"server_cores_busy": 0.6, "server_steal": 0.01, "client_cores_busy": 0.25, "client_steal": 0,
		"client_thread_busy_max": 0.22225, "calibration_before_s": 9e-7, "calibration_after_s": 1e-6,
		"delivery_p50_s": 0.1, "delivery_p99_s": 0.2, "delivered_per_s": 900, "offered_per_s": 1000, "delivered_share": 0.9,
		"events_per_batch": 4, "server_cpu_per_event_s": 1 / 1000.25 / 4, "backlog_growth_per_s": -3,
		"goroutines_parked": 2.5, "block_events": 7, "live_heap_bytes": 4096,
	})
	tr.Cores = []results.Core{
		{CPU: 0, User: 0.3, System: 0.29, SoftIRQ: 0.1, Steal: 0.01, Idle: 0.3},
		{CPU: 1, User: 0.2, System: 0.2, SoftIRQ: 0.09, Steal: 0.01, Idle: 0.5},
		{CPU: 2, User: 0.2, System: 0.05, Idle: 0.75},
	}
	tr.ClientThreads = []float64{0.2222, 0.01}
	tr.Profiles = []profiles.Profile{{Kind: "block", Total: 10, DurationS: 4, Events: 7}, {Kind: "heap", Total: 4096}}
	return f
}

func figuresOf(f *results.File) error {
	return (trial{f.Trials[0]}).figures("/trials/0", &file{File: f}, f.Settings)
}

func TestFiguresThatFollowFromOthers(t *testing.T) {
	if err := figuresOf(full(t)); err != nil {
		t.Fatalf("the run that this test breaks is broken itself: %v", err)
	}
	set := func(name string, v float64) func(*results.File) {
		return func(f *results.File) { f.Trials[0].Metrics[name] = v }
	}
	for _, c := range []struct {
		name string
		set  func(*results.File)
		says string // empty: accepted
	}{
		{"more failed than were answered", set("non_2xx", 5000), ""}, // a sink counts its refusals separately
		{"more failed than were answered, without a sink", func(f *results.File) {
			delete(f.Trials[0].Metrics, "delivered_per_s")
			f.Trials[0].Metrics["non_2xx"] = 5000
		}, "/trials/0/metrics/non_2xx: 5000, more than the 4001 of requests"},
		{"timeouts that are no errors", set("timeouts", 1), "/trials/0/metrics/timeouts: 1, more than the 0 of errors"},
		{"more active than there are", set("workers_active", 3),
			"/trials/0/metrics/workers_active: 3, more than the 2 of workers"},
		{"more workers than processes", set("workers", 4), "/trials/0/metrics/workers: 4, more than the 3 of processes"},

		// With half the CPU time per request, the time seen would be twice the
		// window.
		{"a cheaper request, and no events", func(f *results.File) {
			delete(f.Trials[0].Metrics, "server_cpu_per_event_s")
			f.Trials[0].Metrics["server_cpu_per_request_s"] = 0.5 / 1000.25
		}, "/trials/0/metrics/server_cpu_per_request_s: "},
		{"busier workers than their server", set("server_workers_busy", 0.95),
			"/trials/0/metrics/server_workers_busy: 0.95; 2 workers then used 1.9 cores, and the server all in all 1"},
		{"a busier server", set("server_cores_busy", 0.95),
			"/trials/0/metrics/server_cores_busy: 0.95, but cores 0-1 give 0.6"},
		{"more of it stolen", set("server_steal", 0), "/trials/0/metrics/server_steal: 0, but cores 0-1 give 0.01"},
		{"an idler client", set("client_cores_busy", 0.1), "/trials/0/metrics/client_cores_busy: 0.1, but cores 2 give 0.25"},
		{"another core's state", func(f *results.File) { f.Trials[0].Cores[2].User, f.Trials[0].Cores[2].Idle = 0.9, 0.05 },
			"/trials/0/metrics/client_cores_busy: 0.25, but"},
		{"cores that the condition sets", func(f *results.File) {
			f.Settings[setting.ServerCPUs] = setting.String("0")
			f.Trials[0].Metrics["server_cores_busy"] = 0.7
		}, ""},
		{"a core that was not seen", func(f *results.File) { f.Trials[0].Cores = f.Trials[0].Cores[:2] }, ""},
		{"an idle counter that ran back", func(f *results.File) { f.Trials[0].Cores[0].User = 0.31 }, ""},
		{"an idler client thread", set("client_thread_busy_max", 0.1),
			"/trials/0/metrics/client_thread_busy_max: 0.1, but the busiest of client_threads has 0.2222"},
		{"a thread of a dozen cores", func(f *results.File) { f.Trials[0].ClientThreads[0] = 12 },
			"/trials/0/client_threads/0: 12 is not a share of a core"},
		{"threads not recorded", func(f *results.File) { f.Trials[0].ClientThreads = nil }, ""},
		{"faster than the fastest", set("calibration_after_s", 8e-7),
			"/trials/0/metrics/calibration_after_s: 8e-07, faster than the run's fastest"},

		{"no requests", func(f *results.File) { delete(f.Trials[0].Metrics, "requests") },
			"/trials/0/metrics/requests: missing"},
		{"no window", func(f *results.File) { delete(f.Trials[0].Metrics, "duration_s") },
			"/trials/0/metrics/duration_s: missing"},
		{"no rate", func(f *results.File) { delete(f.Trials[0].Metrics, "throughput_rps") },
			"/trials/0/metrics/throughput_rps: missing"},
		{"nothing, and it does not count", func(f *results.File) {
			f.Trials[0] = results.Trial{Seq: 1, Block: 1, Condition: "c1",
				Bound: gate.BoundUnknown}
		}, ""},
	} {
		f := full(t)
		c.set(f)
		err := figuresOf(f)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

// No metric can be negative, and no share can exceed 1.
func TestEveryMetricHasItsRange(t *testing.T) {
	for _, m := range metric.All() {
		f := full(t)
		f.Trials[0] = results.Trial{Metrics: map[string]float64{m.Name: -1}}
		err := figuresOf(f)
		if m.Name == "backlog_growth_per_s" {
			if err != nil {
				t.Errorf("%s can fall: %v", m.Name, err)
			}
		} else if err == nil || !strings.HasPrefix(err.Error(), "/trials/0/metrics/"+m.Name+": -1 is below 0") {
			t.Errorf("%s of -1: %v", m.Name, err)
		}
		f.Trials[0].Metrics[m.Name] = 98 // percent
		several := m.Name == "profiled_throughput_share" || m.Name == "sampler_busy" ||
			strings.HasSuffix(m.Name, "_foreign_load")
		if err := figuresOf(f); m.Unit == metric.Ratio && !several &&
			(err == nil || !strings.Contains(err.Error(), "98 is a share of more than all")) {
			t.Errorf("%s of 98: %v", m.Name, err)
		}
	}
	for _, name := range []string{"requests", "errors", "workers", "connections_established", "tcp_retransmits",
		"swap_pages"} {
		f := full(t)
		f.Trials[0] = results.Trial{Metrics: map[string]float64{name: 1.5}}
		if err := figuresOf(f); err == nil || !strings.HasPrefix(err.Error(), "/trials/0/metrics/"+name+
			": 1.5 is no whole number") {
			t.Errorf("%s of 1.5: %v", name, err)
		}
	}
}

func TestQuantilesRiseAndStatesAreOfAWhole(t *testing.T) {
	metrics := func(kv ...any) func(*results.Trial) {
		return func(t *results.Trial) {
			for i := 0; i < len(kv); i += 2 {
				t.Metrics[kv[i].(string)] = kv[i+1].(float64)
			}
		}
	}
	below := func(name string, v float64) func(*results.Trial) {
		return func(t *results.Trial) { delete(t.Metrics, name); t.Below[name] = v }
	}
	for _, c := range []struct {
		name string
		set  func(*results.Trial)
		says string
	}{
		{"the median above the 90th", metrics("latency_p90_s", 0.0005, "latency_p50_s", 0.001),
			"/trials/0/metrics/latency_p90_s: 0.0005 is less than latency_p50_s, 0.001"},
		{"one left out between them", func(t *results.Trial) {
			delete(t.Metrics,
				"latency_p95_s")
			t.Metrics["latency_p99_s"] = 0.001
		}, "/trials/0/metrics/latency_p99_s: 0.001 is less than latency_p90_s"},
		{"the longest is not", metrics("latency_max_s", 0.0035),
			"/trials/0/metrics/latency_max_s: 0.0035 is less than latency_p999_s"},
		{"a mean above the longest", metrics("latency_mean_s", 0.006),
			"/trials/0/metrics/latency_max_s: 0.005 is less than latency_mean_s"},
		{"two the same", metrics("latency_p90_s", 0.003), ""},
		{"less than one before it", below("latency_p99_s", 0.003),
			"/trials/0/below/latency_p99_s: less than 0.003 is less than latency_p95_s, 0.003"},
		{"less than enough", below("latency_p99_s", 0.0031), ""},
		{"less than nothing", below("latency_p99_s", 0), "/trials/0/below/latency_p99_s: 0; nothing is less than that"},
		{"deliveries", metrics("delivery_p99_s", 0.05), "/trials/0/metrics/delivery_p99_s: 0.05 is less than delivery_p50_s"},

		{"a state of more than all", func(t *results.Trial) { t.Cores[1].User = 1.2 },
			"/trials/0/cores/1/user: 1.2 is not a share"},
		{"a state below none", func(t *results.Trial) { t.Cores[1].Idle = -0.1 },
			"/trials/0/cores/1/idle: -0.1 is not a share"},
		{"states of more than all", func(t *results.Trial) { t.Cores[1].User = 0.9 },
			"/trials/0/cores/1: its states sum to 1.7 of"},
		{"a core twice", func(t *results.Trial) { t.Cores[1].CPU = 0 }, "/trials/0/cores/1/cpu: 0 comes after 0"},
	} {
		f := full(t)
		tr := &f.Trials[0]
		tr.Metrics["latency_p50_s"] = 0.001
		delete(tr.Below, "latency_p50_s")
		c.set(tr)
		delete(tr.Metrics, "in_flight")
		err := figuresOf(f)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
	// A core's shares must add up.
	f := full(t)
	f.Trials[0].Cores[1].Idle = 0.1
	if err := figuresOf(f); err == nil || !strings.HasPrefix(err.Error(), "/trials/0/cores/1: its states sum to 0.6") {
		t.Errorf("a core of six tenths: %v", err)
	}
	f = full(t)
	f.Trials[0].ClientThreads = []float64{0.1, 0.2222}
	if err := figuresOf(f); err == nil || !strings.HasPrefix(err.Error(),
		"/trials/0/client_threads/1: 0.2222 comes after 0.1") {
		t.Errorf("threads out of order: %v", err)
	}
}

// Events offered before the window can arrive in it, especially if the producer
// was held up in the window and offered fewer than were due.
func TestMoreThanAllThatWasOfferedArrives(t *testing.T) {
	for _, c := range []struct {
		offered, delivered float64
		rate               int
		says               string
	}{
		{1000, 1600, 1000, ""}, // offers of two seconds before the four of the window, and a tenth
		{1000, 1700, 1000, "/trials/0/metrics/delivered_share: 1.7 is a share of more than all"},
		{500, 1500, 1000, ""},
		{500, 1700, 1000, "/trials/0/metrics/delivered_share: 3.4 is a share of more than all"},
		{1000, 1700, 0, "/trials/0/metrics/delivered_share: 1.7 is a share of more than all"},
	} {
		f := full(t)
		f.Provenance.Block = &results.BlockPlan{SlotS: 4, Rounds: 1, WarmupS: 2}
		f.Settings[setting.EventRate] = setting.Int(int64(c.rate))
		m := f.Trials[0].Metrics
		m["offered_per_s"], m["delivered_per_s"], m["delivered_share"] = c.offered, c.delivered, c.delivered/c.offered
		if err := figuresOf(f); (err == nil) != (c.says == "") || err != nil && err.Error() != c.says {
			t.Errorf("%v of %v, %v asked: %v, want %q", c.delivered, c.offered, c.rate, err, c.says)
		}
	}
}

// Each slot may begin with a burst of the shaper, while a trial in one piece
// has at most one.
func TestBurstsOfTurns(t *testing.T) {
	f := &file{File: &results.File{Topology: results.Topology{Kind: "netns", LineRateBps: 1e8, BurstBytes: 250_000}}}
	in := trial{results.Trial{Metrics: map[string]float64{"duration_s": 0.4}, Slots: &results.Slots{AtS: []float64{1, 2}}}}
	if got := in.bursts("line_rate_share", f); got != 0.1 { // 4 Mbit of 40
		t.Errorf("two bursts add %v of the line rate, want 0.1", got)
	}
	for name, other := range map[string]trial{"one piece": {results.Trial{Metrics: in.Metrics}},
		"no time": {results.Trial{Metrics: map[string]float64{}, Slots: in.Slots}}} {
		if got := other.bursts("line_rate_share", f); got != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := in.bursts("answered_share", f); got != 0 {
		t.Errorf("another figure: %v", got)
	}
}
