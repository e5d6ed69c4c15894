package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// The generators of a load, by the names that experiments have for them.
const (
	HTTPLoad   = "http_load"  // the lab's own
	Autocannon = "autocannon" // used in the published runs, and assumed where no generator is named
	Sink       = "sink"       // counts events
	Readers    = "readers"    // of event streams; they give likes besides
)

// Asked is what a trial was asked to do, as far as rules compare its figures with it.
type Asked struct {
	Generator   string
	Connections int     // 0 for a receiver of events
	Pipelining  int     // requests in flight on each connection
	Rate        float64 // requests per second; 0 is a closed loop
	Overload    bool    // the trial is to show that the server cannot keep the rate
	Workers     int     // prefork workers; 0 if there are none
	WindowS     float64 // seconds, of all slots; 0 if unknown
	SlotS       float64 // seconds; 0 if the trial is in one piece
	// ResolutionS is the step of the load generator's latencies, in seconds, if they are cut to whole steps.
	ResolutionS float64
	// Claimed names the metrics that the experiment's claims are about. A figure
	// that decides a claim refutes it, and is no fault of the trial.
	Claimed []string
}

// A Finding is a figure that shows a fault. That a figure is missing which a rule needs is the
// fault NoTelemetry. Files of older labs lack figures that were not recorded then.
type Finding struct{ Gate, Metric, Detail string }

// Judge compares a trial's figures, by the names of package metric, with the rules of faults. The
// other faults show only while a trial is measured: processes, answers, samples, profiles.
func Judge(figures map[string]float64, a Asked) []Finding {
	t := &trial{Asked: a, figures: figures}
	claimed := func(metrics ...string) bool {
		return slices.ContainsFunc(metrics, func(name string) bool { return slices.Contains(a.Claimed, name) })
	}
	t.most(WrongAnswer, "non_2xx", true, 0, "%.0f answers were not 2xx")
	counts := a.Generator != Sink && a.Generator != Readers // receivers of events do not count failed connections
	t.most(Errors, "errors", counts, figures["timeouts"], "%.0f errors, %.0f of them timeouts", figures["timeouts"])
	t.most(Errors, "timeouts", counts, 0, "%.0f requests timed out")
	t.most(Errors, "resets", counts, 0, "%.0f connections were reset")
	t.least(NoRequests, "requests", true, 1, "%.0f requests were answered")
	if a.Rate > 0 && !a.Overload {
		t.least(RateShort, "throughput_rps", true, LeastShare*a.Rate, "%.1f requests a second were answered of %.0f asked for", a.Rate)
		// Other generators do not report when they sent a request.
		t.most(SendLate, "send_lag_p99_s", a.Generator == HTTPLoad, SendLag.Seconds(),
			"the load generator itself sent a hundredth of its requests more than %.4f s late")
	}
	all := float64(a.Workers)
	if claimed("workers") {
		all = min(all, 1) // without any, the lab read the wrong processes, and every figure of the server would be 0
	}
	t.least(LostWorker, "workers", true, all, "%.0f of the server's %d workers were there", a.Workers)
	// The kernel deals connections to workers by a hash, which leaves none out where there are many.
	if a.Workers > 0 && a.Connections >= EachWorker*a.Workers && !claimed("workers", "workers_active", "workers_serving") {
		t.least(LostWorker, "workers_serving", true, float64(a.Workers), "%.0f of %d workers took part in %d connections",
			a.Workers, a.Connections)
	}
	t.least(Connections, "connections_established", a.Connections > 0, float64(a.Connections),
		"%.0f connections were established, asked were %d", a.Connections)
	t.little()
	t.most(IdleServers, "idle_servers_busy", a.SlotS > 0, IdleServer,
		"servers that were not loaded used %.3f of a core in the trial's slots, more than %.2f", IdleServer)
	if a.Generator == Readers && !claimed("unaccounted_events") {
		t.most(Ledger, "unaccounted_events", true, 0, "%.0f events ended in no place of the ledger, or in two")
		t.most(Ledger, "duplicate_events", true, 0, "%.0f events were read twice")
	}
	t.most(HeldBack, "throttled_s", false, 0, "cores were held back for %.3f s")
	t.see("client_thread_busy_max", true) // no rule needs it, but the trial's bound depends on it
	return t.found
}

type trial struct {
	Asked
	figures map[string]float64
	found   []Finding
}

// see gives a figure. NaN counts as missing.
func (t *trial) see(metric string, needed bool) (v float64, ok bool) {
	v, ok = t.figures[metric]
	if ok = ok && !math.IsNaN(v); !ok && needed && !slices.ContainsFunc(t.found, func(f Finding) bool { return f.Metric == metric }) {
		t.close(NoTelemetry, metric, "%s was not seen", metric)
	}
	return v, ok
}

func (t *trial) close(gate, metric, format string, args ...any) {
	t.found = append(t.found, Finding{gate, metric, fmt.Sprintf(format, args...)})
}

// most is the rule of a figure that is at fault above a limit. The format takes the figure, and what more there is.
func (t *trial) most(gate, metric string, needed bool, limit float64, format string, more ...any) {
	if v, ok := t.see(metric, needed); ok && v > limit {
		t.close(gate, metric, format, append([]any{v}, more...)...)
	}
}

// least is the rule of one that is at fault below it.
func (t *trial) least(gate, metric string, needed bool, limit float64, format string, more ...any) {
	if v, ok := t.see(metric, needed); ok && v < limit {
		t.close(gate, metric, format, append([]any{v}, more...)...)
	}
}

// little compares rate times mean latency with the requests that a closed loop keeps in flight. A window's latencies
// are those of requests sent within it, so they lack what was in flight at its begin, and have all of what was in
// flight at its end. This explains a difference of up to the mean latency over the window.
func (t *trial) little() {
	asked := float64(t.Connections * t.Pipelining)
	cut, whole := t.figures["latency_cut_share"]
	if n, ok := t.figures["requests"]; t.Rate > 0 || asked == 0 || ok && n == 0 || cut > 0 {
		return // not a closed loop, or nothing was answered; or the mean is not known
	}
	rps, ok := t.see("throughput_rps", true)
	metric := "latency_mean_s"
	low, known := t.see(metric, t.ResolutionS == 0)
	high := low
	if !known && t.ResolutionS > 0 {
		metric = "latency_mean_least_s"
		low, known = t.see(metric, true)
		high = low + t.ResolutionS
	}
	if !ok || !known || t.WindowS == 0 {
		return
	}
	ends := cmp.Or(t.SlotS, t.WindowS) // each slot begins with new requests and ends with some in flight
	late := high / ends
	if longest, ok := t.figures["latency_max_s"]; ok && t.SlotS > 0 {
		// If few connections are served while the others wait, those that wait at an
		// end of a slot are most of all requests.
		late = max(late, longest/ends)
	}
	over := late
	if !whole { // earlier generators left out what was in flight at a slot's end
		over = 0
	}
	if rps*high < asked*(1-LittleOff-late) || rps*low > asked*(1+LittleOff+over) {
		t.close(Little, metric, "rate times mean latency is %.0f to %.0f requests, %.0f were kept in flight", rps*low, rps*high,
			asked)
	}
}
