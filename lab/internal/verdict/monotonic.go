package verdict

import (
	"fmt"
	"math"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A monotonic claim wants no step to fall by more than its margin, and the last level
// above the first.
type monotonic struct{ comparing }

func (monotonic) criterion(c experiment.Claim) string {
	what := words.Metric(c.Metric)
	return fmt.Sprintf("at no step of %s was %s more than %s higher on the level before, and the last is above the first",
		stepsWords(c), what, words.Percent(*c.Margin))
}

func (monotonic) pairs(c experiment.Claim, n int) (all []pair) {
	for b := 0; b+1 < n; b++ {
		all = append(all, pair{b + 1, b, band{1 / (1 + *c.Margin), math.Inf(1)}})
	}
	if n > 1 {
		all = append(all, pair{n - 1, 0, band{1, math.Inf(1)}})
	}
	return all
}

func (k monotonic) decide(rec *record, c experiment.Claim) (finding, error) {
	return rec.decideRatios(c, k)
}

// stepsWords names the levels that a claim compares, each with the one before.
func stepsWords(c experiment.Claim) string {
	if c.Compared() == nil {
		return words.Setting(c.Over)
	}
	return fmt.Sprintf("%s from %s", words.Setting(c.Over), strings.Join(strict.Called(c.Compared(), words.Level), " to "))
}
