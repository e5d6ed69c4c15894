package verdict

import (
	"fmt"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Criterion says in words what makes a claim hold, to continue "holds if".
func Criterion(c experiment.Claim) string {
	said := ""
	what := words.Metric(c.Metric)
	switch c.Kind {
	case experiment.Flat:
		said = fmt.Sprintf("between any two %s, %s at the one is at most %s above that at the other", levelsWords(c), what, words.Percent(*c.Margin))
	case experiment.Monotonic:
		said = fmt.Sprintf("at no step of %s was %s more than %s higher on the level before, and the last is above the first", stepsWords(c), what, words.Percent(*c.Margin))
	case experiment.Ratio:
		said = fmt.Sprintf("%s at the last level of %s over that at the first is %s", what, words.Setting(c.Over), bars(c, words.Number))
		if two := c.Compared(); two != nil {
			said = fmt.Sprintf("%s where %s is %s, over that where it is %s, is %s", what, words.Setting(c.Over), words.Level(two[1]), words.Level(two[0]), bars(c, words.Number))
		}
	case experiment.Bound:
		said = fmt.Sprintf("%s alone is full in every trial", words.Wall(c.Bound))
	case experiment.Moves:
		said = fmt.Sprintf("%s alone is full at the first level of %s, and %s alone at the last; between the two the use of the one falls, and that of the other rises, by at least %s of what it can carry",
			words.Wall(c.From), words.Setting(c.Over), words.Wall(c.To), words.Percent(*c.Margin))
	case experiment.Count:
		said = fmt.Sprintf("in every trial the count of %s is the level set for %s", what, words.Setting(c.Equals))
		if c.Plus != 0 {
			said += fmt.Sprintf(" plus %d", c.Plus)
		}
	case experiment.Share:
		said = fmt.Sprintf("the %s gives %s %s of its %s", words.Profile(c.Profile), subject(c), bars(c, words.Percent), words.ProfilePer(c.Profile))
	case experiment.Absent:
		said = fmt.Sprintf("the %s has no sample of %s", words.Profile(c.Profile), c.Package)
	}
	if at := words.Where(c.Where()); at != "" {
		said = at + ", " + said
	}
	return said
}

// levelsWords names the levels that a claim compares, any with any.
func levelsWords(c experiment.Claim) string {
	if c.Compared() == nil {
		return "levels of " + words.Setting(c.Over)
	}
	return fmt.Sprintf("of the levels %s of %s", words.List(words.Levels(c.Compared())), words.Setting(c.Over))
}

// stepsWords names the levels that a claim compares, each with the one before.
func stepsWords(c experiment.Claim) string {
	if c.Compared() == nil {
		return words.Setting(c.Over)
	}
	return fmt.Sprintf("%s from %s", words.Setting(c.Over), strings.Join(words.Levels(c.Compared()), " to "))
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

// subject is the package or the kind of work that a claim about a profile is
// about.
func subject(c experiment.Claim) string {
	switch work := profiles.Work(c.Work); work {
	case "":
		return c.Package
	case profiles.WorkProfiler, profiles.WorkHandling:
		return "the " + c.Work
	case profiles.WorkServing:
		return "HTTP"
	case profiles.WorkCollector:
		return "garbage collection"
	case profiles.WorkScheduler:
		return "scheduling"
	case profiles.WorkWait:
		return "waiting"
	case profiles.WorkWrite:
		return "writing"
	case profiles.WorkRead:
		return "reading"
	case profiles.WorkLock:
		return "locks"
	}
	return c.Work
}
