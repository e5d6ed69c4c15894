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
	Fortio     = "fortio"     // in texts and earlier runs only
	Sink       = "sink"       // counts events
	Readers    = "readers"    // of event streams; they give likes besides
)

// Asked is what a trial was asked to do, as far as rules compare its figures
// with it.
type Asked struct {
	Generator   string
	Connections int     // 0 if events are received, not requested
	Pipelining  int     // requests in flight on each connection
	Rate        float64 // requests per second; 0 is a closed loop
	Overload    bool    // the trial is meant to show that the rate cannot be met
	Refuses     bool    // the receiver was told to refuse some batches
	Workers     int     // prefork workers; 0 if there are none
	WindowS     float64 // seconds, of all slots; 0 if unknown
	SlotS       float64 // seconds; 0 if the trial is in one piece
	// ResolutionS is the step of the load generator's latencies, in seconds, if
	// they are cut to whole steps.
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
	t.answers()
	t.rate()
	t.workers()
	if n, ok := t.see("connections_established", a.Connections > 0); ok && n < float64(a.Connections) {
		t.close(Connections, "connections_established", "%.0f connections were established, asked were %d", n, a.Connections)
	}
	t.little()
	if v, ok := t.see("idle_servers_busy", a.SlotS > 0); ok && v > IdleServer {
		t.close(IdleServers, "idle_servers_busy", "servers that were not loaded used %.3f of a core in the trial's slots, more than %.2f",
			v, IdleServer)
	}
	if a.Generator == Readers && !t.claimed("unaccounted_events") {
		t.none(Ledger, "unaccounted_events", true, "%.0f events ended in no place of the ledger, or in two")
		t.none(Ledger, "duplicate_events", true, "%.0f events were read twice")
	}
	t.none(HeldBack, "throttled_s", true, "cores were held back for %.3f s")
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

// none is for figures that are at fault above 0.
func (t *trial) none(gate, metric string, needed bool, format string) {
	if v, ok := t.see(metric, needed); ok && v > 0 {
		t.close(gate, metric, format, v)
	}
}

func (t *trial) claimed(metrics ...string) bool {
	return slices.ContainsFunc(metrics, func(name string) bool { return slices.Contains(t.Claimed, name) })
}

// answers looks at what was answered, and at connections that failed.
func (t *trial) answers() {
	if !t.Refuses { // else refusals were asked for
		t.none(WrongAnswer, "non_2xx", true, "%.0f answers were not 2xx")
	}
	// Receivers of events do not count failed connections.
	counts := t.Generator != Sink && t.Generator != Readers
	n, ok := t.see("errors", counts)
	if n -= t.figures["timeouts"]; ok && n > 0 { // errors include timeouts
		t.close(Errors, "errors", "%.0f connection errors", n)
	}
	t.none(Errors, "timeouts", counts, "%.0f requests timed out")
	t.none(Errors, "resets", counts, "%.0f connections were reset")
	if n, ok := t.see("requests", true); ok && n < 1 {
		t.close(NoRequests, "requests", "no request was answered")
	}
}

// rate looks whether a rate was met that should be.
func (t *trial) rate() {
	if t.Rate == 0 || t.Overload {
		return
	}
	if got, ok := t.see("throughput_rps", true); ok && got < LeastShare*t.Rate {
		t.close(RateShort, "throughput_rps", "%.1f requests a second were answered of %.0f asked for", got, t.Rate)
	}
	// autocannon does not report when it sent a request; fortio, used in earlier runs, did.
	if lag, ok := t.see("send_lag_p99_s", t.Generator == HTTPLoad || t.Generator == Fortio); ok &&
		lag > SendLag.Seconds() {
		t.close(SendLate, "send_lag_p99_s", "the load generator itself sent a hundredth of its requests more than %.1f ms late", lag*1e3)
	}
}

// workers looks whether each of the server's workers was there and took part. The kernel deals connections to
// them by a hash, which leaves none out where there are many.
func (t *trial) workers() {
	n, ok := t.see("workers", true)
	switch {
	case t.Workers == 0:
		return
	case !ok:
	case n < 1: // the wrong processes were read: every figure of the server would be 0
		t.close(LostWorker, "workers", "none of the server's %d workers was seen", t.Workers)
	case n < float64(t.Workers) && !t.claimed("workers"):
		t.close(LostWorker, "workers", "%.0f of the server's %d workers were there", n, t.Workers)
	}
	if t.Connections < EachWorker*t.Workers || t.claimed("workers", "workers_active", "workers_serving") {
		return
	}
	if v, ok := t.see("workers_serving", true); ok && v < float64(t.Workers) {
		t.close(LostWorker, "workers_serving", "%.0f of %d workers took part in %d connections", v, t.Workers, t.Connections)
	}
}

// little compares rate times mean latency with the requests that a closed loop
// keeps in flight. A window's latencies are those of requests sent within it, so
// they lack what was in flight at its begin, and have all of what was in flight at
// its end. This explains a difference of up to the mean latency over the window.
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
