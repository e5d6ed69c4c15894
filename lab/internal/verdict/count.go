package verdict

import (
	"fmt"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A count claim says that a count is a number, the level of a setting, or a number more than that.
type count struct{ plain }

func (count) criterion(c experiment.Claim) string {
	if c.Equals == "" {
		return fmt.Sprintf("in every trial the count of %s is %d", metricPhrase(c.Metric), c.More())
	}
	said := fmt.Sprintf("in every trial the count of %s is the level set for %s", metricPhrase(c.Metric),
		setting.Phrase(c.Equals))
	if c.More() != 0 {
		said += fmt.Sprintf(" plus %d", c.More())
	}
	return said
}

func (count) recorded(c experiment.Claim, t results.Trial) bool { return has(t, c.Metric) }

func (count) bets() bool { return false }

// decide compares a count with a level, exactly, in every trial of every
// block that can tell. One wrong count refutes the claim.
func (count) decide(rec *record, c experiment.Claim) (finding, error) {
	conds := strict.Filter(rec.holding(c), func(levels setting.Levels) bool {
		_, ok := rec.fixed.With(levels)[c.Equals].Int()
		return ok || c.Equals == ""
	})
	f := finding{}
	if len(conds) == 0 {
		return f, fmt.Errorf("the run does not say its %s, with which %s is compared", setting.Phrase(c.Equals),
			metricPhrase(c.Metric))
	}
	f.seen = rec.look(c, rec.begun(conds))
	trials, odd := 0, ""
	v := f.seen.votes(func(b block) (inside, beyond bool) {
		exact := true
		for _, levels := range conds {
			want, _ := rec.fixed.With(levels)[c.Equals].Int()
			want += c.More()
			got, ok := b.of.at(levels)[b.number].Metrics[c.Metric]
			if !ok {
				continue
			}
			trials++
			if got != float64(want) {
				exact = false
				if odd == "" {
					odd = fmt.Sprintf("%s, the count of %s was %v, not %d", setting.LimitTo(levels), metricPhrase(c.Metric), got, want)
				}
			}
		}
		return exact, !exact
	})
	f.concludeStrictly(v, odd, fmt.Sprintf("the count is exact in all of %d trials", trials))
	return f, nil
}
