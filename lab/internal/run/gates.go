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
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
)

// mayHavePassed reports whether a trial is invalid only because of possible passing
// disturbances of the machine, and of gates that such disturbances close too. A
// run goes on for longer through these than with a server that dies or answers
// wrongly.
func (p Plan) mayHavePassed(t results.Trial) bool {
	found := false
	for _, r := range t.Reasons {
		g, ok := gate.Of(r.Gate)
		switch {
		case p.unread() && r.Gate == gate.NoRequests: // the network in between may have been down for a slot
		case ok && g.Kind == gate.Passing:
			found = true
		case !ok || g.Kind == gate.Fault:
			return false
		}
	}
	return found
}

// A failer records a reason for which a trial is invalid, under a gate's name
// from package gate. Gates do not know the trial's condition, or whether its
// figure suits a claim.
type failer func(name, format string, args ...any)

// faults are the faults in the load generator's output. A rate that was not met
// is no fault where the trial is meant to overload the server.
func (l load) faults(r *generator.Result) []generator.Fault {
	return slices.DeleteFunc(slices.Clone(r.Faults),
		func(f generator.Fault) bool { return l.asked.Overload && f.Gate == gate.RateShort })
}

// shut closes the gates that judge a trial's figures, except those in said,
// which are closed already.
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
	if l.outside == nil {
		missing(found, fail)
	}
}

// missing closes one gate for each figure that a gate needs and that was not
// recorded.
func missing(found []gate.Finding, fail failer) {
	said := map[string]bool{}
	for _, f := range found {
		if f.Missing() && !said[f.Metric] {
			said[f.Metric] = true
			fail(gate.NoTelemetry, "%s was not seen in the measured window", f.Metric)
		}
	}
}

// cpusOf gives the cores of a metric's side; where the side has no cores of its
// own, those that both sides share.
func (l load) cpusOf(metric string) []int {
	server, client := l.split.On()
	if strings.HasPrefix(metric, "server") {
		return server
	}
	return client
}

// busiest is the other process that used most of the cores.
func busiest(others []telemetry.Load, cpus []int) stranger {
	o, _ := strict.First(others, func(o telemetry.Load) bool { return slices.Contains(cpus, o.Core) })
	return stranger{o}
}

// A stranger is a process that is not the load's. A file has its name only if it
// is listed in package gate.
type stranger struct{ telemetry.Load }

func (s stranger) String() string { return s.as(gate.Process(s.Name)) }

func (s stranger) as(name string) string {
	if s.Load == (telemetry.Load{}) {
		return "unknown"
	}
	return fmt.Sprintf("%s (%.2f)", name, s.Cores)
}

// apart closes the gates on profiles that were not taken within the load, not
// in one window, or not of all serving processes.
func (l load) apart(set *capture.Set, r loaded, fail failer) {
	if end := set.Started.Add(set.Window); set.Started.Before(r.start) || end.After(r.finish) {
		fail(gate.ProfileApart, "the profiles were taken from %s to %s, the load was on from %s to %s", clockOf(set.Started),
			clockOf(end), clockOf(r.start), clockOf(r.finish))
	}
	for _, f := range gate.Hold(gate.ProfileApart, map[string]float64{"profile_spread_s": set.Spread.Seconds()}, l.asked) {
		fail(f.Gate, "%s", f.Detail)
	}
	if want := max(l.workers, 1); set.Processes != want {
		fail(gate.ProfileFailed, "%d processes were profiled, %d serve", set.Processes, want)
	}
}

func clockOf(t time.Time) string { return t.UTC().Format("15:04:05.000") }

// slow closes the gate on a trial before or after which the core was slower
// than at its best in the block.
func slow(t *results.Trial, reference time.Duration) {
	var fail failer = func(name, format string, args ...any) {
		t.Valid = false
		t.Reasons = append(t.Reasons, results.Reason{Gate: name, Detail: fmt.Sprintf(format, args...)})
	}
	// A reference of 0 would mean one that is not known yet.
	found := gate.Hold(gate.SlowCore, t.Metrics, gate.Asked{ReferenceS: max(reference, 1).Seconds()})
	for _, f := range found {
		if !f.Missing() {
			fail(f.Gate, "%s", f.Detail)
		}
	}
	missing(found, fail)
}
