package verdict

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Criterion says in words what makes a claim hold, to continue "holds if".
func Criterion(c experiment.Claim) string {
	said := ""
	what := metricWords(c.Metric)
	switch c.Kind {
	case experiment.Flat:
		said = fmt.Sprintf("between any two %s, %s at the one is at most %s above that at the other", levelsWords(c), what, percent(*c.Margin))
	case experiment.Monotonic:
		said = fmt.Sprintf("at no step of %s was %s more than %s higher on the level before, and the last is above the first", stepsWords(c), what, percent(*c.Margin))
	case experiment.Ratio:
		said = fmt.Sprintf("%s at the last level of %s over that at the first is %s", what, factorWords(c.Over), bars(c, plainNumber))
		if two := c.Compared(); two != nil {
			said = fmt.Sprintf("%s where %s is %s, over that where it is %s, is %s", what, factorWords(c.Over), levelWords(two[1]), levelWords(two[0]), bars(c, plainNumber))
		}
	case experiment.Bound:
		said = fmt.Sprintf("%s alone is full in every trial", wallWords(c.Bound))
	case experiment.Moves:
		said = fmt.Sprintf("%s alone is full at the first level of %s, and %s alone at the last; between the two the use of the one falls, and that of the other rises, by at least %s of what it can carry",
			wallWords(c.From), factorWords(c.Over), wallWords(c.To), percent(*c.Margin))
	case experiment.Count:
		said = fmt.Sprintf("in every trial the count of %s is the level set for %s", what, factorWords(c.Equals))
		if c.Plus != 0 {
			said += fmt.Sprintf(" plus %d", c.Plus)
		}
	case experiment.Share:
		said = fmt.Sprintf("the %s gives %s %s of its %s", profileWords(c.Profile), subject(c), bars(c, percent), profilePer(c.Profile))
	case experiment.Absent:
		said = fmt.Sprintf("the %s has no sample of %s", profileWords(c.Profile), c.Package)
	}
	if at := where(c.Where()); at != "" {
		said = at + ", " + said
	}
	return said
}

// levelsWords names the levels that a claim compares, any with any.
func levelsWords(c experiment.Claim) string {
	if c.Compared() == nil {
		return "levels of " + factorWords(c.Over)
	}
	return fmt.Sprintf("of the levels %s of %s", list(levelNames(c.Compared())), factorWords(c.Over))
}

// stepsWords names the levels that a claim compares, each with the one before.
func stepsWords(c experiment.Claim) string {
	if c.Compared() == nil {
		return factorWords(c.Over)
	}
	return fmt.Sprintf("%s from %s", factorWords(c.Over), strings.Join(levelNames(c.Compared()), " to "))
}

func levelNames(levels []setting.Level) (out []string) {
	for _, l := range levels {
		out = append(out, levelWords(l))
	}
	return out
}

// NeedsWords says a claim's preconditions in words; empty without any.
func NeedsWords(n experiment.Needs) string {
	var out []string
	if n.Bound != "" {
		out = append(out, fmt.Sprintf("%s full in every trial", wallWords(n.Bound)))
	}
	if n.LineRate {
		out = append(out, "a wire of known line rate")
	}
	if n.Cores > 0 {
		out = append(out, fmt.Sprintf("at least %d cores", n.Cores))
	}
	return list(out)
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
	return list(out)
}

// plainNumber prints a chosen number with the digits that it was written with.
func plainNumber(v float64) string { return strconv.FormatFloat(v, 'g', 10, 64) }

// percent prints a chosen share: 0.1125 is 11.25 %. The space keeps a figure and
// its sign on one line.
func percent(v float64) string { return plainNumber(v*100) + "\u00a0%" }

// metricWords is a metric's label inside a sentence: it begins in lower case,
// except for acronyms. A bare percentile is said to be one of latency.
func metricWords(name string) string {
	m, ok := metric.Lookup(name)
	if !ok {
		return strings.ReplaceAll(name, "_", " ")
	}
	// Labels are column heads; in a sentence some need a noun.
	switch name {
	case "delivered_per_s", "logged_per_s":
		return "the rate " + lowerFirst(m.Label)
	case "limit_per_s":
		return "the highest rate delivered"
	}
	if strings.HasPrefix(name, "latency_") && !strings.Contains(strings.ToLower(m.Label), "latency") {
		return lowerFirst(m.Label) + " latency"
	}
	return lowerFirst(m.Label)
}

func lowerFirst(s string) string {
	if len(s) > 1 && unicode.IsUpper(rune(s[0])) && unicode.IsUpper(rune(s[1])) {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// factorWords is a setting's name in a sentence.
func factorWords(name string) string {
	switch name {
	case setting.RPS, setting.RFS, setting.IRQ:
		return strings.ToUpper(name)
	case setting.Rate:
		return "the rate asked"
	case setting.ServerCPUs:
		return "server CPUs"
	}
	for end := range unitWords {
		name = strings.TrimSuffix(name, end)
	}
	return strings.ReplaceAll(name, "_", " ")
}

// unitWords are the units that end the names of settings.
var unitWords = map[string]string{"_ms": " ms", "_ns": " ns", "_bytes": " bytes", "_permille": " per thousand"}

// levelWords is a level in a sentence: numbers have their thousands separated,
// and what is switched is on or off.
func levelWords(l setting.Level) string {
	if n, ok := l.Int(); ok {
		return grouped(float64(n), 0)
	}
	if on, ok := l.Bool(); ok {
		return map[bool]string{true: "on", false: "off"}[on]
	}
	return l.String()
}

// where limits a sentence to some levels: "where RFS is off and workers is 2".
func where(levels setting.Levels) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		out = append(out, fmt.Sprintf("%s is %s", factorWords(name), levelWords(levels[name])))
	}
	if len(out) == 0 {
		return ""
	}
	return "where " + list(out)
}

// list joins words as a sentence does: a, b and c.
func list(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// wallWords names a wall in a sentence.
func wallWords(bound string) string {
	switch bound {
	case "server-cpu":
		return "the server's CPU"
	case "client-cpu":
		return "the client's CPU"
	}
	return "the " + bound
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

func profileWords(kind string) string {
	switch kind {
	case "cpu":
		return "CPU profile"
	case "allocs":
		return "profile of allocations"
	}
	return kind + " profile"
}

// profilePer is what a profile's shares are of.
func profilePer(kind string) string {
	switch kind {
	case "heap", "allocs":
		return "bytes"
	case "goroutine":
		return "goroutines"
	}
	return "time"
}
