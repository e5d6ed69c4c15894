package verdict

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

// Criterion says in words what makes a claim hold, to continue "holds if".
func Criterion(c experiment.Claim) string {
	what, over, where := words.Metric(c.Metric), setting.Phrase(c.Over), ""
	if at := setting.LimitTo(c.Where); at != "" {
		where = at + ", "
	}
	levels := strict.Map(c.Compared, setting.LevelPhrase)
	all := "all levels of " + over
	if levels != nil {
		all = fmt.Sprintf("the levels %s of %s", words.List(levels), over)
	}
	switch c.Kind {
	case experiment.Flat:
		return fmt.Sprintf("%sbetween any two of %s, %s at the one is at most %s above that at the other", where, all, what,
			words.Percent(*c.Margin))
	case experiment.Monotonic:
		return fmt.Sprintf("%sfrom step to step of %s, %s falls by at most %s, and the last is above the first", where, all, what,
			words.Percent(*c.Margin))
	case experiment.Bound:
		return where + words.Resource(c.Bound) + " alone is the bottleneck of most blocks"
	case experiment.Share:
		doc := profile.Kind(c.Profile).Doc()
		return fmt.Sprintf("%sthe %s gives %s %s of its %s", where, doc.Name, c.Subject(), barsOf(c, words.Percent), doc.Per)
	case experiment.Value:
		m, _ := metric.Lookup(c.Metric)
		print := func(v float64) string { return words.Figure(string(m.Unit), v) }
		return fmt.Sprintf("%s%s is %s", where, what, barsOf(c, print))
	}
	if levels == nil {
		levels = []string{"at its first", "at its last level"}
	}
	return fmt.Sprintf("%s%s where %s is %s, over that where it is %s, is %s", where, what, over, levels[1], levels[0],
		barsOf(c, words.Number))
}

// barsOf says what a claim's bars ask for.
func barsOf(c experiment.Claim, print func(float64) string) string {
	low, high := c.Edges()
	switch {
	case c.Equals != "":
		return strings.TrimSuffix(fmt.Sprintf("the level set for %s plus %d", setting.Phrase(c.Equals), c.Plus), " plus 0")
	case low == high:
		return print(low)
	case c.AtMost == nil:
		return "at least " + print(low)
	case c.AtLeast == nil:
		return "at most " + print(high)
	}
	return "at least " + print(low) + " and at most " + print(high)
}

// Needs says a claim's preconditions in words; empty without any.
func Needs(n experiment.Needs) string {
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
