package words

import (
	"fmt"
	"maps"
	"slices"
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

// Digits rounds to nine significant digits: more than any figure here resolves,
// and few enough that architectures which fuse multiplications agree.
func Digits(v float64) float64 { return Significant(v, 9) }

// Significant rounds to so many digits, through text: scaling by powers of ten
// overflows for small figures, and the value is the one that a file gives when read.
func Significant(v float64, digits int) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	return v
}

// Count is a number of things: "1 block", "12 blocks". many is the word for several where
// that is not one with an s.
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

// Tally lists counts by name: "errors 1, non-2xx 2".
func Tally(count map[string]int) string {
	keys := slices.Sorted(maps.Keys(count))
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s %d", k, count[k])
	}
	return strings.Join(keys, ", ")
}
