package verdict

import (
	"fmt"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A flat claim wants the ratio of any two levels within its margin.
type flat struct{ comparing }

func (flat) criterion(c experiment.Claim) string {
	what := words.Metric(c.Metric)
	return fmt.Sprintf("between any two %s, %s at the one is at most %s above that at the other", levelsWords(c), what,
		words.Percent(*c.Margin))
}

// blind refuses a trial that says what the client can do where the server limited it.
func (k flat) blind(c experiment.Claim, s *source, t results.Trial) blindness {
	if c.About == experiment.AboutClient && !s.Evidence(t).Walls().Room(gate.BoundServerCPU) {
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

func (k flat) decide(rec *record, c experiment.Claim) (finding, error) { return rec.decideRatios(c, k) }

// levelsWords names the levels that a claim compares, any with any.
func levelsWords(c experiment.Claim) string {
	if c.Compared() == nil {
		return "levels of " + words.Setting(c.Over)
	}
	levels := words.List(strict.Called(c.Compared(), words.Level))
	return fmt.Sprintf("of the levels %s of %s", levels, words.Setting(c.Over))
}
