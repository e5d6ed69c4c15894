// Package words prints numbers, units, bounds and lists, once for the terminal,
// for pages and for reports. It decides nothing, and knows neither results nor verdicts.
package words

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/line-rate/line-rate/lab/internal/metric"
)

// lastPlace is the power of ten of the last digit worth printing. With an interval that is the second digit of its
// half-width, but at most the fourth of the value; without one, for which that is 0, the third digit of the value.
func lastPlace(v, half float64) int {
	v = math.Abs(v)
	at := -2
	if half > 0 {
		if at = Exponent(half) - 1; half*99 < v {
			at = max(at, Exponent(v)-3)
		}
	} else if v > 0 {
		at = Exponent(v) - 2
	}
	return max(at, -9)
}

// Exponent is a number's power of ten, read off its decimal text, since logarithms are inexact at powers of ten.
func Exponent(v float64) int {
	s := strconv.FormatFloat(v, 'e', 8, 64)
	n, _ := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:])
	return n
}

// Range prints a ratio of which only a range is known: "0.67 to 1.50", "7.0
// or more". It has two digits of its half-width, or of its only end. An end of 0 is open.
func Range(low, high float64) string {
	// The second digit is at most the third after the point.
	ends := func(v float64) int { return max(-3, Exponent(max(v, 1e-9))-1) }
	switch {
	case high == 0 && low <= 0:
		return "not known"
	case high == 0:
		return Grouped(low, ends(low)) + " or more"
	case low <= 0:
		return Grouped(high, ends(high)) + " or less"
	}
	at := ends((high - low) / 2)
	return Grouped(low, at) + " to " + Grouped(high, at)
}

// Thousands prints a count.
func Thousands(n int) string { return Grouped(float64(n), 0) }

// Grouped rounds at a place, halves away from zero, and separates thousands. It prints a minus as
// one; what rounds to zero has none.
func Grouped(v float64, at int) string {
	if v < 0 {
		if s := Grouped(-v, at); strings.ContainsAny(s, "123456789") {
			return "−" + s
		}
		v = 0
	}
	digits, unit := max(0, -at), math.Pow10(max(at, -at))
	if at >= 0 {
		v = math.Round(v/unit) * unit
	} else {
		v = math.Round(v*unit) / unit
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	for i := strings.IndexByte(s+".", '.') - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// A Unit is how figures in a base unit are shown to a reader: the factor by
// which to multiply them, and the unit's name.
type Unit struct {
	Factor float64
	Name   string
}

// UnitFor chooses the unit for figures up to some size. A rate has no name of its own, since "1/s" counts requests in
// some places and packets in others, and the words around it say which.
func UnitFor(unit string, most float64) Unit {
	for _, u := range units[unit] {
		if math.Abs(most) >= u.from {
			return u.Unit
		}
	}
	return Unit{1, ""}
}

// units are those of each base unit, with the size from which on figures are shown in them.
var units = map[string][]struct {
	from float64
	Unit
}{
	"s":     {{1, Unit{1, "s"}}, {1e-3, Unit{1e3, "ms"}}, {1e-6, Unit{1e6, "µs"}}, {0, Unit{1e9, "ns"}}},
	"bit/s": {{1e9, Unit{1e-9, "Gbit/s"}}, {1e6, Unit{1e-6, "Mbit/s"}}, {1e3, Unit{1e-3, "kbit/s"}}, {0, Unit{1, "bit/s"}}},
	"B/s":   {{1e9, Unit{1e-9, "GB/s"}}, {1e6, Unit{1e-6, "MB/s"}}, {1e3, Unit{1e-3, "kB/s"}}, {0, Unit{1, "B/s"}}},
	// It counts a few thousand bytes, and does not round them.
	"B":     {{1e9, Unit{1e-9, "GB"}}, {1e6, Unit{1e-6, "MB"}}, {1e5, Unit{1e-3, "kB"}}, {0, Unit{1, "B"}}},
	"ratio": {{0, Unit{100, "%"}}},
	"1/s":   {{0, Unit{1, "/s"}}},
}

// Words are a figure as pages print it.
type Words struct {
	Text string `json:"text,omitempty"` // with its unit: "39,850", "24.2 µs"
	// to the same digits, without the unit: "24.1 to 24.4"; absent without a width
	Interval string `json:"interval,omitempty"`
}

// unbroken is the space that keeps a figure and its unit on one line.
const unbroken = "\u00a0"

// Measured prints a figure in the unit that suits its size, with its interval to the same digits, which are those that
// the interval justifies. A rate has no unit: the words around it say what is counted.
func Measured(unit string, v float64, low, high *float64) (w Words) {
	in := UnitFor(unit, v)
	v *= in.Factor
	half := 0.0
	if low != nil && high != nil {
		half = max(0, *high-*low) / 2 * in.Factor
	}
	at := 0 // a small whole number without a width has no digits after the point
	if half > 0 || math.Abs(v) >= 1000 || v != math.Floor(v) {
		at = lastPlace(v, half)
	}
	if w.Text = Grouped(v, at); in.Name != "" && unit != string(metric.PerSecond) {
		w.Text += unbroken + in.Name
	}
	if half > 0 {
		w.Interval = Grouped(*low*in.Factor, at) + " to " + Grouped(*high*in.Factor, at)
	}
	return w
}

// Figure is Measured without the interval.
func Figure(unit string, v float64) string { return Measured(unit, v, nil, nil).Text }

// Ratio prints a ratio with its interval, of which an end of 0 is open. Near 1, where margins are small, it has
// three digits after the point; elsewhere as many as its interval justifies or, without one, three in all.
func Ratio(v, low, high float64) Words {
	n, closed := 3, low > 0 && high > 0
	if math.Abs(v-1) >= 0.2 {
		half := 0.0
		if closed {
			half = (high - low) / 2
		}
		n = max(0, min(3, -lastPlace(v, half)))
	}
	w := Words{Text: strconv.FormatFloat(v, 'f', n, 64)}
	switch {
	case closed:
		w.Interval = fmt.Sprintf("%.*f to %.*f", n, low, n, high)
	case low > 0 || high > 0:
		w.Interval = Range(low, high)
	}
	return w
}

// Change prints a ratio as a change in percent, "+35".
func Change(v float64) string {
	by, at := 100*(v-1), 0
	if math.Abs(by) < 10 {
		at = -1
	}
	if by > 0 {
		return "+" + Grouped(by, at)
	}
	return Grouped(by, at)
}

// Edge prints an edge of a ratio as a claim has it. One computed from a margin may have endless digits; four are
// enough.
func Edge(v float64) string { return Number(Significant(v, 4)) }

// Share is a share in percent, with two digits or more.
func Share(share float64) string {
	at := 0
	switch v := 100 * share; {
	case v < 0.95:
		at = -2
	case v < 9.95:
		at = -1
	}
	return Grouped(100*share, at) + " %"
}

// Size is the size of a file: counted while it is small.
func Size(bytes int) string {
	if bytes < 1e5 {
		return Thousands(bytes) + " B"
	}
	return Figure("B", float64(bytes))
}

// Time is a time with three digits, in the unit that suits it, as the terminal has it.
func Time(seconds float64) string {
	return strings.Replace(Figure("s", seconds), unbroken, " ", 1)
}

// Duration is how long something takes that a reader waits for: "47 s", "2 min 05 s".
func Duration(d time.Duration) string {
	d = d.Round(time.Second)
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
}

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
	return strings.ToLower(s[:min(1, len(s))]) + s[min(1, len(s)):]
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
	m, _ := metric.Lookup(name)
	label := LowerFirst(cmp.Or(m.Label, strings.ReplaceAll(name, "_", " ")))
	// Labels are column heads; in a sentence some need a noun.
	switch {
	case name == "delivered_per_s" || name == "logged_per_s":
		return "the rate " + label
	case strings.HasPrefix(name, "latency_") && !strings.Contains(strings.ToLower(label), "latency"):
		return label + " latency"
	}
	return label
}

var resources = strings.NewReplacer("server-cpu", "server's CPU", "client-cpu", "client's CPU")

// Resource names what may be the bottleneck.
func Resource(bound string) string { return "the " + resources.Replace(bound) }
