package verdict

import (
	"fmt"
	"math"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A flat claim wants the ratio of any two levels within its margin.
type flat struct{ comparing }

func (flat) criterion(c experiment.Claim) string {
	what := metricPhrase(c.Metric)
	return fmt.Sprintf("between any two %s, %s at the one is at most %s above that at the other", levelsWords(c), what,
		words.Percent(*c.Margin))
}

// blind refuses a trial that says what the client can do where the server limited it.
func (k flat) blind(c experiment.Claim, s *source, t results.Trial) blindness {
	if c.About == experiment.AboutClient && !s.Walls(t).Room(gate.BoundServerCPU) {
		return serverWall
	}
	return k.comparing.blind(c, s, t)
}

func (flat) pairs(c experiment.Claim, n int) (all []pair) {
	for b := range n {
		for a := b + 1; a < n; a++ {
			all = append(all, pair{a, b, band{1 / (1 + *c.Margin), 1 + *c.Margin}})
		}
	}
	return all
}

// levelsWords names the levels that a claim compares, any with any.
func levelsWords(c experiment.Claim) string {
	if c.Compared() == nil {
		return "levels of " + setting.Phrase(c.Over)
	}
	levels := words.List(strict.Map(c.Compared(), setting.LevelPhrase))
	return fmt.Sprintf("of the levels %s of %s", levels, setting.Phrase(c.Over))
}

// A ratio claim wants the last level over the first at least, or at most, at its bar.
type ratio struct{ comparing }

func (ratio) criterion(c experiment.Claim) string {
	what := metricPhrase(c.Metric)
	said := fmt.Sprintf("%s at the last level of %s over that at the first is %s", what, setting.Phrase(c.Over),
		bars(c, words.Number))
	if two := c.Compared(); two != nil {
		said = fmt.Sprintf("%s where %s is %s, over that where it is %s, is %s", what, setting.Phrase(c.Over),
			setting.LevelPhrase(two[1]), setting.LevelPhrase(two[0]), bars(c, words.Number))
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

// A monotonic claim wants no step to fall by more than its margin, and the last level
// above the first.
type monotonic struct{ comparing }

func (monotonic) criterion(c experiment.Claim) string {
	what := metricPhrase(c.Metric)
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

// stepsWords names the levels that a claim compares, each with the one before.
func stepsWords(c experiment.Claim) string {
	if c.Compared() == nil {
		return setting.Phrase(c.Over)
	}
	return fmt.Sprintf("%s from %s", setting.Phrase(c.Over), strings.Join(strict.Map(c.Compared(), setting.LevelPhrase), " to "))
}
