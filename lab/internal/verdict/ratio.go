package verdict

import (
	"fmt"
	"math"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A ratio claim wants the last level over the first at least, or at most, at its bar.
type ratio struct{ comparing }

func (ratio) criterion(c experiment.Claim) string {
	what := words.Metric(c.Metric)
	said := fmt.Sprintf("%s at the last level of %s over that at the first is %s", what, words.Setting(c.Over),
		bars(c, words.Number))
	if two := c.Compared(); two != nil {
		said = fmt.Sprintf("%s where %s is %s, over that where it is %s, is %s", what, words.Setting(c.Over),
			words.Level(two[1]), words.Level(two[0]), bars(c, words.Number))
	}
	return said
}

func (ratio) pairs(c experiment.Claim, n int) []pair {
	if n < 2 {
		return nil
	}
	within := band{0, math.Inf(1)}
	if c.AtMost != nil {
		within.high = *c.AtMost
	}
	if c.AtLeast != nil {
		within.low = *c.AtLeast
	}
	return []pair{{n - 1, 0, within}}
}

func (k ratio) decide(rec *record, c experiment.Claim) (finding, error) {
	return rec.decideRatios(c, k)
}
