// Package words prints numbers, units, bounds and lists, once for the terminal,
// for pages and for reports. It decides nothing, and knows neither results nor verdicts.
package words

import (
	"math"
	"strconv"
	"strings"
)

// LastPlace is the power of ten of the last digit worth printing. With an interval
// that is the second digit of its half-width, but at most the fourth of the
// value; without one, the third digit of the value.
func LastPlace(v float64, low, high *float64) int {
	v = math.Abs(v)
	at := -2
	half := 0.0
	if low != nil && high != nil {
		half = (*high - *low) / 2
	}
	switch {
	case half > 0:
		at = Exponent(half) - 1
		if half*99 < v {
			at = max(at, Exponent(v)-3)
		}
	case v > 0:
		at = Exponent(v) - 2
	}
	return max(at, -9)
}

// Exponent is a number's power of ten, read off its decimal text, since
// logarithms are inexact at powers of ten.
func Exponent(v float64) int {
	s := strconv.FormatFloat(v, 'e', 8, 64)
	n, _ := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:])
	return n
}

// Range prints a ratio of which only a range is known: "0.67 to 1.50", "7.0
// or more". It has two digits of its half-width, or of its only end. A low end
// of 0 and a missing high end are open.
func Range(low float64, high *float64) string {
	switch {
	case high == nil && low <= 0:
		return "not known"
	case high == nil:
		return Grouped(low, ends(low)) + " or more"
	case low <= 0:
		return Grouped(*high, ends(*high)) + " or less"
	}
	at := ends((*high - low) / 2)
	return Grouped(low, at) + " to " + Grouped(*high, at)
}

// ends is the place of a number's second digit, at most three after the point.
func ends(v float64) int {
	if v <= 0 {
		return -3
	}
	return max(-3, Exponent(v)-1)
}

// Thousands prints a count.
func Thousands(n int) string { return Grouped(float64(n), 0) }

// Grouped rounds at a place, halves away from zero, and separates thousands. A
// minus is printed as one; what rounds to zero has none.
func Grouped(v float64, at int) string {
	if v < 0 {
		if s := Grouped(-v, at); strings.ContainsAny(s, "123456789") {
			return "−" + s
		}
		v = 0
	}
	digits := max(0, -at)
	if at >= 0 {
		unit := math.Pow10(at)
		v = math.Round(v/unit) * unit
	} else {
		unit := math.Pow10(digits)
		v = math.Round(v*unit) / unit
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	whole, rest, point := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if point {
		return whole + "." + rest
	}
	return whole
}
