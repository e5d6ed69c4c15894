package words

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/line-rate/line-rate/lab/internal/metric"
)

// Number prints a chosen number with the digits that it was written with.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', 10, 64) }

// Percent prints a chosen share: 0.1125 is 11.25 %. The space keeps a figure and its sign on one line.
func Percent(v float64) string { return Number(v*100) + "\u00a0%" }

// List joins words as a sentence does: a, b and c.
func List(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// Digits rounds to nine significant digits: more than any figure here resolves,
// and few enough that architectures which fuse multiplications agree.
func Digits(v float64) float64 { return Significant(v, 9) }

// Significant rounds to so many digits, through text: scaling by powers of ten
// overflows for small figures, and the value is the one that a file gives when read.
func Significant(v float64, digits int) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	return v
}

// Count is a number of things: "1 block", "12 blocks". many is the word for several where that is not one with an s.
func Count(n int, one string, many ...string) string {
	return Thousands(n) + " " + Plural(n, one, many...)
}

// Plural is the word that follows a number, as in Count.
func Plural(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return one
	case len(many) > 0:
		return many[0]
	}
	return one + "s"
}

// LowerFirst begins a name in lower case, except for acronyms.
func LowerFirst(s string) string {
	if len(s) > 1 && unicode.IsUpper(rune(s[0])) && unicode.IsUpper(rune(s[1])) {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// UpperFirst begins a sentence, which may be empty.
func UpperFirst(s string) string { return strings.ToUpper(s[:min(1, len(s))]) + s[min(1, len(s)):] }

// Tally lists names, the most frequent first, and how often each is there if asked to: "errors 2, non-2xx 1".
func Tally(count map[string]int, counted bool) string {
	names := slices.Sorted(maps.Keys(count))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(count[b], count[a]) })
	for i, name := range names {
		names[i] = strings.ReplaceAll(name, "+", " + ")
		if counted {
			names[i] += fmt.Sprintf(" %d", count[name])
		}
	}
	return strings.Join(names, ", ")
}

// Metric is a metric's label inside a sentence: it begins in lower case, except for acronyms. A
// bare percentile becomes one of latency.
func Metric(name string) string {
	m, ok := metric.Lookup(name)
	if !ok {
		return strings.ReplaceAll(name, "_", " ")
	}
	// Labels are column heads; in a sentence some need a noun.
	if name == "delivered_per_s" || name == "logged_per_s" {
		return "the rate " + LowerFirst(m.Label)
	}
	if strings.HasPrefix(name, "latency_") && !strings.Contains(strings.ToLower(m.Label), "latency") {
		return LowerFirst(m.Label) + " latency"
	}
	return LowerFirst(m.Label)
}

var resources = strings.NewReplacer("server-cpu", "server's CPU", "client-cpu", "client's CPU")

// Resource names what may be the bottleneck.
func Resource(bound string) string { return "the " + resources.Replace(bound) }
