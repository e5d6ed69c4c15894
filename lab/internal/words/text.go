package words

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
)

// Number prints a chosen number with the digits that it was written with.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', 10, 64) }

// Percent prints a chosen share: 0.1125 is 11.25 %. The space keeps a figure and
// its sign on one line.
func Percent(v float64) string { return Number(v*100) + "\u00a0%" }

// List joins words as a sentence does: a, b and c.
func List(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// Bar prints an edge as the claim has it. An edge computed from a margin may
// have endless digits; four are enough.
func Bar(v float64) string {
	if s := strconv.FormatFloat(v, 'g', -1, 64); len(s) <= 6 {
		return s
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// Digits rounds to nine significant digits: more than any figure here resolves,
// and few enough that architectures which fuse multiplications agree.
func Digits(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	// Rounded through text: scaling by powers of ten overflows for small figures.
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', 8, 64), 64)
	return v
}

// Plural is a word after a number: its form for one, or with an s.
func Plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// Tally lists counts by name: "errors 1, non-2xx 2".
func Tally(count map[string]int) string {
	var keys []string
	for k := range count {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s %d", k, count[k])
	}
	return strings.Join(keys, ", ")
}
