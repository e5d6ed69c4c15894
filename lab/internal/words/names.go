package words

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/line-rate/line-rate/lab/internal/metric"
)

// LowerFirst begins a name in lower case, except for acronyms.
func LowerFirst(s string) string {
	if len(s) > 1 && unicode.IsUpper(rune(s[0])) && unicode.IsUpper(rune(s[1])) {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// UpperFirst begins a sentence, which may be empty.
func UpperFirst(s string) string { return strings.ToUpper(s[:min(1, len(s))]) + s[min(1, len(s)):] }

// Bounds names the bounds of a condition's trials, the most frequent first,
// and how many trials each has if asked to.
func Bounds(bounds map[string]int, count bool) string {
	names := slices.Sorted(maps.Keys(bounds))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(bounds[b], bounds[a]) })
	for i, name := range names {
		names[i] = strings.ReplaceAll(name, "+", " + ")
		if count {
			names[i] += fmt.Sprintf(" %d", bounds[name])
		}
	}
	return strings.Join(names, ", ")
}

// Metric is a metric's label inside a sentence: it begins in lower case, except for
// acronyms. A bare percentile is said to be one of latency.
func Metric(name string) string {
	m, ok := metric.Lookup(name)
	if !ok {
		return strings.ReplaceAll(name, "_", " ")
	}
	// Labels are column heads; in a sentence some need a noun.
	switch name {
	case "delivered_per_s", "logged_per_s":
		return "the rate " + LowerFirst(m.Label)
	case "limit_per_s":
		return "the highest rate delivered"
	}
	if strings.HasPrefix(name, "latency_") && !strings.Contains(strings.ToLower(m.Label), "latency") {
		return LowerFirst(m.Label) + " latency"
	}
	return LowerFirst(m.Label)
}

// Resource names what may be the bottleneck.
func Resource(bound string) string {
	switch bound {
	case "server-cpu":
		return "the server's CPU"
	case "client-cpu":
		return "the client's CPU"
	}
	return "the " + bound
}
