package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Asked is what a trial was asked to do, as far as gates compare its figures
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
	Rounds      int     // slots; 0 if the trial is in one piece
	// ResolutionS is the step of the load generator's latencies, in seconds, if
	// they are cut to whole steps.
	ResolutionS float64
	// Claimed names the metrics that the experiment's claims are about. A figure
	// that decides a claim refutes it, and does not make the trial invalid.
	Claimed []string
}

// A Finding is a figure that closes a gate, or a missing figure that a gate
// needs.
type Finding struct {
	Gate   string
	Metric string // the figure that closes it, or that is missing
	Detail string // why it closes; empty if the figure is missing
}

// Missing tells whether the figure is missing. While a trial is measured, this
// closes NoTelemetry; else the gate would stay open unseen. Files of older labs
// lack figures that were not recorded then.
func (f Finding) Missing() bool { return f.Detail == "" }

// Judge compares a trial's figures, by the names of package metric, with the rule of each
// fault.
func Judge(figures map[string]float64, a Asked) (found []Finding) {
	for _, g := range All {
		if g.Kind != Shown {
			found = append(found, Hold(g.Name, figures, a)...)
		}
	}
	return found
}

// Hold compares figures with one gate only.
func Hold(name string, figures map[string]float64, a Asked) []Finding {
	t := trial{Asked: a, figures: figures, gate: name}
	if rule := rules[name]; rule != nil {
		rule(&t)
	}
	return t.found
}

type trial struct {
	Asked
	figures map[string]float64
	gate    string // of the rule being applied
	found   []Finding
}

// rules has the gates that figures can close: each rule closes its gate on a trial
// or leaves it open. The others need what exists only while a trial is measured:
// processes, samples, profiles.
var rules = map[string]func(t *trial){
	Non2xx: func(t *trial) {
		if !t.Refuses { // else refusals were asked for
			t.none("non_2xx", true, "%.0f answers were not 2xx")
		}
	},
	// A receiver of events does not count failed connections.
	Errors: func(t *trial) {
		n, ok := t.see("errors", t.counted())
		if n -= t.figures["timeouts"]; ok && n > 0 { // errors include timeouts
			t.close("errors", "%.0f connection errors", n)
		}
	},
	Timeouts: func(t *trial) { t.none("timeouts", t.counted(), "%.0f requests timed out") },
	Resets:   func(t *trial) { t.none("resets", t.counted(), "%.0f connections were reset") },
	NoRequests: func(t *trial) {
		if n, ok := t.see("requests", true); ok && n < 1 {
			t.close("requests", "no request was answered")
		}
	},
	RateShort: func(t *trial) {
		if t.Rate == 0 || t.Overload {
			return
		}
		if got, ok := t.see("throughput_rps", true); ok && got < LeastShare*t.Rate {
			t.close("throughput_rps", "%.1f requests a second were answered of %.0f asked for", got, t.Rate)
		}
	},
	SendLate: func(t *trial) {
		if t.Rate == 0 || t.Overload {
			return
		}
		// autocannon does not report when it sent a request; fortio, used in earlier
		// runs, did.
		if lag, ok := t.see("send_lag_p99_s", t.Generator == setting.HTTPLoad || t.Generator == setting.Fortio); ok &&
			lag > SendLag.Seconds() {
			t.close("send_lag_p99_s", "the load generator itself sent a hundredth of its requests more than %.1f ms late",
				lag*1e3)
		}
	},
	LostWorker: func(t *trial) {
		n, ok := t.see("workers", true)
		switch {
		case !ok || t.Workers == 0:
		case n < 1: // the wrong processes were read: every figure of the server would be 0
			t.close("workers", "none of the server's %d workers was seen", t.Workers)
		case n < float64(t.Workers) && !t.claimed("workers"):
			t.close("workers", "%.0f of the server's %d workers were there", n, t.Workers)
		}
	},
	// The kernel deals connections to workers by a hash, which leaves none out where there are many.
	IdleWorker: func(t *trial) {
		if t.Workers == 0 || t.Connections < EachWorker*t.Workers || t.claimed("workers") || t.claimed("workers_active") ||
			t.claimed("workers_serving") {
			return
		}
		if v, ok := t.see("workers_serving", true); ok && v < float64(t.Workers) {
			t.close("workers_serving", "%.0f of %d workers took part in %d connections", v, t.Workers, t.Connections)
		}
	},
	Ledger: func(t *trial) {
		if t.Generator == setting.Readers && !t.claimed("unaccounted_events") {
			t.none("unaccounted_events", true, "%.0f events ended in no place of the ledger, or in two")
			t.none("duplicate_events", true, "%.0f events were read twice")
		}
	},
	Connections: func(t *trial) {
		if t.Connections == 0 {
			return
		}
		if n, ok := t.see("connections_established", true); ok && n < float64(t.Connections) {
			t.close("connections_established", "%.0f connections were established, asked were %d", n, t.Connections)
		}
	},
	Little: little,
	IdleServers: func(t *trial) {
		if v, ok := t.see("idle_servers_busy", t.SlotS > 0); ok && v > IdleServer {
			t.close("idle_servers_busy", "servers that were not loaded used %.3f of a core in the trial's slots, more than %.2f",
				v, IdleServer)
		}
	},
	Slot: slot,
	ProfileApart: func(t *trial) {
		if v, ok := t.see("profile_spread_s", false); ok && v > ProfileSpread.Seconds() {
			t.close("profile_spread_s", "the last profile began %v after the first", since(v).Round(time.Millisecond))
		}
	},
	OtherLoad: func(t *trial) {
		t.sides("_foreign_load", ForeignLoad, func(side string, v float64) string {
			return fmt.Sprintf("others ran on the %s's cores for %.2f of a core, more than %.2f", side, v, ForeignLoad)
		})
	},
	Steal: func(t *trial) {
		t.sides("_steal", StealShare, func(side string, v float64) string {
			return fmt.Sprintf("%.1f %% of the %s's cores' time was stolen, more than %.0f %%", v*100, side, StealShare*100)
		})
	},
	Throttled: func(t *trial) { t.none("throttled_s", true, "cores were held back for %.3f s") },
	Swap:      func(t *trial) { t.none("swap_pages", true, "%.0f pages were swapped") },
	Clock: func(t *trial) {
		if v, ok := t.see("clock_step_s", true); ok && v > ClockStep.Seconds() {
			t.close("clock_step_s", "the clock was set by %.3f s", v)
		}
	},
	// No other gate needs it, but the trial's bound depends on it.
	NoTelemetry: func(t *trial) { t.see("client_thread_busy_max", true) },
}

// counted tells whether the generator counts connections that fail.
func (t *trial) counted() bool { return t.Generator != setting.Sink && t.Generator != setting.Readers }

// see gives a figure. NaN counts as missing.
func (t *trial) see(metric string, needed bool) (v float64, ok bool) {
	v, ok = t.figures[metric]
	if ok = ok && !math.IsNaN(v); !ok && needed {
		t.found = append(t.found, Finding{Gate: t.gate, Metric: metric})
	}
	return v, ok
}

func (t *trial) close(metric, format string, args ...any) {
	t.found = append(t.found, Finding{t.gate, metric, fmt.Sprintf(format, args...)})
}

// none closes the gate on any figure above 0.
func (t *trial) none(metric string, needed bool, format string) {
	if v, ok := t.see(metric, needed); ok && v > 0 {
		t.close(metric, format, v)
	}
}

// Sides are the prefixes of the two sides in names of metrics.
var Sides = []string{"server", "client"}

// sides compares the figures of both sides with one limit. If both sides share
// their cores, the two figures are of the same cores.
func (t *trial) sides(suffix string, most float64, say func(side string, v float64) string) {
	for _, side := range Sides {
		if v, ok := t.see(side+suffix, true); ok && v > most {
			t.close(side+suffix, "%s", say(side, v))
		}
	}
}

func (t *trial) claimed(metric string) bool { return slices.Contains(t.Claimed, metric) }

// little compares rate times mean latency with the requests that a closed loop
// keeps in flight. A window's latencies are those of requests sent within it, so
// they lack what was in flight at its begin, and have all of what was in flight at
// its end. This explains a difference of up to the mean latency over the window.
func little(t *trial) {
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
		t.close(metric, "rate times mean latency is %.0f to %.0f requests, %.0f were kept in flight", rps*low, rps*high,
			asked)
	}
}

// slot checks all slots of a trial by the one that is furthest off.
func slot(t *trial) {
	if t.SlotS == 0 {
		return
	}
	if n, ok := t.see("slots", true); ok && n < float64(t.Rounds) {
		t.close("slots", "%.0f slots of %d", n, t.Rounds)
	}
	if n, ok := t.see("slot_requests_least", true); ok && n < 1 {
		t.close("slot_requests_least", "no request was answered in one of the slots")
	}
	if v, ok := t.see("slot_server_busy_max", false); ok && v > SlotBusy {
		t.close("slot_server_busy_max", "the server used %.2f times its cores' time in one of the slots", v)
	}
}

func since(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second)).Round(time.Nanosecond)
}
