package run

import (
	"slices"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
)

// A pieced trial is a made-up trial in one piece: what was asked for, what
// autocannon reported, and the samples. A correct one closes no gate.
type pieced struct {
	load
	said generator.Result
	w    telemetry.Window
	m    map[string]float64
	head int // of the answers
}

func newPieced() *pieced {
	start := time.Unix(1, 0)
	p := &pieced{
		load: load{connections: 100, pipelining: 1, workers: 4, slot: time.Second, rounds: 1, generator: setting.Autocannon,
			split: cores.Split{Server: []int{0}, Client: []int{1}}},
		said: generator.Result{Start: start, Finish: start.Add(time.Second), CutMeanS: 0.0999},
		w:    telemetry.Window{WorkersMin: 4, WorkersMax: 4, Gap: 300 * time.Millisecond},
		m: map[string]float64{
			"requests": 1000, "throughput_rps": 1000, "duration_s": 1,
			"errors": 0, "timeouts": 0, "resets": 0, "non_2xx": 0,
			"workers": 4, "workers_active": 4, "workers_serving": 4, "connections_established": 100,
			"client_thread_busy_max": 0.5,
			"server_steal":           0.03, "client_steal": 0, "server_foreign_load": 0, "client_foreign_load": 0.1,
			"swap_pages": 0, "throttled_s": 0, "clock_step_s": 0.01, "calibration_before_s": 1e-6,
			"calibration_after_s": 1.25e-6,
		},
	}
	p.asked = gate.Asked{Generator: setting.Autocannon, Connections: 100, Pipelining: 1, Workers: 4, WindowS: 1,
		ResolutionS: 0.001}
	return p
}

// rated sets a fixed rate.
func (p *pieced) rated() {
	p.rate, p.asked.Rate = 1000, 1000
	p.m["asked_rate_rps"] = 1000
}

// events makes the client a receiver of events.
func (p *pieced) events() {
	p.generator, p.workers, p.connections, p.said.CutMeanS = setting.Sink, 0, 0, 0
	p.asked = gate.Asked{Generator: setting.Sink, Pipelining: 1, WindowS: 1}
	for _, name := range []string{"errors", "timeouts", "resets", "workers_active", "workers_serving"} {
		delete(p.m, name)
	}
	p.m["workers"], p.w.WorkersMin, p.w.WorkersMax = 0, 0, 0
}

// streams makes the client readers of streams, with a figure of the ledger and claims about some.
func (p *pieced) streams(figure string, v float64, claimed ...string) {
	p.events()
	p.generator, p.asked.Generator, p.asked.Claimed = setting.Readers, setting.Readers, claimed
	p.m["unaccounted_events"], p.m["duplicate_events"] = 0, 0
	p.m[figure] = v
}

// lost removes everything but the load generator's report and the calibrations.
func (p *pieced) lost() {
	p.w = telemetry.Window{}
	for _, name := range []string{"workers", "workers_active", "workers_serving", "connections_established",
		"client_thread_busy_max", "server_steal",
		"client_steal", "server_foreign_load", "client_foreign_load", "swap_pages", "throttled_s", "clock_step_s"} {
		delete(p.m, name)
	}
}

// judge closes the trial's gates.
func (p *pieced) judge(fail failer) {
	p.cutMean(&p.said, p.m)
	if rate, fixed := p.m["asked_rate_rps"]; fixed {
		p.m["answered_share"] = p.m["throughput_rps"] / rate
	}
	p.gates(&p.said, p.w, p.m, fail)
	if p.route != "" {
		p.bytes(p.head, &p.said, fail)
	}
}

func set(metric string, v float64) func(*pieced) { return func(p *pieced) { p.m[metric] = v } }
func lack(metric string) func(*pieced)           { return func(p *pieced) { delete(p.m, metric) } }

// comparedWith sets the number of bytes counted for /simple, whose answers have
// a body of 16 bytes after a head of 108.
func comparedWith(bytes float64) func(*pieced) {
	return func(p *pieced) {
		p.serves, p.route, p.head = &experiment.Server{Answers: setting.Fiber}, "/simple", 106
		p.said.Counts = generator.Counts{OK: 1000, Bytes: bytes}
		p.connections, p.asked.Connections, p.m["connections_established"], p.said.CutMeanS = 0, 0, 0, 0
	}
}

// figure gives the rows of a gate on one figure that is always needed.
func figure(name, metric string, shuts, stays float64) []row[*pieced] {
	return []row[*pieced]{{"over", set(metric, shuts), name}, {"at the bar", set(metric, stays), none},
		{"missing", lack(metric), gate.NoTelemetry}}
}

// optional gives the rows of a gate on a figure that a receiver of events does
// not count.
func optional(name, metric string) []row[*pieced] {
	return append(figure(name, metric, 1, 0), row[*pieced]{"of events, missing", (*pieced).events, none},
		row[*pieced]{"of events", both((*pieced).events, set(metric, 1)), name})
}

// pieceRows has the rows of the gates on trials in one piece.
var pieceRows = map[string][]row[*pieced]{
	gate.Non2xx: append(figure(gate.Non2xx, "non_2xx", 5000, 0),
		row[*pieced]{"of a receiver that was told to refuse",
			func(p *pieced) { p.events(); p.asked.Refuses = true; p.m["non_2xx"] = 3 }, none},
		row[*pieced]{"of a receiver that was not", both((*pieced).events, set("non_2xx", 3)), gate.Non2xx}),
	gate.Errors: append(optional(gate.Errors, "errors"),
		row[*pieced]{"that were timeouts", both(set("errors", 2), set("timeouts", 2)), gate.Timeouts}),
	gate.Timeouts: optional(gate.Timeouts, "timeouts"),
	gate.Resets:   optional(gate.Resets, "resets"),
	gate.WrongAnswer: {
		{"missing: how long heads are", both(comparedWith(124_000), func(p *pieced) { p.head = 0 }), gate.WrongAnswer},
		{"as many bytes as right answers have", comparedWith(124_000), none},
		{"a byte too few in all of them", comparedWith(123_999), gate.WrongAnswer},
		{"a byte too many", comparedWith(124_001), gate.WrongAnswer},
		{"a route that the lab does not know", both(comparedWith(124_000), func(p *pieced) { p.route = "/healthz" }),
			gate.WrongAnswer},
		{"of answers that were no success the bytes are not known",
			both(comparedWith(1), func(p *pieced) { p.said.Counts.Non2xx = 1 }), none},
	},
	gate.NoRequests: figure(gate.NoRequests, "requests", 0, 1),
	gate.RateShort: {
		{"a hundredth and more is unanswered", both((*pieced).rated, set("throughput_rps", 989)), gate.RateShort},
		{"a hundredth is", both((*pieced).rated, set("throughput_rps", 990)), none},
		{"missing", both((*pieced).rated, lack("throughput_rps")), gate.NoTelemetry},
		{"the load generator says so", func(p *pieced) {
			p.rated()
			p.said.Faults = []generator.Fault{{Gate: gate.RateShort, Detail: "it was short"}}
		}, gate.RateShort},
		{"that it cannot be met is what the trial is about", func(p *pieced) {
			p.rated()
			p.asked.Overload, p.m["throughput_rps"] = true, 250
			p.said.Faults = []generator.Fault{{Gate: gate.RateShort, Detail: "it was short"}}
		}, none},
	},
	gate.LostWorker: {
		{"one ended", func(p *pieced) { p.w.WorkersMin = 3 }, gate.LostWorker},
		{"one was never there", func(p *pieced) { p.m["workers"], p.w.WorkersMin, p.w.WorkersMax = 3, 3, 3 },
			gate.LostWorker},
		{"none was seen", func(p *pieced) { p.m["workers"], p.w.WorkersMin, p.w.WorkersMax = 0, 0, 0 }, gate.LostWorker},
		{"how many there are is a claim's", func(p *pieced) {
			p.asked.Claimed = []string{"workers"}
			p.w.WorkersMin, p.w.WorkersMax = 3, 3
			for _, name := range []string{"workers", "workers_active", "workers_serving"} {
				p.m[name] = 3
			}
		}, none},
		{"how many there are is a claim's, and one ended",
			func(p *pieced) { p.asked.Claimed = []string{"workers"}; p.w.WorkersMin = 3 }, gate.LostWorker},
		{"missing", lack("workers"), gate.NoTelemetry},
	},
	gate.Ledger: {
		{"an event is in no place", func(p *pieced) { p.streams("unaccounted_events", 1) }, gate.Ledger},
		{"an event came twice", func(p *pieced) { p.streams("duplicate_events", 1) }, gate.Ledger},
		{"all are accounted for", func(p *pieced) { p.streams("unaccounted_events", 0) }, none},
		{"that is what is claimed", func(p *pieced) { p.streams("unaccounted_events", 1, "unaccounted_events") }, none},
		{"missing: no ledger", func(p *pieced) {
			p.streams("duplicate_events", 0)
			delete(p.m, "unaccounted_events")
		}, gate.NoTelemetry},
	},
	gate.Little: {
		{"more in flight than there can be", func(p *pieced) { p.said.CutMeanS = 0.111 }, gate.Little},
		{"fewer in flight than there should be", func(p *pieced) { p.said.CutMeanS = 0.078 }, gate.Little},
		{"within its resolution", func(p *pieced) { p.said.CutMeanS = 0.082 }, none},
		{"missing: no rate", lack("throughput_rps"), gate.NoTelemetry},
		{"at a fixed rate", func(p *pieced) { p.rated(); p.said.CutMeanS = 5 }, none},
	},
	gate.NoTelemetry: {
		{"what bounded the trial was not seen", lack("client_thread_busy_max"), gate.NoTelemetry},
		{"all was seen", func(*pieced) {}, none},
		{"missing: no samples", (*pieced).lost, gate.NoTelemetry},
	},
}

func TestPiecesCloseGates(t *testing.T) {
	for name, rows := range pieceRows {
		for _, r := range rows {
			one := newPieced()
			r.spoil(one)
			closes(t, name+", "+r.what, r.closes, one.judge)
		}
	}
}

// A gate that a more detailed check has closed is not closed again by the
// figures.
func TestAReasonIsSaidOnce(t *testing.T) {
	one := newPieced()
	one.said.Faults = []generator.Fault{{Gate: gate.Timeouts, Detail: "3 requests timed out"}}
	one.m["errors"], one.m["timeouts"] = 3, 3
	one.w.WorkersMin, one.m["workers"] = 3, 3
	var said []string
	one.judge(func(name, format string, args ...any) { said = append(said, name) })
	slices.Sort(said)
	if want := []string{gate.LostWorker, gate.Timeouts}; !slices.Equal(said, want) {
		t.Errorf("%v, want %v", said, want)
	}
}

// Only looks at the client's sockets within the window count, and a single look
// is not enough.
func TestConnectionsOpenedAnew(t *testing.T) {
	start := time.Unix(1000, 0)
	r := &generator.Result{Start: start, Finish: start.Add(time.Second)}
	at := func(ms int, inodes ...string) holding {
		h := holding{from: start.Add(time.Duration(ms) * time.Millisecond), inodes: map[string]bool{}}
		h.to = h.from.Add(time.Millisecond)
		for _, i := range inodes {
			h.inodes[i] = true
		}
		return h
	}
	for _, c := range []struct {
		name string
		all  []holding
		want string // the gate that closes
	}{
		{"the same", []holding{at(200, "a", "b"), at(800, "b", "a")}, ""},
		{"one anew", []holding{at(200, "a", "b"), at(800, "b", "c")}, gate.Resets},
		{"one anew, in the middle", []holding{at(200, "a", "b"), at(500, "b", "c"), at(800, "c", "b")}, gate.Resets},
		{"those of the warm-up", []holding{at(-300, "x", "y"), at(10, "x", "a"), at(200, "a", "b"), at(800, "b", "a")}, ""},
		{"after the end", []holding{at(200, "a", "b"), at(800, "b", "a"), at(1100, "c")}, ""},
		{"still opening", []holding{at(100, "a"), at(200, "a", "b"), at(800, "b", "a")}, ""},
		{"never all of them", []holding{at(200, "a"), at(800, "a")}, gate.NoTelemetry},
		{"once", []holding{at(200, "a", "b")}, gate.NoTelemetry},
		{"never", nil, gate.NoTelemetry},
	} {
		closes(t, c.name, c.want, func(fail failer) { (&socketWatch{connections: 2, all: c.all}).judge(r, fail) })
	}
}
