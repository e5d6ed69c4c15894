package verdict

import (
	"fmt"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Criterion says in words what makes a claim hold, to continue "holds if".
func Criterion(c experiment.Claim) string {
	said := kinds[c.Kind].criterion(c)
	if at := words.Where(c.Where()); at != "" {
		said = at + ", " + said
	}
	return said
}

// NeedsWords says a claim's preconditions in words; empty without any.
func NeedsWords(n experiment.Needs) string {
	var out []string
	if n.Bound != "" {
		out = append(out, fmt.Sprintf("%s full in every trial", words.Wall(n.Bound)))
	}
	if n.LineRate {
		out = append(out, "a wire of known line rate")
	}
	if n.Cores > 0 {
		out = append(out, fmt.Sprintf("at least %d cores", n.Cores))
	}
	return words.List(out)
}

// bars says a claim's bar, or both of a share.
func bars(c experiment.Claim, print func(float64) string) string {
	var out []string
	if c.AtLeast != nil {
		out = append(out, "at least "+print(*c.AtLeast))
	}
	if c.AtMost != nil {
		out = append(out, "at most "+print(*c.AtMost))
	}
	return words.List(out)
}
