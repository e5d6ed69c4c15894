package verdict

import (
	"fmt"
	"maps"
	"slices"

	"github.com/line-rate/line-rate/lab/confseq"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// ControlAlpha is the probability that a record's A/A control is said to differ
// where nothing differs, over all metrics and any number of blocks. It is
// smaller than the error of verdicts, because a control that differs leaves no
// claim decided.
const ControlAlpha = 0.01

// evaluateControl compares the A/A controls of a record's runs with the
// conditions that they repeat, in the two metrics that every experiment rests
// on and in those of the last run's ratio claims. It is nil where no run has a
// control.
func (d *decider) evaluateControl() *Control {
	runs := strict.Filter(d.like(), func(s *source) bool { return s.control != nil && len(s.Trials) > 0 })
	if len(runs) == 0 {
		return nil
	}
	newest := runs[len(runs)-1]
	out := &Control{Of: newest.control.ControlOf, Condition: newest.summary(*newest.control)}
	var found []*comparison
	for _, name := range d.controlled() {
		var blocks []block
		for _, s := range runs {
			for _, n := range slices.Sorted(maps.Keys(s.valid[s.control.ID])) {
				again, of := s.valid[s.control.ID][n], s.valid[s.control.ControlOf][n]
				if has(again, name) && has(of, name) {
					blocks = append(blocks, block{of: s, number: n, trials: []results.Trial{again, of}})
				}
			}
		}
		visited(blocks)
		c, err := compare(Effect{Metric: name}, band{1, 1}, blocks, make([]blindness, len(blocks)),
			func(b block) (x, y results.Reading) {
				x, _ = b.of.Reading(b.trials[0], name)
				y, _ = b.of.Reading(b.trials[1], name)
				return x, y
			})
		// Figures of 0 and unrecorded metrics have no ratio. No claim can be decided
		// by such a metric.
		if err == nil && len(blocks) > 0 {
			found = append(found, c)
		}
	}
	for _, c := range found {
		c.settle(ControlAlpha / max(1, float64(len(found))))
		// A control has no claim, so it has no band and nothing to decide.
		c.effect.BandLow, c.effect.BandHigh, c.effect.VisitsNeeded = 0, 0, 0
		c.effect.For, c.effect.Against, c.effect.EFor = 0, 0, 0
		c.effect.print()
		out.Effects = append(out.Effects, c.effect)
	}
	out.judge(found)
	return out
}

// controlled names the metrics in which the control is compared.
func (d *decider) controlled() []string {
	names := []string{"server_cpu_per_request_s", "throughput_rps"}
	for _, c := range d.last.then.Claims {
		if isRatio(c.Kind) && !slices.Contains(names, c.Metric) {
			names = append(names, c.Metric)
		}
	}
	return names
}

// judge says whether any of the comparisons differs. The error is
// divided over the comparisons and the two directions, up and down.
func (c *Control) judge(found []*comparison) {
	for _, one := range found {
		for side, e := range one.edges {
			if differsBy(e, len(found)) {
				c.Outcome = Differs
				c.Reason = fmt.Sprintf("its A/A control differed (%s; %d of %d blocks lie %s 1)", one.figures(), e.beyond, e.all,
					[2]string{"below", "above"}[side])
				return
			}
		}
	}
	if n := c.least(); n < stats.MinSamples {
		c.Outcome = Undecided
		c.Reason = fmt.Sprintf("only %d visits have its A/A control complete, and %d are the least", n, stats.MinSamples)
		return
	}
	c.Outcome, c.Reason = Same, fmt.Sprintf("no difference seen in %s; %s", words.Count(len(found), "metric"),
		found[0].figures())
}

// differsBy tells whether one metric differs in one direction. The error is
// divided by the number of metrics and by two for the directions.
func differsBy(side votes, metrics int) bool {
	return side.first.all >= stats.MinSamples &&
		confseq.Shown(side.first.beyond, side.first.all, ControlAlpha/float64(2*metrics))
}

// least is the smallest number of visits of a comparison.
func (c *Control) least() int {
	if len(c.Effects) == 0 {
		return 0
	}
	return slices.MinFunc(c.Effects, func(a, b Effect) int { return a.Visits - b.Visits }).Visits
}
