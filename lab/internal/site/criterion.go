package site

import (
	"fmt"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// criterionOf says in words what makes a claim hold, to continue "holds if".
func criterionOf(c experiment.Claim) string {
	said, what, over := "", words.Metric(c.Metric), setting.Phrase(c.Over)
	levels := strict.Map(c.Compared(), setting.LevelPhrase)
	switch c.Kind {
	case experiment.Flat:
		which := "levels of " + over
		if levels != nil {
			which = fmt.Sprintf("of the levels %s of %s", words.List(levels), over)
		}
		said = fmt.Sprintf("between any two %s, %s at the one is at most %s above that at the other", which, what, words.Percent(*c.Margin))
	case experiment.Ratio:
		at, base := fmt.Sprintf("at the last level of %s", over), "over that at the first is"
		if levels != nil {
			at, base = fmt.Sprintf("where %s is %s,", over, levels[1]), fmt.Sprintf("over that where it is %s, is", levels[0])
		}
		said = fmt.Sprintf("%s %s %s %s", what, at, base, barsOf(c, words.Number))
	case experiment.Monotonic:
		if levels != nil {
			over += " from " + strings.Join(levels, " to ")
		}
		said = fmt.Sprintf("at no step of %s was %s more than %s higher on the level before, and the last is above the first", over, what,
			words.Percent(*c.Margin))
	case experiment.Bound:
		said = words.Resource(c.Bound) + " alone is the bottleneck of most blocks"
	case experiment.Share:
		doc := profile.Kind(c.Profile).Doc()
		said = fmt.Sprintf("the %s gives %s %s of its %s", doc.Name, c.Subject(), barsOf(c, words.Percent), doc.Per)
	case experiment.Value:
		m, _ := metric.Lookup(c.Metric)
		said = fmt.Sprintf("%s is %s", what, barsOf(c, func(v float64) string { return words.Figure(string(m.Unit), v, nil, nil) }))
	}
	if at := setting.LimitTo(c.Where()); at != "" {
		return at + ", " + said
	}
	return said
}

// barsOf says what a claim's bars ask for.
func barsOf(c experiment.Claim, print func(float64) string) string {
	low, high := c.Edges()
	switch {
	case c.Equals != "" && c.More() != 0:
		return fmt.Sprintf("the level set for %s plus %d", setting.Phrase(c.Equals), c.More())
	case c.Equals != "":
		return "the level set for " + setting.Phrase(c.Equals)
	case low == high:
		return print(low)
	case c.AtMost == nil:
		return "at least " + print(low)
	case c.AtLeast == nil:
		return "at most " + print(high)
	}
	return "at least " + print(low) + " and at most " + print(high)
}

// needsOf says a claim's preconditions in words; empty without any.
func needsOf(n experiment.Needs) string {
	var out []string
	if n.Bound != "" {
		out = append(out, words.Resource(n.Bound)+" as the bottleneck")
	}
	if n.LineRate {
		out = append(out, "a wire of known line rate")
	}
	if n.Cores > 0 {
		out = append(out, fmt.Sprintf("at least %d cores", n.Cores))
	}
	return words.List(out)
}
