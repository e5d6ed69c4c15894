package run

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/answer"
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
)

// A measured trial, made up: what was asked for, what the load generator said,
// what was sampled. An honest one closes no gate.
type measured struct {
	load
	said     generator.Result
	w        telemetry.Window
	m        map[string]float64
	profiles profiles.Set
	best     time.Duration // calibration of the run
	compared *comparison   // of answers; nil where none were compared
}

func honest() *measured {
	start := time.Unix(1, 0)
	t := &measured{
		load: load{connections: 100, pipelining: 1, workers: 4, window: time.Second, generator: setting.Fortio, split: cores.Split{Server: []int{0}, Client: []int{1}}},
		said: generator.Result{Start: start, Finish: start.Add(time.Second)},
		w: telemetry.Window{WorkersMin: 4, WorkersMax: 4, Gap: 300 * time.Millisecond,
			Others: []telemetry.Load{{Name: "beside-client", Core: 1, Cores: 0.4}, {Name: "beside-server", Core: 0, Cores: 0.3}}},
		m: map[string]float64{
			"requests": 1000, "throughput_rps": 1000, "duration_s": 1, "latency_mean_s": 0.1,
			"errors": 0, "timeouts": 0, "resets": 0, "non_2xx": 0,
			"workers": 4, "workers_active": 4, "workers_serving": 4, "connections_established": 100, "client_thread_busy_max": 0.5,
			"server_steal": 0.03, "client_steal": 0, "server_foreign_load": 0, "client_foreign_load": 0.1,
			"swap_pages": 0, "throttled_s": 0, "clock_step_s": 0.01, "calibration_before_s": 1e-6, "calibration_after_s": 1.25e-6,
		},
		profiles: profiles.Set{Processes: 4, Started: start.Add(100 * time.Millisecond), Window: 800 * time.Millisecond, Spread: 50 * time.Millisecond},
		best:     time.Microsecond,
	}
	t.asked = gate.Asked{Generator: setting.Fortio, Connections: 100, Pipelining: 1, Workers: 4, WindowS: 1}
	return t
}

// rated is the same at a fixed rate.
func (t *measured) rated() {
	t.rate, t.asked.Rate = 1000, 1000
	t.m["asked_rate_rps"] = 1000
	t.said.Open = &generator.Open{SendLagP99S: 0.001}
}

// cut has the load generator cut its latencies to whole milliseconds.
func (t *measured) cut() {
	t.generator, t.asked.Generator, t.asked.ResolutionS = setting.Autocannon, setting.Autocannon, 0.001
	delete(t.m, "latency_mean_s")
	t.said.CutMeanS = 0.0999
}

// events makes the client a receiver of events.
func (t *measured) events() {
	t.generator, t.workers, t.connections = setting.Sink, 0, 0
	t.profiles.Processes = 1
	t.asked = gate.Asked{Generator: setting.Sink, Pipelining: 1, WindowS: 1}
	for _, name := range []string{"errors", "timeouts", "resets", "workers_active", "workers_serving", "latency_mean_s"} {
		delete(t.m, name)
	}
	t.m["workers"], t.w.WorkersMin, t.w.WorkersMax = 0, 0, 0
}

// closed gives the gates that close on the trial, each once, sorted.
func (t *measured) closed() []string {
	names := map[string]bool{}
	var fail failer = func(name, _ string, _ ...any) { names[name] = true }
	t.gates(&t.said, t.w, t.m, fail)
	t.apart(&t.profiles, &t.said, fail)
	t.compared.judge(t.load, &t.said, fail)
	trial := results.Trial{Valid: true, Metrics: t.m}
	slow(&trial, t.best)
	for _, r := range trial.Reasons {
		names[r.Gate] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// A row is what is done to an honest trial, and the one gate that it closes, or
// none.
type row struct {
	what   string
	spoil  func(*measured)
	closes string
}

const none = ""

func set(metric string, v float64) func(*measured) { return func(t *measured) { t.m[metric] = v } }
func lack(metric string) func(*measured)           { return func(t *measured) { delete(t.m, metric) } }

// both does one thing after another.
func both(all ...func(*measured)) func(*measured) {
	return func(t *measured) {
		for _, f := range all {
			f(t)
		}
	}
}

// comparedWith has /simple's answers counted and compared: a body of 16 bytes behind a
// head of 108, and what the lab said of each that it compared.
func comparedWith(bytes float64, said ...*answer.Fault) func(*measured) {
	return func(t *measured) {
		t.serves, t.route = setting.Fiber, "/simple"
		t.said.Counts = generator.Counts{OK: 1000, Bytes: bytes, Compared: 15}
		t.compared = &comparison{head: 106, all: []answer.Report{{}}, // the first is before the trial
			sockets: &socketWatch{all: []holding{{from: t.said.Start.Add(100 * time.Millisecond)}, {from: t.said.Start.Add(200 * time.Millisecond)}}}}
		for _, fault := range said {
			t.compared.all = append(t.compared.all, answer.Report{At: t.said.Start.Add(time.Millisecond), Fault: fault})
		}
	}
}

// figure is the rows of a gate that looks at one figure, which is always needed.
func figure(name, metric string, shuts, stays float64) []row {
	return []row{{"over", set(metric, shuts), name}, {"at the bar", set(metric, stays), none}, {"missing", lack(metric), gate.NoTelemetry}}
}

// optional is the rows of one that a receiver of events does not count.
func optional(name, metric string) []row {
	return append(figure(name, metric, 1, 0), row{"of events, missing", (*measured).events, none}, row{"of events", both((*measured).events, set(metric, 1)), name})
}

// table has rows for every gate that figures, samples or profiles close. Those
// that processes close have theirs beside their test.
var table = map[string][]row{
	gate.Non2xx: append(figure(gate.Non2xx, "non_2xx", 5000, 0),
		row{"of a receiver that was told to refuse", func(t *measured) { t.events(); t.asked.Refuses = true; t.m["non_2xx"] = 3 }, none},
		row{"of a receiver that was not", both((*measured).events, set("non_2xx", 3)), gate.Non2xx}),
	gate.Errors:   append(optional(gate.Errors, "errors"), row{"that were timeouts", both(set("errors", 2), set("timeouts", 2)), gate.Timeouts}),
	gate.Timeouts: optional(gate.Timeouts, "timeouts"),
	gate.Resets:   optional(gate.Resets, "resets"),
	gate.Mismatches: {
		{"the load generator counted one", func(t *measured) {
			t.said = *generator.Of(t.said.Start, t.said.Finish, generator.Counts{OK: 1000, Mismatches: 1})
		}, gate.Mismatches},
		{"it counted none", func(t *measured) {
			t.said = *generator.Of(t.said.Start, t.said.Finish, generator.Counts{OK: 1000})
		}, none},
		{"missing: it does not look at bodies", func(*measured) {}, none},
	},
	gate.WrongAnswer: {
		{"one that was compared", comparedWith(124_000, nil, &answer.Fault{Gate: gate.WrongAnswer, Detail: "107 bytes"}), gate.WrongAnswer},
		{"none that was compared", comparedWith(124_000, nil), none},
		{"a byte too few in all of them", comparedWith(123_999, nil), gate.WrongAnswer},
		{"a byte too many", comparedWith(124_001, nil), gate.WrongAnswer},
		{"missing: none was compared", comparedWith(124_000), gate.NoTelemetry},
		{"missing: the load generator compared none", both(comparedWith(124_000, nil), func(t *measured) { t.said.Counts.Compared = 0 }), gate.NoTelemetry},
	},
	gate.NoRequests: figure(gate.NoRequests, "requests", 0, 1),
	gate.RateShort: {
		{"a hundredth and more is unanswered", both((*measured).rated, set("throughput_rps", 989)), gate.RateShort},
		{"a hundredth is", both((*measured).rated, set("throughput_rps", 990)), none},
		{"missing", both((*measured).rated, lack("throughput_rps")), gate.NoTelemetry},
		{"that it cannot be met is what the trial is about", func(t *measured) { t.rated(); t.asked.Overload = true; t.m["throughput_rps"] = 250 }, none},
	},
	gate.SendLate: {
		{"over a millisecond", func(t *measured) { t.rated(); t.said.Open.SendLagP99S = 0.0011 }, gate.SendLate},
		{"a millisecond", (*measured).rated, none},
		{"missing", func(t *measured) { t.rated(); t.said.Open = nil }, gate.NoTelemetry},
		{"a generator that does not say", func(t *measured) { t.rated(); t.said.Open = nil; t.cut() }, none},
		{"the rate cannot be met", func(t *measured) { t.rated(); t.asked.Overload = true; t.said.Open.SendLagP99S = 1 }, none},
	},
	gate.LostWorker: {
		{"one ended", func(t *measured) { t.w.WorkersMin = 3 }, gate.LostWorker},
		{"one was never there", func(t *measured) { t.m["workers"], t.w.WorkersMin, t.w.WorkersMax = 3, 3, 3 }, gate.LostWorker},
		{"none was seen", func(t *measured) { t.m["workers"], t.w.WorkersMin, t.w.WorkersMax = 0, 0, 0 }, gate.LostWorker},
		{"all were there", func(*measured) {}, none},
		{"how many there are is a claim's", func(t *measured) {
			t.asked.Claimed = []string{"workers"}
			t.w.WorkersMin, t.w.WorkersMax = 3, 3
			for _, name := range []string{"workers", "workers_active", "workers_serving"} {
				t.m[name] = 3
			}
		}, none},
		{"how many there are is a claim's, and one ended", func(t *measured) { t.asked.Claimed = []string{"workers"}; t.w.WorkersMin = 3 }, gate.LostWorker},
		{"no workers were asked for", func(t *measured) {
			t.workers, t.asked.Workers, t.profiles.Processes = 0, 0, 1
			t.w.WorkersMin, t.w.WorkersMax, t.m["workers"] = 0, 0, 0
		}, none},
		{"missing", lack("workers"), gate.NoTelemetry},
	},
	gate.IdleWorker: {
		{"one of four holds connections", set("workers_serving", 1), gate.IdleWorker},
		{"all hold some and one uses CPU time", set("workers_active", 1), gate.IdleWorker},
		{"that they all serve is a claim's to decide", func(t *measured) {
			t.asked.Claimed = []string{"workers_active"}
			t.m["workers_active"], t.m["workers_serving"] = 1, 1
		}, none},
		{"few connections, which leave one out by chance", func(t *measured) {
			t.connections, t.asked.Connections = 10, 10
			t.m["workers_active"], t.m["workers_serving"], t.m["latency_mean_s"] = 3, 3, 0.01
		}, none},
		{"missing", lack("workers_serving"), gate.NoTelemetry},
		{"CPU times missing", lack("workers_active"), gate.NoTelemetry},
	},
	gate.Connections: figure(gate.Connections, "connections_established", 99, 100),
	gate.Little: {
		{"more in flight than there can be", set("latency_mean_s", 0.111), gate.Little},
		{"fewer than the window's end explains", set("latency_mean_s", 0.079), gate.Little},
		{"no more than a tenth off", set("latency_mean_s", 0.11), none},
		{"as few as the window's end explains", set("latency_mean_s", 0.083), none},
		{"missing", lack("latency_mean_s"), gate.NoTelemetry},
		{"no rate", lack("throughput_rps"), gate.NoTelemetry},
		{"cut, and more in flight than there can be", func(t *measured) { t.cut(); t.said.CutMeanS = 0.111 }, gate.Little},
		{"cut, and fewer in flight than there should be", func(t *measured) { t.cut(); t.said.CutMeanS = 0.078 }, gate.Little},
		{"cut, and within its resolution", func(t *measured) { t.cut(); t.said.CutMeanS = 0.082 }, none},
		{"at a fixed rate", func(t *measured) { t.rated(); t.m["latency_mean_s"] = 5 }, none},
	},
	gate.Stopped: {
		{"the client was", func(t *measured) { t.w.Stopped = []string{"client"} }, gate.Stopped},
		{"nobody was", func(*measured) {}, none},
		{"missing: no samples", lost, gate.NoTelemetry},
	},
	gate.ProfileFailed: {
		{"of fewer processes than serve", func(t *measured) { t.profiles.Processes = 3 }, gate.ProfileFailed},
		{"of all", func(*measured) {}, none},
		{"missing", func(t *measured) { t.profiles = profiles.Set{Started: t.said.Start} }, gate.ProfileFailed},
	},
	gate.ProfileApart: {
		{"apart", func(t *measured) { t.profiles.Spread = 51 * time.Millisecond }, gate.ProfileApart},
		{"begun before the load", func(t *measured) { t.profiles.Started = t.said.Start.Add(-time.Millisecond) }, gate.ProfileApart},
		{"ended after it", func(t *measured) { t.profiles.Window = time.Second }, gate.ProfileApart},
		{"together, within the load", func(*measured) {}, none},
		{"missing: begun at no time", func(t *measured) { t.profiles.Started = time.Time{} }, gate.ProfileApart},
	},
	gate.SlowCore: append(append(figure(gate.SlowCore, "calibration_before_s", 1.251e-6, 1.25e-6), figure(gate.SlowCore, "calibration_after_s", 1.251e-6, 1.25e-6)...),
		row{"no reference", func(t *measured) { t.best = 0 }, gate.SlowCore}, row{"no time", set("calibration_after_s", 0), gate.SlowCore}),
	gate.OtherLoad: append(append(figure(gate.OtherLoad, "server_foreign_load", 0.11, 0.1), figure(gate.OtherLoad, "client_foreign_load", 0.11, 0.1)...),
		row{"on a core that both share", func(t *measured) { t.split = cores.Split{}; t.m["server_foreign_load"] = 0.5 }, gate.OtherLoad},
		row{"on a core that both share, missing", func(t *measured) { t.split = cores.Split{}; delete(t.m, "server_foreign_load") }, gate.NoTelemetry}),
	gate.Steal: append(append(figure(gate.Steal, "server_steal", 0.031, 0.03), figure(gate.Steal, "client_steal", 0.031, 0.03)...),
		row{"on a core that both share", func(t *measured) { t.split = cores.Split{}; t.m["server_steal"] = 0.5 }, gate.Steal},
		row{"on a core that both share, missing", func(t *measured) { t.split = cores.Split{}; delete(t.m, "server_steal") }, gate.NoTelemetry}),
	gate.Throttled: figure(gate.Throttled, "throttled_s", 0.001, 0),
	gate.Swap:      figure(gate.Swap, "swap_pages", 1, 0),
	gate.Clock:     figure(gate.Clock, "clock_step_s", 0.011, 0.01),
	gate.HeldUp: {
		{"longer than a second and a fifth of the window", func(t *measured) { t.w.Gap = 1201 * time.Millisecond }, gate.HeldUp},
		{"just so long", func(t *measured) { t.w.Gap = 1200 * time.Millisecond }, none},
		{"missing: no samples", lost, gate.NoTelemetry},
	},
	gate.Window: append(figure(gate.Window, "duration_s", 1.31, 1.29), row{"too short", set("duration_s", 0.69), gate.Window},
		row{"of a long one", func(t *measured) { t.asked.WindowS = 10; t.m["duration_s"] = 8.9 }, gate.Window},
		row{"a tenth of a long one", func(t *measured) { t.asked.WindowS = 10; t.m["duration_s"] = 9 }, none}),
	gate.NoTelemetry: {
		{"what bounded the trial was not seen", lack("client_thread_busy_max"), gate.NoTelemetry},
		{"all was seen", func(*measured) {}, none},
		{"missing: no samples", lost, gate.NoTelemetry},
	},
}

// An ended is a trial whose server and client are shell scripts, and the gate
// that how they end closes, or none of those.
type ended struct {
	what           string
	server, client string
	limit          time.Duration
	closes         string
}

// line is what fortio_load prints of a trial, an hour ago.
const line = `echo '{"generator":"fortio","start":"2026-01-01T00:00:00Z","finish":"2026-01-01T00:00:01Z","requests":1,"non2xx":0,"errors":0,"timeouts":0,"resets":0,"mismatches":0,"compared":1,` +
	`"bytes":9,"asked_rate":0,"unanswered":0,"connections":1,"latency_s":{"mean":0.01,"p50":0.01,"p90":0.01,"p99":0.01,"p999":0.01,"max":0.01}}'`

const serves = "exec sleep 60"

// processes has the rows of the gates that look at how processes end.
var processes = map[string][]ended{
	gate.ServerExited: {
		{"it exits", "sleep 0.1; exit 1", serves, time.Minute, gate.ServerExited},
		{"it is killed", "sleep 0.1; kill -9 $$", serves, time.Minute, gate.ServerExited},
		{"missing: it ends without a word or a status", "sleep 0.1; exit 0", serves, time.Minute, gate.ServerExited},
		{"it serves to the end", serves, line, time.Minute, none},
	},
	gate.ClientFailed: {
		{"it fails", serves, "exit 1", time.Minute, gate.ClientFailed},
		{"it is killed", serves, "kill -9 $$", time.Minute, gate.ClientFailed},
		{"missing: it says nothing", serves, "exit 0", time.Minute, gate.ClientFailed},
		{"it lacks a figure", serves, `echo '{"generator":"fortio"}'`, time.Minute, gate.ClientFailed},
		{"it measures", serves, line, time.Minute, none},
	},
	gate.ClientHung: {
		{"it does not end", serves, serves, 200 * time.Millisecond, gate.ClientHung},
		{"missing: it has said all and does not end", serves, line + "; exec sleep 60", 200 * time.Millisecond, gate.ClientHung},
		{"it ends", serves, line, time.Minute, none},
	},
}

// lost leaves only what the load generator said, and the calibrations.
func lost(t *measured) {
	t.w = telemetry.Window{}
	for _, name := range []string{"workers", "workers_active", "workers_serving", "connections_established", "client_thread_busy_max", "server_steal",
		"client_steal", "server_foreign_load", "client_foreign_load", "swap_pages", "throttled_s", "clock_step_s"} {
		delete(t.m, name)
	}
}

func TestAnHonestTrialClosesNoGate(t *testing.T) {
	for what, spoil := range map[string]func(*measured){
		"as it is": func(*measured) {}, "at a fixed rate": (*measured).rated, "with cut latencies": (*measured).cut, "of events": (*measured).events,
	} {
		one := honest()
		spoil(one)
		if got := one.closed(); len(got) > 0 {
			t.Errorf("%s: %v", what, got)
		}
	}
}

// Every gate has a figure that closes it, and it alone; one that does not; and
// one that is missing, which is not the same as one that does not. A gate
// without its rows could be taken out and nothing would show it.
func TestEveryGateShutsStaysOpenAndIsSeen(t *testing.T) {
	for _, g := range gate.All {
		rows := table[g.Name]
		if live := processes[g.Name]; live != nil {
			rows = nil // TestGatesThatProcessesClose has them
			if !hasAll(live, g.Name, func(e ended) (string, string) { return e.what, e.closes }) {
				t.Errorf("%s lacks a row that closes it, or one that does not, or one with something missing", g.Name)
			}
		} else if !hasAll(rows, g.Name, func(r row) (string, string) { return r.what, r.closes }) {
			t.Errorf("%s lacks a row that closes it, or one that does not, or one with something missing", g.Name)
		}
		for _, r := range rows {
			one := honest()
			r.spoil(one)
			var want []string
			if r.closes != none {
				want = []string{r.closes}
			}
			if got := one.closed(); !slices.Equal(got, want) {
				t.Errorf("%s, %s: closed %v, want %v", g.Name, r.what, got, want)
			}
		}
	}
	for name := range table {
		if _, ok := gate.Of(name); !ok {
			t.Errorf("%s has rows and is no gate", name)
		}
	}
}

func hasAll[T any](rows []T, name string, of func(T) (what, closes string)) bool {
	var shuts, stays, missing bool
	for _, r := range rows {
		what, closes := of(r)
		shuts, stays, missing = shuts || closes == name, stays || closes == none, missing || strings.Contains(what, "missing")
	}
	return shuts && stays && missing
}

// What the figures show less of is said in the words of what saw more.
func TestAReasonIsSaidOnce(t *testing.T) {
	one := honest()
	one.said.Faults = []generator.Fault{{Gate: gate.Timeouts, Detail: "3 requests timed out"}}
	one.m["errors"], one.m["timeouts"] = 3, 3
	one.w.WorkersMin, one.m["workers"] = 3, 3
	one.m["server_foreign_load"] = 0.5
	var said []string
	one.gates(&one.said, one.w, one.m, func(name, format string, args ...any) { said = append(said, name) })
	slices.Sort(said)
	if want := []string{gate.LostWorker, gate.OtherLoad, gate.Timeouts}; !slices.Equal(said, want) {
		t.Errorf("%v, want %v", said, want)
	}
}
