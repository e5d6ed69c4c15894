package results

import (
	"fmt"
	"math"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// What no figure can be, by its unit and its meaning. Where a figure is read
// from counters, a little more than the whole is honest, and said here.
var (
	// A sum over a window can fall.
	belowNought = map[string]bool{"backlog_growth_per_s": true}

	// Counts that are means, or follow from others, are not whole.
	broken = map[string]bool{
		"threads_per_worker": true, "connections_per_worker": true, "in_flight": true, "syscalls_per_request": true,
		"goroutines_parked": true, "events_per_batch": true, "requests_on_thread": true,
	}

	// Ratios of a measured run that may be more than all.
	most = map[string]float64{
		// Times of processes are read one after the other, and on a busy machine
		// some hundredths of a second from the moment that they stand for.
		"client_thread_busy_max": 1.25, "server_workers_busy": 1.25,
		// A burst leaves the shaper faster than its rate.
		"line_rate_share": 1.1,
		// In cores, of which there are several.
		"server_foreign_load": math.Inf(1), "client_foreign_load": math.Inf(1), "sampler_busy": math.Inf(1),
		// One window's throughput over another's: no part of a whole.
		"profiled_throughput_share": math.Inf(1),
	}

	// Shares of cores that follow from a trial's slots.
	ofSlots = map[string]bool{"server_cores_busy": true, "client_cores_busy": true, "idle_servers_busy": true, "slot_server_busy_max": true}

	// What falls due in the warm-up can be answered in the window.
	carried = map[string]bool{"answered_share": true, "delivered_share": true}

	// Quantiles of one distribution, least first.
	quantiles = [][]string{
		{"latency_p50_s", "latency_p90_s", "latency_p95_s", "latency_p99_s", "latency_p999_s", "latency_max_s"},
		{"latency_mean_s", "latency_max_s"},
		{"delivery_p50_s", "delivery_p99_s"},
	}
)

const (
	// exactly is how far two ways to reckon one figure may lie apart, and nine that
	// where each figure of the two was cut to nine digits first.
	exactly = 1e-9
	nine    = 2e-8
	// printed is how far shares may be off that are kept to four digits.
	printed = 1e-4
	// ranBack is how far a core's states may be off a whole: the kernel's idle
	// counters run back by a tick now and then, a hundredth of a short window.
	ranBack = 0.03
	// wholePercents is how far five states may be over a whole that a text
	// prints to the percent.
	wholePercents = 0.025
	// moments is the share by which times may be off that are read one after the
	// other, each in its own moment.
	moments = 0.10
)

// A wrong is a figure that cannot be.
type wrong struct {
	at   string // below the trial
	name string // of the metric, or of the list that it stands in
	why  string
}

// figures finds a trial's first figure that cannot be: none below nought or
// above the whole, quantiles in order, and of a measured run each figure that
// follows from others as it follows.
//
// A text prints what it prints, possible or not. A published figure that cannot
// be stays as it is where one of the file's warnings begins with its name.
func (t Trial) figures(at string, f *File, levels setting.Levels) error {
	check := func(found *wrong) error {
		if found == nil || f.Source == Published && f.warnsOf(found.name) {
			return nil
		}
		hint := ""
		if f.Source == Published {
			hint = fmt.Sprintf("; if the text prints it so, say it in a warning that begins with %q", found.name+":")
		}
		return fmt.Errorf("%s/%s: %s%s", at, found.at, found.why, hint)
	}
	for _, name := range metric.Names() {
		if err := check(t.inRange(name, f, levels)); err != nil {
			return err
		}
	}
	for _, names := range quantiles {
		if err := check(t.inOrder(names)); err != nil {
			return err
		}
	}
	if err := check(t.cores(f.Source)); err != nil {
		return err
	}
	if f.Source == Published {
		return nil
	}
	for _, found := range []*wrong{t.complete(), t.slotted(f, levels), t.recomputed(f, levels), t.busyCores(f, levels), t.threads(), t.profiled(), t.calibrated(f.Provenance)} {
		if err := check(found); err != nil {
			return err
		}
	}
	return nil
}

// warnsOf tells whether a warning of the file is about a figure.
func (f *File) warnsOf(name string) bool {
	return slices.ContainsFunc(f.Warnings, func(w string) bool { return len(w) > len(name) && w[:len(name)+1] == name+":" })
}

func (t Trial) inRange(name string, f *File, levels setting.Levels) *wrong {
	if limit, ok := t.Below[name]; ok && !(limit > 0) {
		return &wrong{"below/" + name, name, fmt.Sprintf("%v; nothing is less than that", limit)}
	}
	v, ok := t.Metrics[name]
	if !ok {
		return nil
	}
	m, _ := metric.Lookup(name)
	at := "metrics/" + name
	switch limit := f.most(m, t, levels); {
	case v < 0 && !belowNought[name]:
		return &wrong{at, name, fmt.Sprintf("%v is below 0", v)}
	case v > limit:
		return &wrong{at, name, fmt.Sprintf("%v is a share of more than all", v)}
	case f.Source == Measured && m.Unit == metric.Count && !broken[name] && v != math.Trunc(v):
		return &wrong{at, name, fmt.Sprintf("%v is no whole number, and it counts", v)}
	}
	return nil
}

// bursts is how much of the line rate the shaper's bursts can add to a trial in
// turns: the wire rests while the turn is another's, and each of its own may then
// begin with a whole burst.
func (t Trial) bursts(name string, f *File) float64 {
	duration := t.Metrics["duration_s"]
	if name != "line_rate_share" || t.Slots == nil || f.Topology.LineRateBps == 0 || duration == 0 {
		return 0
	}
	return 8 * float64(f.Topology.BurstBytes) * float64(len(t.Slots.AtS)) / (f.Topology.LineRateBps * duration)
}

// most is the largest that a trial's figure of a unit can be.
func (f *File) most(m metric.Metric, t Trial, levels setting.Levels) float64 {
	// What follows from slots is held against them: of a single slot, whose clocks
	// were not read in one moment, it may be more than all.
	if m.Unit != metric.Ratio || t.Slots != nil && ofSlots[m.Name] {
		return math.Inf(1)
	}
	if f.Source == Measured {
		if limit, ok := most[m.Name]; ok {
			return limit + t.bursts(m.Name, f)
		}
		if carried[m.Name] {
			before := f.Provenance.warmupS()
			if t.Slots != nil {
				before += sum(t.Slots.FillS)
			}
			limit := most["line_rate_share"] + before/f.Provenance.windowS()
			// A producer that is held up offers less in the window than was due, while
			// what it offered before arrives.
			rate, _ := levels[setting.EventRate].Int()
			if offered := t.Metrics["offered_per_s"]; m.Name == "delivered_share" && offered > 0 {
				limit *= max(1, float64(rate)/offered)
			}
			return limit
		}
	}
	return 1 + exactly
}

// inOrder finds the first quantile that is less than one before it. Of one that
// is known to be less than something, that much is known.
func (t Trial) inOrder(names []string) *wrong {
	least, of := 0.0, ""
	for _, name := range names {
		if v, ok := t.Metrics[name]; ok {
			if v < least {
				return &wrong{"metrics/" + name, name, fmt.Sprintf("%v is less than %s, %v", v, of, least)}
			}
			least, of = v, name
		}
		if limit, ok := t.Below[name]; ok && limit <= least {
			return &wrong{"below/" + name, name, fmt.Sprintf("less than %v is less than %s, %v", limit, of, least)}
		}
	}
	return nil
}

// complete finds a figure that every trial that counts has.
func (t Trial) complete() *wrong {
	for _, name := range []string{"requests", "duration_s", "throughput_rps"} {
		if v, ok := t.Metrics[name]; t.Valid && !(ok && v > 0) {
			return &wrong{"metrics/" + name, name, "missing, or nought; a trial that counts has answered something"}
		}
	}
	return nil
}

// exactly is how far two ways to reckon a figure of the file may lie apart.
func (f *File) exactly() float64 {
	if f.SchemaVersion == Earlier {
		return exactly
	}
	return nine
}

// recomputed finds a figure that does not follow from those that it is made of.
func (t Trial) recomputed(f *File, levels setting.Levels) *wrong {
	m := t.Metrics
	level := func(name string, otherwise float64) float64 {
		if n, ok := levels[name].Int(); ok {
			return float64(n)
		}
		return otherwise
	}
	for _, r := range []struct {
		name  string
		needs []string
		want  func() float64
		how   string
	}{
		{"requests", []string{"throughput_rps", "duration_s"}, func() float64 { return m["throughput_rps"] * m["duration_s"] }, "throughput_rps × duration_s"},
		{"transfer_bytes_per_s", []string{"throughput_rps", "response_bytes"}, func() float64 { return m["throughput_rps"] * m["response_bytes"] }, "throughput_rps × response_bytes"},
		{"in_flight", []string{"throughput_rps", "latency_mean_s"}, func() float64 { return m["throughput_rps"] * m["latency_mean_s"] }, "throughput_rps × latency_mean_s"},
		{"asked_in_flight", nil, func() float64 { return level(setting.Connections, math.NaN()) * level(setting.Pipelining, 1) }, "connections × pipelining"},
		{"asked_rate_rps", nil, func() float64 { return level(setting.Rate, math.NaN()) }, "the rate that is set"},
		{"answered_share", []string{"throughput_rps", "asked_rate_rps"}, func() float64 { return m["throughput_rps"] / m["asked_rate_rps"] }, "throughput_rps over asked_rate_rps"},
		{"delivered_share", []string{"delivered_per_s", "offered_per_s"}, func() float64 { return m["delivered_per_s"] / m["offered_per_s"] }, "delivered_per_s over offered_per_s"},
		{"server_cpu_per_event_s", []string{"server_cpu_per_request_s", "events_per_batch"}, func() float64 { return m["server_cpu_per_request_s"] / m["events_per_batch"] }, "server_cpu_per_request_s over events_per_batch"},
		{"line_rate_share", []string{"wire_tx_bps", "wire_rx_bps"}, func() float64 { return max(m["wire_tx_bps"], m["wire_rx_bps"]) / f.Topology.LineRateBps }, "the busier direction over the line rate"},
	} {
		got, there := m[r.name]
		if !there || !known(m, r.needs...) {
			continue
		}
		if want := r.want(); !same(got, want, f.exactly()) {
			return &wrong{"metrics/" + r.name, r.name, fmt.Sprintf("%v, but %s gives %.12g", got, r.how, want)}
		}
	}
	for _, r := range []struct{ part, whole string }{
		{"non_2xx", "requests"}, {"timeouts", "errors"}, {"workers_active", "workers"}, {"workers", "processes"},
	} {
		if known(m, r.part, r.whole) && m[r.part] > m[r.whole] {
			// A sink counts what it refused apart from what it took in.
			if r.part == "non_2xx" && known(m, "delivered_per_s") {
				continue
			}
			return &wrong{"metrics/" + r.part, r.part, fmt.Sprintf("%v, more than the %v of %s", m[r.part], m[r.whole], r.whole)}
		}
	}
	return t.cpu()
}

// profiled holds the metrics that are a profile's against the profile.
func (t Trial) profiled() *wrong {
	want := map[string]float64{}
	if p, there := t.Profile("block"); there {
		want["block_events"] = p.Events
		if p.DurationS > 0 {
			want["goroutines_parked"] = p.Total / p.DurationS
		}
	}
	if p, there := t.Profile("heap"); there {
		want["live_heap_bytes"] = p.Total
	}
	for name, want := range want {
		if got, there := t.Metrics[name]; there && !same(got, want, hair) {
			return &wrong{"metrics/" + name, name, fmt.Sprintf("%v, but the trial's profile gives %.9g", got, want)}
		}
	}
	return nil
}

// calibrated holds the trial's calibrations against the fastest of the run.
func (t Trial) calibrated(p *Provenance) *wrong {
	for _, name := range []string{"calibration_before_s", "calibration_after_s"} {
		if v, there := t.Metrics[name]; there && v < p.CalibrationS*(1-exactly) {
			return &wrong{"metrics/" + name, name, fmt.Sprintf("%v, faster than the run's fastest, calibration_s of %v", v, p.CalibrationS)}
		}
	}
	return nil
}

func known(m map[string]float64, names ...string) bool {
	for _, name := range names {
		if _, ok := m[name]; !ok {
			return false
		}
	}
	return true
}

// same tells whether two figures are one, but for so small a part of them. What
// cannot be reckoned, as a rate that is not set, is the same as nothing.
func same(a, b, part float64) bool {
	return math.Abs(a-b) <= part*max(math.Abs(a), math.Abs(b), part)
}
