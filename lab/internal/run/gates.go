package run

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/capture"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
)

// weather tells whether a trial is invalid only for what may be the machine's
// passing weather, and what that closes beside it: a run goes on for longer through
// weather than with a server that dies or answers wrongly.
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
// package gate. None of them looks at which condition a trial is of, or at whether
// its figure suits a claim.
type failer func(name, format string, args ...any)

// faults are what the load generator's output has wrong with it. A rate that was
// not met is none where the trial is about just that.
func (l load) faults(r *generator.Result) []generator.Fault {
	return slices.DeleteFunc(slices.Clone(r.Faults), func(f generator.Fault) bool { return l.asked.Overload && f.Gate == gate.RateShort })
}

// shut closes gates by the table, which judges a trial's figures, but for those that
// were said already.
func (l load) shut(m map[string]float64, w telemetry.Window, said map[string]bool, fail failer) {
	found := gate.Judge(m, l.asked)
	for _, f := range found {
		switch {
		case f.Missing() || said[f.Gate]:
		case f.Gate == gate.OtherLoad:
			fail(f.Gate, "%s; most of it %s", f.Detail, busiest(w.Others, l.cpusOf(f.Metric)))
		default:
			fail(f.Gate, "%s", f.Detail)
		}
	}
	missing(found, fail)
}

// missing closes a gate on the figures that others look at and that were not
// there, each once.
func missing(found []gate.Finding, fail failer) {
	said := map[string]bool{}
	for _, f := range found {
		if f.Missing() && !said[f.Metric] {
			said[f.Metric] = true
			fail(gate.NoTelemetry, "%s was not seen in the measured window", f.Metric)
		}
	}
}

// cpusOf gives the cores that a metric of one side is of: those that both share,
// where it has none of its own.
func (l load) cpusOf(metric string) []int {
	server, client := l.split.On()
	if strings.HasPrefix(metric, "server") {
		return server
	}
	return client
}

// busiest names who used most of some cores.
func busiest(others []telemetry.Load, cpus []int) string {
	for _, o := range others {
		if slices.Contains(cpus, o.Core) {
			return fmt.Sprintf("%s (%.2f)", o.Name, o.Cores)
		}
	}
	return "unknown"
}

// apart closes the gates on profiles that are not of one window under load, or
// not of all the processes that serve.
func (l load) apart(set *capture.Set, r loaded, fail failer) {
	if end := set.Started.Add(set.Window); set.Started.Before(r.start) || end.After(r.finish) {
		fail(gate.ProfileApart, "the profiles were taken from %s to %s, the load was on from %s to %s", clockOf(set.Started), clockOf(end), clockOf(r.start), clockOf(r.finish))
	}
	for _, f := range gate.Hold(gate.ProfileApart, map[string]float64{"profile_spread_s": set.Spread.Seconds()}, l.asked) {
		fail(f.Gate, "%s", f.Detail)
	}
	if want := max(l.workers, 1); set.Processes != want {
		fail(gate.ProfileFailed, "%d processes were profiled, %d serve", set.Processes, want)
	}
}

func clockOf(t time.Time) string { return t.UTC().Format("15:04:05.000") }

// slow closes the gate on a trial whose core was slower before or after it than at
// its best of the block.
func slow(t *results.Trial, reference time.Duration) {
	var fail failer = func(name, format string, args ...any) {
		t.Valid = false
		t.Reasons = append(t.Reasons, results.Reason{Gate: name, Detail: fmt.Sprintf(format, args...)})
	}
	// A reference of nought would be one that is not known yet.
	found := gate.Hold(gate.SlowCore, t.Metrics, gate.Asked{ReferenceS: max(reference, 1).Seconds()})
	for _, f := range found {
		if !f.Missing() {
			fail(f.Gate, "%s", f.Detail)
		}
	}
	missing(found, fail)
}
