package run

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/autocannon"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/speed"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
)

// weather tells whether a trial is invalid only for what may be the machine's
// passing weather, and what that closes beside it. Such a trial is repeated.
// Others never are: that would hide a server that died or answered wrongly.
func weather(t results.Trial) bool {
	found := false
	for _, r := range t.Reasons {
		g, ok := gate.Of(r.Gate)
		switch {
		case ok && g.Kind == gate.Passing:
			found = true
		case !ok || g.Kind == gate.Fault:
			return false
		}
	}
	return found
}

// A failer takes the reasons for which a trial is invalid, by the names of
// package gate. None of them looks at how fast the trial was.
type failer func(name, format string, args ...any)

// faults are what the load generator's output has wrong with it. A rate that was
// not met is none where the trial is about just that.
func (l load) faults(r *generator.Result) []generator.Fault {
	return slices.DeleteFunc(slices.Clone(r.Faults), func(f generator.Fault) bool { return l.overload && f.Gate == gate.RateShort })
}

// gates closes those that look at the trial's figures. What was not seen
// closes a gate as well: it would otherwise stand open.
func (l load) gates(r *generator.Result, w telemetry.Window, m map[string]float64, fail failer) {
	if asked := m["asked_rate_rps"]; asked > 0 {
		m["answered_share"] = m["throughput_rps"] / asked
	}
	for _, f := range l.faults(r) {
		fail(f.Gate, "%s", f.Detail)
	}
	if o := r.Open; o != nil {
		m["send_lag_p99_s"] = o.SendLagP99S
		if !l.overload && o.SendLagP99S > gate.SendLag.Seconds() {
			fail(gate.SendLate, "the load generator itself sent a hundredth of its requests more than %.1f ms late", o.SendLagP99S*1e3)
		}
	}
	if seen := r.Finish.Sub(r.Start); math.Abs((seen - l.window).Seconds()) > max(gate.WindowOff*l.window.Seconds(), gate.WindowSlack.Seconds()) {
		fail(gate.Window, "the measured window was %.2f s, asked were %.2f s", seen.Seconds(), l.window.Seconds())
	}
	if w.WorkersMin < w.WorkersMax {
		fail(gate.LostWorker, "the server had %d workers at first and %d at last", w.WorkersMax, w.WorkersMin)
	}
	// Fewer than were asked for is for a claim to say; none is a look at the
	// wrong processes, and every figure of the server would be nought.
	if l.workers > 0 && w.WorkersMax == 0 {
		fail(gate.LostWorker, "none of the server's %d workers was seen", l.workers)
	}
	needed := []string{"workers", "connections_established", "swap_pages", "clock_step_s", "client_thread_busy_max"}
	for _, side := range l.sides() {
		needed = append(needed, side+"_steal", side+"_foreign_load")
	}
	for _, name := range needed {
		if _, ok := m[name]; !ok {
			fail(gate.NoTelemetry, "%s was not seen in the measured window", name)
		}
	}
	if n, ok := m["connections_established"]; ok && n < float64(l.connections) {
		fail(gate.Connections, "%.0f connections were established, asked were %d", n, l.connections)
	}
	for _, side := range l.sides() {
		if v := m[side+"_steal"]; v > gate.StealShare {
			fail(gate.Steal, "%.1f %% of the %s's cores' time was stolen, more than %.0f %%", v*100, side, gate.StealShare*100)
		}
		if v := m[side+"_foreign_load"]; v > gate.ForeignLoad {
			fail(gate.OtherLoad, "others ran on the %s's cores for %.2f of a core, more than %.2f; most of it %s", side, v, gate.ForeignLoad, busiest(w.Others, l.cpusOf(side)))
		}
	}
	if v := m["swap_pages"]; v > 0 {
		fail(gate.Swap, "%.0f pages were swapped", v)
	}
	if v := m["throttled_s"]; v > 0 {
		fail(gate.Throttled, "cores were held back for %.3f s", v)
	}
	if v := m["clock_step_s"]; v > gate.ClockStep.Seconds() {
		fail(gate.Clock, "the clock was set by %.3f s", v)
	}
	for _, side := range w.Stopped {
		fail(gate.Stopped, "a signal stopped the %s for a while", side)
	}
	if w.Gap > gate.StoodStill+l.window/5 {
		fail(gate.HeldUp, "nothing was sampled for %.1f s; the machine stood still", w.Gap.Seconds())
	}
	l.little(r, m, fail)
}

// little holds rate times mean latency against the requests that a closed loop
// keeps in flight. Requests in flight when the window ends are in no mean yet:
// that explains a shortfall of up to the mean latency over the window.
func (l load) little(r *generator.Result, m map[string]float64, fail failer) {
	if l.rate > 0 || l.generator == setting.Sink || m["requests"] == 0 {
		return // no closed loop
	}
	asked := float64(l.connections * l.pipelining)
	m["asked_in_flight"] = asked
	rps, low := m["throughput_rps"], m["latency_mean_s"]
	high := low
	if low > 0 {
		m["in_flight"] = rps * low
	} else {
		low, high = r.CutMeanS, r.CutMeanS+autocannon.Resolution
	}
	late := high / l.window.Seconds()
	if rps*high < asked*(1-gate.LittleOff-late) || rps*low > asked*(1+gate.LittleOff) {
		fail(gate.Little, "rate times mean latency is %.0f to %.0f requests, %.0f were kept in flight", rps*low, rps*high, asked)
	}
}

// sides are those whose cores are known: none where server and client are not
// kept apart.
func (l load) sides() []string {
	if len(l.split.Server) == 0 {
		return nil
	}
	return []string{"server", "client"}
}

func (l load) cpusOf(side string) []int {
	server, client := l.split.On()
	if side == "server" {
		return server
	}
	return client
}

func busiest(others []telemetry.Load, cpus []int) string {
	for _, o := range others {
		if slices.Contains(cpus, o.Core) {
			return fmt.Sprintf("%s (%.2f)", o.Name, o.Cores)
		}
	}
	return "unknown"
}

// slow closes the gate on a trial whose core was not at its own full speed
// before or after it, by the fastest calibration of the run so far.
func slow(t *results.Trial, reference time.Duration) {
	for _, when := range []string{"before", "after"} {
		s, ok := t.Metrics["calibration_"+when+"_s"]
		seen := time.Duration(s * float64(time.Second))
		if ok && speed.Slow(reference, seen) {
			t.Valid = false
			t.Reasons = append(t.Reasons, results.Reason{Gate: gate.SlowCore, Detail: fmt.Sprintf(
				"the server's core took %v for what it did in %v at its best, %s the trial", seen.Round(time.Nanosecond), reference.Round(time.Nanosecond), when)})
		}
	}
}
