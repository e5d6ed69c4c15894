package verdict

import (
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// ControlAlpha is the probability that a record's A/A control differs by chance alone, over all metrics and any
// number of blocks. It is smaller than the error of verdicts, because a control that differs takes decisions away.
const ControlAlpha = 0.01

// control compares the A/A controls of a record's runs with the conditions that they repeat, in the two metrics that
// every experiment rests on and in those of the last run's ratio claims. It is nil where no run has a control.
func (d *decider) control() *Control {
	runs := strict.Filter(d.like, func(s *source) bool { return s.control != nil && len(s.Trials) > 0 })
	if len(runs) == 0 {
		return nil
	}
	names := []string{"server_cpu_per_request_s", "throughput_rps"}
	for _, c := range d.last.then.Claims {
		if c.Form() == experiment.RatioForm && c.Metric != "" && !slices.Contains(names, c.Metric) {
			names = append(names, c.Metric)
		}
	}
	var found []*comparison
	for _, name := range names {
		m := &comparison{metric: name, b: setting.Levels{}, band: band{1, 1}}
		for _, b := range begun(runs) {
			again, _ := b.of.Reading(b.of.valid[b.of.control.ID][b.number], name)
			of, _ := b.of.Reading(b.of.valid[b.of.control.ControlOf][b.number], name)
			// Figures of 0 and unrecorded ones have no ratio. They decide no claim.
			if again.High > 0 && of.High > 0 {
				m.all = append(m.all, ratioOf(again, of))
			}
		}
		if len(m.all) > 0 {
			found = append(found, m)
		}
	}
	least, reach, differs := 0, 1.0, ""
	for i, m := range found {
		m.settle(ControlAlpha / float64(len(found)))
		if by := max(m.high, 1/m.low); m.verdict == Refuted && by > reach { // 1 lies outside of its interval
			reach, differs = by, "its A/A control differed in "+m.figures(experiment.Claim{})
		}
		if i == 0 || len(m.all) < least {
			least = len(m.all)
		}
	}
	if differs != "" {
		return &Control{differs, reach}
	}
	if least < stats.MinSamples {
		return &Control{fmt.Sprintf("only %d blocks have its A/A control complete, and %d are the least", least,
			stats.MinSamples), 0}
	}
	return &Control{fmt.Sprintf("no difference seen in %s; %s", words.Count(len(found), "metric"),
		found[0].figures(experiment.Claim{})), 1}
}

// allows tells whether the control leaves a claim decided. One that differs shows how far two conditions may lie
// apart with nothing between them, so each interval that decides has to keep its side if it is that much wider. A
// bottleneck and a count compare no figures of conditions.
func (c *Control) allows(v Verdict, all []*comparison) bool {
	keeps := func(m *comparison) bool {
		switch low, high := m.low/c.Reach, m.high*c.Reach; {
		case m.a == nil, m.band.low == m.band.high:
			return m.verdict == v
		case v == Confirmed:
			return m.band.inside(low, high)
		default:
			return m.band.beyond(low, high)
		}
	}
	switch {
	case c.Reach <= 1:
		return c.Reach == 1
	case v == Confirmed:
		return !slices.ContainsFunc(all, func(m *comparison) bool { return !keeps(m) })
	}
	return slices.ContainsFunc(all, keeps)
}
