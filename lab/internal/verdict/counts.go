package verdict

import (
	"fmt"
	"math"

	"github.com/line-rate/line-rate/lab/internal/experiment"
)

// evaluateCount holds a count against a level, exactly, in every trial.
func (d *decider) evaluateCount(c experiment.Claim) (finding, error) {
	f := finding{verdict: Reproduced, points: true, pairs: math.MaxInt}
	all := 0
	var odd string
	for _, cond := range d.conds {
		l, ok := d.r.Settings.With(cond.Levels)[c.Equals]
		want, isNumber := l.Int()
		if !ok || !isNumber {
			continue
		}
		n := 0
		for _, b := range blocksOf(d.valid[cond.ID]) {
			got, ok := d.valid[cond.ID][b].Metrics[c.Metric]
			if !ok {
				continue
			}
			n++
			if got != float64(want+c.Plus) && odd == "" {
				odd = fmt.Sprintf("%s was %v at %s, not %d", c.Metric, got, cond.Levels.Key(), want+c.Plus)
			}
		}
		// A condition that lost its trials counts as no block at all, so that
		// the claim cannot pass without it.
		if d.holds(cond.ID, c.Metric) {
			all += n
			f.pairs = min(f.pairs, n)
		}
	}
	if f.pairs == math.MaxInt {
		return f, incomparable{fmt.Sprintf("the run does not say its %s, which %s is held against", c.Equals, c.Metric)}
	}
	f.why = fmt.Sprintf("exact in all of %d trials", all)
	if odd != "" {
		f.verdict, f.points, f.why = Refuted, false, odd
	}
	return f, nil
}
