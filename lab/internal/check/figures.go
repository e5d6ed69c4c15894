package check

import (
	"cmp"
	"fmt"
	"math"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Limits that no figure can pass, by unit and meaning. A figure read from
// counters may exceed the whole a little; how much is given here.
var (
	// A sum over a window can fall.
	belowNought = map[string]bool{"backlog_growth_per_s": true}

	// Counts that are means or quotients, and so need not be whole numbers.
	broken = map[string]bool{
		"threads_per_worker": true, "connections_per_worker": true, "in_flight": true, "syscalls_per_request": true,
		"goroutines_parked": true, "events_per_batch": true, "requests_on_thread": true,
		"client_to_server_cpu": true,
	}

	// Ratios of a measured run that may exceed 1, with their limits.
	most = map[string]float64{
		// Processes are read one after the other, on a busy machine some hundredths
		// of a second after the moment that the reading stands for.
		"client_thread_busy_max": 1.25, "server_workers_busy": 1.25,
		// The shaper passes a burst at more than its rate.
		"line_rate_share": 1.1,
		// A number of cores, which may be several.
		"server_foreign_load": math.Inf(1), "client_foreign_load": math.Inf(1),
		// One thread samples.
		"sampler_busy": 1.25,
		// The throughput of one window over that of another, not a part of a whole.
		"profiled_throughput_share": math.Inf(1),
	}

	// Shares of cores that are computed from a trial's slots.
	ofSlots = map[string]bool{"server_cores_busy": true, "client_cores_busy": true, "idle_servers_busy": true,
		"slot_server_busy_max": true}

	// Items due in the warm-up can be answered in the window.
	carried = map[string]bool{"answered_share": true, "delivered_share": true}

	// Quantiles of one distribution, lowest first.
	quantiles = [][]string{
		{"latency_p50_s", "latency_p90_s", "latency_p95_s", "latency_p99_s", "latency_p999_s", "latency_max_s"},
		{"latency_mean_s", "latency_max_s"},
		{"delivery_p50_s", "delivery_p99_s"},
	}
)

const (
	// exactly is how far a share may be above 1 because it was computed.
	exactly = 1e-9
	// halfDigit is the relative error of a figure of countedDigits.
	halfDigit = 5e-6
	// printed is the error of a share that is kept to four digits.
	printed = 1e-4
	// ranBack is how far the shares of a core's states may be from a sum of 1: now
	// and then the kernel's idle counters run backwards by a tick, a hundredth of
	// a short window.
	ranBack = 0.03
	// moments is the relative difference allowed between times whose clocks were
	// read one after the other.
	moments = 0.10
)

// wrong says of a place within a trial why its figure cannot be true.
func wrong(at, format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{at}, args...)...)
}

// figures reports a trial's first figure that cannot be true: a negative one,
// one above its limit, quantiles out of order, or a figure that does not follow from
// the figures that it is computed from.
func (t trial) figures(at string, f *file, levels setting.Levels) error {
	found := []error{}
	for _, name := range metric.Names() {
		found = append(found, t.inRange(name, f, levels))
	}
	for _, names := range quantiles {
		found = append(found, t.inOrder(names))
	}
	found = append(found, t.cores(), t.complete(), t.parts(), t.near(f, levels), t.busyCores(f, levels), t.threads(),
		t.calibrated(f.Provenance))
	if err := cmp.Or(found...); err != nil {
		return fmt.Errorf("%s/%w", at, err)
	}
	return nil
}

func (t trial) inRange(name string, f *file, levels setting.Levels) error {
	if limit, ok := t.Below[name]; ok && !(limit > 0) {
		return wrong("below/"+name, "%v; nothing is less than that", limit)
	}
	v, ok := t.Metrics[name]
	if !ok {
		return nil
	}
	m, _ := metric.Lookup(name)
	at := "metrics/" + name
	switch limit := f.most(m, t, levels); {
	case v < 0 && !belowNought[name]:
		return wrong(at, "%v is below 0", v)
	case v > limit:
		return wrong(at, "%v is a share of more than all", v)
	case m.Unit == metric.Count && !broken[name] && v != math.Trunc(v):
		return wrong(at, "%v is no whole number, and it counts", v)
	}
	return nil
}

// bursts is how much of the line rate the shaper's bursts can add to a trial
// with slots: the trial's wire rests during the slots of others, so each of its
// own slots may begin with a full burst.
func (t trial) bursts(name string, f *file) float64 {
	duration := t.Metrics["duration_s"]
	if name != "line_rate_share" || t.Slots == nil || f.Topology.LineRateBps == 0 || duration == 0 {
		return 0
	}
	return 8 * float64(f.Topology.BurstBytes) * float64(len(t.Slots.AtS)) / (f.Topology.LineRateBps * duration)
}

// most is the largest value that a trial's figure of a metric can have.
func (f *file) most(m metric.Metric, t trial, levels setting.Levels) float64 {
	// Shares computed from slots are checked against the slots instead. In a
	// single slot, whose clocks are read at different moments, they may exceed 1.
	if m.Unit != metric.Ratio || t.Slots != nil && ofSlots[m.Name] {
		return math.Inf(1)
	}
	if limit, ok := most[m.Name]; ok {
		return limit + t.bursts(m.Name, f)
	}
	if carried[m.Name] {
		before := f.Provenance.Block.WarmupS
		if t.Slots != nil {
			for _, fill := range t.Slots.FillS {
				before += fill
			}
		}
		limit := most["line_rate_share"] + before/f.Provenance.Block.WindowS()
		// A producer that is held up offers fewer events in the window than were
		// due, while events offered earlier still arrive.
		rate, _ := levels[setting.EventRate].Int()
		if offered := t.Metrics["offered_per_s"]; m.Name == "delivered_share" && offered > 0 {
			limit *= max(1, float64(rate)/offered)
		}
		return limit
	}
	return 1 + exactly
}

// inOrder reports the first quantile that is less than a lower one. A quantile
// known only to be less than a limit is taken as that limit.
func (t trial) inOrder(names []string) error {
	least, of := 0.0, ""
	for _, name := range names {
		if v, ok := t.Metrics[name]; ok {
			if v < least {
				return wrong("metrics/"+name, "%v is less than %s, %v", v, of, least)
			}
			least, of = v, name
		}
		if limit, ok := t.Below[name]; ok && limit <= least {
			return wrong("below/"+name, "less than %v is less than %s, %v", limit, of, least)
		}
	}
	return nil
}

// complete reports a figure that every valid trial must have and this one
// lacks.
func (t trial) complete() error {
	for _, name := range []string{"requests", "duration_s", "throughput_rps"} {
		if v, ok := t.Metrics[name]; t.Valid && !(ok && v > 0) {
			return wrong("metrics/"+name, "missing, or nought; a trial that counts has answered something")
		}
	}
	return nil
}

// parts reports a number of some that is larger than the number of all.
func (t trial) parts() error {
	m := t.Metrics
	for _, r := range []struct{ part, whole string }{
		{"non_2xx", "requests"}, {"timeouts", "errors"}, {"workers_active", "workers"}, {"workers", "processes"},
	} {
		if known(m, r.part, r.whole) && m[r.part] > m[r.whole] {
			// A sink counts the batches that it refused separately from those that it
			// took.
			if r.part == "non_2xx" && known(m, "delivered_per_s") {
				continue
			}
			return wrong("metrics/"+r.part, "%v, more than the %v of %s", m[r.part], m[r.whole], r.whole)
		}
	}
	return t.cpu()
}

// near reports a figure of a trial in turns that lies further from others than two
// clocks or counters of the same thing do.
func (t trial) near(f *file, levels setting.Levels) error {
	if !t.Valid || t.Slots == nil {
		return nil
	}
	m, onServer, onClient := t.Metrics, results.Count(f.ServerCPUs(levels)), results.Count(f.Provenance.ClientCPUs)
	threads, _ := levels[setting.ClientWorkers].Int()
	connections, _ := levels[setting.Connections].Int()
	used := m["client_cores_busy"] * float64(onClient)
	workers := m["server_cores_busy"] * float64(onServer) / m["workers"]
	for _, r := range []struct {
		name     string
		known    bool
		low, top float64
		how      string
	}{
		{"client_thread_busy_max", onClient > 0, used / float64(max(int(threads), onClient, 1)), used,
			"client_cores_busy, and its threads"},
		{"server_workers_busy", onServer > 0 && m["workers"] > 0, workers, workers, "server_cores_busy over workers"},
		{"connections_established", connections > 0, 0, float64(connections), "the connections asked for"},
	} {
		if v, there := m[r.name]; there && r.known && (v < r.low*(1-2*moments) || v > r.top*(1+moments)) {
			return wrong("metrics/"+r.name, "%v, but %s give %.4g to %.4g", v, r.how, r.low, r.top)
		}
	}
	return nil
}

// calibrated checks that no calibration of the trial is faster than the run's
// fastest.
func (t trial) calibrated(p *results.Provenance) error {
	for _, name := range []string{"calibration_before_s", "calibration_after_s"} {
		if v, there := t.Metrics[name]; there && v < p.CalibrationS*(1-halfDigit) {
			return wrong("metrics/"+name, "%v, faster than the run's fastest, calibration_s of %v", v, p.CalibrationS)
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
