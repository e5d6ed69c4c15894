package run

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// parsers read what load generators print of a trial that cannot take turns. They take counts and times, and not a
// generator's own averages, so all figures are computed the same way. A figure that a generator cannot give is missing,
// not 0.
var parsers = map[string]func(stdout []byte) (*measure.Result, error){
	setting.Autocannon: autocannon, setting.Sink: sink, setting.Readers: readers}

// A document is what a program printed of a trial, as one JSON document.
type document struct {
	Start, Finish time.Time
	Faults        []struct{ Kind, First string } // of readers

	program string
	figures map[string]float64 // by their place, as latency.p50
	err     error              // of the first that is needed and missing
}

// read reads a program's document.
func read(program string, text []byte) (*document, error) {
	if len(text) == 0 {
		return nil, fmt.Errorf("%s printed nothing", program)
	}
	d := &document{program: program, figures: map[string]float64{}}
	var all map[string]any
	if err := cmp.Or(json.Unmarshal(text, &all), json.Unmarshal(text, d)); err != nil {
		return nil, fmt.Errorf("%s's output is not JSON: %w", program, err)
	}
	if d.Start.IsZero() || !d.Finish.After(d.Start) {
		return nil, fmt.Errorf("%s's output has no measured window", program)
	}
	d.add("", all)
	return d, nil
}

// need gives a figure. One that is missing is not 0, since a rule about it would see no fault.
func (d *document) need(name string) float64 {
	v, ok := d.figures[name]
	if !ok || v < 0 && !strings.HasPrefix(name, "backlog_") { // which a step of the clock can make negative
		d.err = cmp.Or(d.err, fmt.Errorf("%s's output has no usable %q", d.program, name))
	}
	return v
}

func (d *document) add(at string, all map[string]any) {
	for name, v := range all {
		switch v := v.(type) {
		case float64:
			d.figures[at+name] = v
		case map[string]any:
			d.add(at+name+".", v)
		}
	}
}

// result has the figures that follow from how much was answered.
func (d *document) result(answered float64) *measure.Result {
	seconds := d.Finish.Sub(d.Start).Seconds()
	return &measure.Result{Finish: d.Finish, Trial: measure.Trial{StartedAt: d.Start, Below: map[string]float64{},
		Resolution: map[string]float64{},
		Metrics:    map[string]float64{"requests": answered, "duration_s": seconds, "throughput_rps": answered / seconds}}}
}

// share adds a part of a whole, if there is any.
func share(m map[string]float64, name string, part, whole float64) {
	if whole > 0 {
		m[name] = part / whole
	}
}

// autocannon reads the last JSON document of a trial's standard output;
// earlier ones are the warm-up's.
//
// Latencies are in whole milliseconds, cut rather than rounded. So a latency of 0 means
// "below a millisecond", and the mean of cut latencies is not a metric; it only limits
// the mean, which is enough for Little's law. Rates come from counts and the trial's
// start and finish, because autocannon's averages are averages of its samples.
//
// As started by the lab, autocannon compares no bodies. Its resets are restarts of its list of requests,
// not resets of connections: when the server ends a connection, it opens a new one without
// counting it. The engine checks answers and connections from outside.
func autocannon(stdout []byte) (*measure.Result, error) {
	lines := bytes.Split(bytes.TrimSpace(stdout), []byte("\n"))
	d, err := read(setting.Autocannon, lines[len(lines)-1])
	if err != nil {
		return nil, err
	}
	of := d.need
	r := d.result(of("2xx") + of("non2xx"))
	share(r.Metrics, "response_bytes", of("throughput.total"), r.Metrics["requests"])
	maps.Copy(r.Metrics, map[string]float64{"errors": of("errors"), "timeouts": of("timeouts"), "resets": of("resets"),
		"non_2xx": of("non2xx")})
	if r.Metrics["requests"] == 0 {
		return r, d.err
	}
	r.Metrics["latency_mean_least_s"] = of("latency.mean") / 1000
	for _, q := range []string{"p50", "p90", "p99", "max"} {
		name, ms := "latency_"+q+"_s", of("latency."+q)
		if ms < 1 {
			r.Below[name] = gate.AutocannonStep
		} else {
			r.Metrics[name], r.Resolution[name] = ms/1000, gate.AutocannonStep
		}
	}
	return r, d.err
}

// sink reads what the receiver of events printed in a line.
//
// The figures count arrivals at the receiver; the sender's own counts have other names. Refusals that the trial
// asks for, and events left behind, are no faults: such trials are about them. Bytes are those of requests, so
// there is no figure of answers' bytes, and failed connections were not counted.
func sink(stdout []byte) (*measure.Result, error) {
	d, err := read("event_sink", bytes.TrimSpace(stdout))
	if err != nil {
		return nil, err
	}
	of := d.need
	taken := of("requests") - of("refused") // requests count the refused ones
	r := d.result(taken)
	m, seconds := r.Metrics, r.Metrics["duration_s"]
	maps.Copy(m, map[string]float64{
		"non_2xx":              of("refused"),
		"delivered_per_s":      of("events") / seconds,
		"offered_per_s":        of("offered") / seconds,
		"logged_per_s":         of("logged") / seconds,
		"lost_per_s":           of("failed") / seconds,
		"duplicate_events":     of("duplicates"),
		"unaccounted_events":   of("end.unaccounted"),
		"backlog_growth_per_s": (of("backlog_finish") - of("backlog_start")) / seconds,
		"sink_in_flight_max":   of("in_flight_max"),
		"add_p99_s":            of("add_s.p99"),
	})
	share(m, "arrived_share", of("end.arrived"), of("end.added"))
	if of("events") > 0 {
		share(m, "events_per_batch", of("events"), taken)
		d.copy(m, "delivery_p50_s", "delivery_s.p50", "delivery_p99_s", "delivery_s.p99")
	}
	d.copy(m, "pace_lag_p99_s", "pace_lag_s.p99") // a pacer that is always behind never sleeps and so has no lag
	return r, d.err
}

// copy adds figures that need not be there, each by the metric's name and its place.
func (d *document) copy(m map[string]float64, pairs ...string) {
	for pair := range slices.Chunk(pairs, 2) {
		if v, ok := d.figures[pair[1]]; ok {
			m[pair[0]] = v
		}
	}
}

// readers reads what the readers of events printed in a line.
//
// An event that a reader had counts as an answered request, so that costs a request are costs an event.
// This adds up the ledger again. Events that are lost where the server says so are no fault: such
// trials are about them. A fault of a connection is one, and a like that was refused.
func readers(stdout []byte) (*measure.Result, error) {
	d, err := read("event_reader", bytes.TrimSpace(stdout))
	if err != nil {
		return nil, err
	}
	of := d.need
	r := d.result(of("events"))
	m := r.Metrics
	share(m, "response_bytes", of("bytes"), m["requests"])
	fault := func(name, format string, args ...any) {
		r.Faults = append(r.Faults, measure.Fault{Name: name, Detail: fmt.Sprintf(format, args...)})
	}
	for _, f := range d.Faults {
		fault(gate.Errors, "%s: %s", f.Kind, f.First)
	}
	if n := of("refused"); n > 0 {
		fault(gate.WrongAnswer, "%.0f likes were refused, or their connection failed", n)
	}
	a := func(name string) float64 { return of("account." + name) }
	lost := a("lost_broadcast") + a("lost_shard") + a("lost_subscriber") + a("lost_left") + a("lost_socket")
	unaccounted := math.Abs(a("due")-lost-a("written")) + math.Abs(a("written")-a("received"))
	if offered, pushes := d.figures["account.push.offered"]; pushes { // to another process
		p := func(name string) float64 { return of("account.push." + name) }
		unaccounted += math.Abs(offered - p("merged") - p("unrouted") - p("full") - p("failed") - p("pushed"))
		share(m, "lost_push_share", p("full"), offered)
		share(m, "push_mean_s", p("push_s"), p("pushed")+p("failed"))
		if p("failed") > 0 {
			fault(gate.Errors, "%.0f pushes failed", p("failed"))
		}
	}
	maps.Copy(m, map[string]float64{"non_2xx": 0, "delivered_per_s": m["throughput_rps"], "offered_per_s": of("offered_per_s"),
		"likes_per_s": of("likes_per_s"), "connections_established": of("open"), "unaccounted_events": unaccounted,
		"duplicate_events": of("repeated"), "shards_used": of("shards_used"),
		"server_bytes_per_connection": of("bytes_per_connection")})
	share(m, "lost_broadcast_share", a("lost_broadcast"), a("due"))
	share(m, "lost_shard_share", a("lost_shard"), a("due"))
	share(m, "lost_subscriber_share", a("lost_subscriber"), a("due"))
	share(m, "pushed_delivered_share", a("written"), a("due"))
	d.copy(m, "delivery_p50_s", "delivery_s.p50", "delivery_p99_s", "delivery_s.p99")
	return r, d.err
}
