package verdict

import (
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/stats"
)

// evaluateControl holds the run's A/A control against the condition it repeats:
// by the two metrics that every experiment rests on, and by those of its claims
// about ratios. They are corrected together, since any of them makes the run
// suspect. It is nil where the run has no control.
func (d *decider) evaluateControl(full bool) *Control {
	if d.control == nil || len(d.r.Trials) == 0 {
		return nil
	}
	out := &Control{Of: d.control.ControlOf, Condition: d.summary(*d.control)}
	var found finding
	for _, name := range d.controlled() {
		as, bs := d.paired(name, d.control.ID, out.Of)
		c, err := compare(Effect{Metric: name}, name, as, bs, 1, 1)
		// Figures of nought have no ratio, and a metric that was not recorded
		// has none either; a claim that rests on one is not decided by it.
		if err == nil && len(as) > 0 {
			c.effect.BandLow, c.effect.BandHigh, c.effect.PInside = 0, 0, nil
			found.comparisons = append(found.comparisons, c)
		}
	}
	if full {
		found.prepare(len(found.comparisons), 0)
	}
	out.Effects, _ = found.effects(full)
	for i := range out.Effects { // nothing was claimed that blocks could decide
		out.Effects[i].BlocksNeeded, out.Effects[i].BlocksOver = 0, 0
	}
	out.Outcome, out.Reason = found.control()
	if out.Outcome == Undecided {
		out.Reason = fmt.Sprintf("only %d blocks have its A/A control complete, and %d are the least", found.least(), stats.MinSamples)
	}
	return out
}

// controlled names the metrics that a control is held to.
func (d *decider) controlled() []string {
	names := []string{"server_cpu_per_request_s", "throughput_rps"}
	for _, c := range d.x.Claims {
		if c.Kind != experiment.Bound && c.Kind != experiment.Count && !slices.Contains(names, c.Metric) {
			names = append(names, c.Metric)
		}
	}
	return names
}

// control tells whether any of the comparisons differs, both witnesses agreeing.
func (f *finding) control() (Outcome, string) {
	var ps []float64
	for _, c := range f.comparisons {
		ps = append(ps, c.outside)
	}
	for i, p := range stats.Holm(ps) {
		if c := f.comparisons[i]; p <= stats.Alpha && c.interval() == Refuted {
			return Differs, fmt.Sprintf("its A/A control differed (%s %s)", c.name, c.figures())
		}
	}
	if f.least() < stats.MinSamples {
		return Undecided, ""
	}
	return Same, fmt.Sprintf("no difference seen in %d %s; %s %s", len(f.comparisons), plural(len(f.comparisons), "metric"), f.comparisons[0].name, f.comparisons[0].figures())
}

// least is the number of complete blocks of the comparison that has fewest.
func (f *finding) least() int {
	if len(f.comparisons) == 0 {
		return 0
	}
	return slices.MinFunc(f.comparisons, func(a, b comparison) int { return a.effect.Pairs - b.effect.Pairs }).effect.Pairs
}
