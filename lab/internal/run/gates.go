package run

import (
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/capture"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
)

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
func (l load) shut(m map[string]float64, said map[string]bool, fail failer) {
	found := gate.Judge(m, l.asked)
	for _, f := range found {
		switch {
		case f.Missing() || said[f.Gate]:
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
