// Package gate judges a trial by its figures: whether it counts, and what bounded it. The same rules judge it while it
// is measured and when its file is checked.
//
// A fault is a reason for which a trial does not count; that a figure is missing which a rule needs is one of its own. A
// bound is all walls that limited the trial, since two can be met at once and either may have limited throughput. A
// resource that was not recorded is neither a wall nor known to have room, so a conclusion must check both lists.
//
// Most thresholds apply to all slots of a trial taken together. A trial that alternates between two walls shows neither.
package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

const (
	// SendLag limits the load generator's own lateness at a fixed rate, as a 99th percentile: latencies count from the
	// time a request was due, so lateness is included in them.
	SendLag = time.Millisecond
	// LittleOff is how far rate times mean latency may differ from the requests that a closed loop keeps in flight, as
	// a share. The latencies' resolution and the requests in flight at the window's ends come on top.
	LittleOff = 0.10
	// LeastShare is the share of the rate asked for that must be answered. A hundredth covers requests in flight at
	// both ends of a short trial. A generator or server that keeps up loses less than that; one that does not turns the
	// open loop into a closed one.
	LeastShare = 0.99
	// ActiveShare is the share of the busiest worker's CPU time that makes a
	// worker active. A hash distributes connections over workers, so shares may
	// differ by a factor of several; and an idle worker still wakes up now and then.
	ActiveShare = 0.1
	// EachWorker is how many connections a worker has in the mean where none can be without one by
	// chance: of four workers, one is in less than one of a million trials.
	EachWorker = 16
	// AutocannonStep is the step of autocannon's latencies, in seconds: up to that much is cut off.
	AutocannonStep = 0.001
)

// The faults' names, as written in a trial's reasons.
const (
	WrongAnswer   = "wrong-answer"
	Errors        = "errors"
	NoRequests    = "no-requests"
	RateShort     = "rate-short"
	SendLate      = "send-late"
	ServerExited  = "server-exited"
	LostWorker    = "lost-worker"
	ClientFailed  = "client-failed"
	Connections   = "connections"
	Little        = "littles-law"
	Ledger        = "ledger"
	HeldBack      = "held-back"
	ProfileFailed = "profile-failed"
	NoTelemetry   = "no-telemetry"
)

// A Gate is one reason for which a trial does not count.
type Gate struct {
	Name   string `json:"name"`
	Closes string `json:"closes"` // its cause, as printed on pages
	WayOut string `json:"way_out"`
}

// All lists the faults. A disturbance refuses nothing: conditions take turns of a fraction of a second in an order
// drawn by lot, so it widens an interval and cannot move it.
var All = []Gate{
	{WrongAnswer, "an answer had another status, head or body than the expected one",
		"ask the server by hand; the detail has the first answer that was wrong"},
	{Errors, "a connection failed or was reset, or a request was not answered in time",
		"see what the server prints, and whether it has enough open files"},
	{NoRequests, "no request was answered", "try more time for a slot, or fewer connections"},
	{RateShort, fmt.Sprintf("less than %.0f %% of the asked rate was answered, where meeting it was not the question itself",
		LeastShare*100), "ask for a lower rate"},
	{SendLate, fmt.Sprintf("at a fixed rate that should be met, the load generator itself was more than %v late with one request "+
		"in a hundred", SendLag), "ask for a lower rate, or give the client a core of its own"},
	{ServerExited, "the server ended before the load did", "see what it printed last"},
	{LostWorker, fmt.Sprintf("a worker of the server ended or was not there, or had no connection, where there were %d or more for "+
		"each and that was not the question itself", EachWorker), "see what the server prints"},
	{ClientFailed, "the load generator ended with an error, or did not end", "the detail has its last line"},
	{Connections, "fewer connections were established than asked for",
		"raise the limit of open files; make sure that nothing else answers at the server's address"},
	{Little, fmt.Sprintf("rate times mean latency was more than %.0f %% off what a closed loop keeps in flight, beyond what "+
		"resolution and the window's ends explain", LittleOff*100), "this is a mistake of the lab or of its load generator: report it"},
	{Ledger, "an event of a stream ended in none of the places that its server counts, or in two, or was read twice",
		"this is a mistake of the server's ledger or of the reader: report it"},
	{HeldBack, "a quota held the cores back, or a signal stopped the server or the client",
		"lift the quota of the session or the container"},
	{ProfileFailed, "a profile of one of the server's processes was not to be had, or did not parse", "the detail says why"},
	{NoTelemetry, "something that another gate looks at was not seen", "the doctor says what this machine cannot show"},
}

// Known tells whether a reason has a name of All.
func Known(name string) bool {
	return slices.ContainsFunc(All, func(g Gate) bool { return g.Name == name })
}

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
	t.within(WrongAnswer, "non_2xx", true, 0, 0, "%.0f answers were not 2xx")
	counts := a.Generator != Sink && a.Generator != Readers // receivers of events do not count failed connections
	t.within(Errors, "errors", counts, 0, figures["timeouts"], "%.0f errors, %.0f of them timeouts", figures["timeouts"])
	t.within(Errors, "timeouts", counts, 0, 0, "%.0f requests timed out")
	t.within(Errors, "resets", counts, 0, 0, "%.0f connections were reset")
	t.within(NoRequests, "requests", true, 1, boundless, "%.0f requests were answered")
	if a.Rate > 0 && !a.Overload {
		t.within(RateShort, "throughput_rps", true, LeastShare*a.Rate, boundless,
			"%.1f requests a second were answered of %.0f asked for", a.Rate)
		// Other generators do not report when they sent a request.
		t.within(SendLate, "send_lag_p99_s", a.Generator == HTTPLoad, 0, SendLag.Seconds(),
			"the load generator itself sent a hundredth of its requests more than %.4f s late")
	}
	all := float64(a.Workers)
	if claimed("workers") {
		all = min(all, 1) // without any, the lab read the wrong processes, and every figure of the server would be 0
	}
	t.within(LostWorker, "workers", true, all, boundless, "%.0f of the server's %d workers were there", a.Workers)
	// The kernel deals connections to workers by a hash, which leaves none out where there are many.
	if a.Workers > 0 && a.Connections >= EachWorker*a.Workers && !claimed("workers", "workers_active", "workers_serving") {
		t.within(LostWorker, "workers_serving", true, float64(a.Workers), boundless, "%.0f of %d workers took part in %d connections",
			a.Workers, a.Connections)
	}
	t.within(Connections, "connections_established", a.Connections > 0, float64(a.Connections), boundless,
		"%.0f connections were established, asked were %d", a.Connections)
	t.little()
	if a.Generator == Readers && !claimed("unaccounted_events") {
		t.within(Ledger, "unaccounted_events", true, 0, 0, "%.0f events ended in no place of the ledger, or in two")
		t.within(Ledger, "duplicate_events", true, 0, 0, "%.0f events were read twice")
	}
	t.within(HeldBack, "throttled_s", false, 0, 0, "cores were held back for %.3f s")
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

const boundless = math.MaxFloat64

// within is the rule of a figure that is at fault below one limit or above another. The format takes the figure, and
// what more there is.
func (t *trial) within(gate, metric string, needed bool, low, high float64, format string, more ...any) {
	if v, ok := t.see(metric, needed); ok && (v < low || v > high) {
		t.close(gate, metric, format, append([]any{v}, more...)...)
	}
}

// little compares rate times mean latency with the requests that a closed loop keeps in flight. A window's latencies
// are those of requests sent within it, so they lack what was in flight at its begin, and have all of what was in
// flight at its end. This explains a difference of up to the mean latency over the window.
func (t *trial) little() {
	asked := float64(t.Connections * t.Pipelining)
	if n, ok := t.figures["requests"]; t.Rate > 0 || asked == 0 || ok && n == 0 || t.figures["latency_cut_share"] > 0 {
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
	if rps*high < asked*(1-LittleOff-late) || rps*low > asked*(1+LittleOff+late) {
		t.close(Little, metric, "rate times mean latency is %.0f to %.0f requests, %.0f were kept in flight", rps*low, rps*high,
			asked)
	}
}
