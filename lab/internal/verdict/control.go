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
// number of blocks. It is smaller than the error of verdicts, because a control that differs leaves no claim decided.
const ControlAlpha = 0.01

// control compares the A/A controls of a record's runs with the conditions that they repeat, in the two metrics that
// every experiment rests on and in those of the last run's ratio claims. It is nil where no run has a control.
func (d *decider) control() *Control {
	runs := strict.Filter(d.like(), func(s *source) bool { return s.control != nil && len(s.Trials) > 0 })
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
				m.add(ratioOf(again, of), b.first)
			}
		}
		if len(m.all) > 0 {
			found = append(found, m)
		}
	}
	least := 0
	for i, m := range found {
		if m.settle(ControlAlpha / float64(len(found))); m.verdict == Refuted { // 1 lies outside of its interval
			return &Control{Differs, "its A/A control differed in " + m.figures(experiment.Claim{})}
		}
		if i == 0 || len(m.bets) < least {
			least = len(m.bets)
		}
	}
	if least < stats.MinSamples {
		return &Control{Undecided, fmt.Sprintf("only %d visits have its A/A control complete, and %d are the least", least,
			stats.MinSamples)}
	}
	return &Control{Same, fmt.Sprintf("no difference seen in %s; %s", words.Count(len(found), "metric"),
		found[0].figures(experiment.Claim{}))}
}
