package verdict

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// This is the one rule by which ratios and figures are rounded, in the terminal
// and on pages.

// ratioText prints a ratio. Near 1, where margins are small, it has three
// digits after the point; elsewhere as many as its interval justifies or,
// without an interval, three in all.
func ratioText(v float64, low, high *float64) string {
	return strconv.FormatFloat(v, 'f', ratioDigits(v, low, high), 64)
}

func ratioDigits(v float64, low, high *float64) int {
	if math.Abs(v-1) < 0.2 {
		return 3
	}
	return max(0, min(3, -lastPlace(v, low, high)))
}

// lastPlace is the power of ten of the last digit worth printing. With an interval
// that is the second digit of its half-width, but at most the fourth of the
// value; without one, the third digit of the value.
func lastPlace(v float64, low, high *float64) int {
	v = math.Abs(v)
	at := -2
	half := 0.0
	if low != nil && high != nil {
		half = (*high - *low) / 2
	}
	switch {
	case half > 0:
		at = exponent(half) - 1
		if half*99 < v {
			at = max(at, exponent(v)-3)
		}
	case v > 0:
		at = exponent(v) - 2
	}
	return max(at, -9)
}

// exponent is a number's power of ten, read off its decimal text, since
// logarithms are inexact at powers of ten.
func exponent(v float64) int {
	s := strconv.FormatFloat(v, 'e', 8, 64)
	n, _ := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:])
	return n
}

// rangeText prints a ratio of which only a range is known: "0.67 to 1.50", "7.0
// or more". It has two digits of its half-width, or of its only end. A low end
// of 0 and a missing high end are open.
func rangeText(low float64, high *float64) string {
	switch {
	case high == nil && low <= 0:
		return "not known"
	case high == nil:
		return grouped(low, ends(low)) + " or more"
	case low <= 0:
		return grouped(*high, ends(*high)) + " or less"
	}
	at := ends((*high - low) / 2)
	return grouped(low, at) + " to " + grouped(*high, at)
}

// ends is the place of a number's second digit, at most three after the point.
func ends(v float64) int {
	if v <= 0 {
		return -3
	}
	return max(-3, exponent(v)-1)
}

// thousands prints a count.
func thousands(n int) string { return grouped(float64(n), 0) }

// grouped rounds at a place, halves away from zero, and separates thousands. A
// minus is printed as one; what rounds to zero has none.
func grouped(v float64, at int) string {
	if v < 0 {
		if s := grouped(-v, at); strings.ContainsAny(s, "123456789") {
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

// Text is the comparison's ratio as pages print it; of figures recorded in
// coarse steps it is a range.
func (e Effect) Text() string {
	switch {
	case e.Ratio > 0:
		return ratioText(e.Ratio, known(e.Low), known(e.High))
	case e.Pairs > 0:
		return rangeText(e.RatioLow, known(e.RatioHigh))
	}
	return "no complete block"
}

// Interval is the ratio's confidence sequence as pages print it; empty if there
// is none.
func (e Effect) Interval() string {
	switch {
	case !e.hasInterval():
		return ""
	case e.Ratio > 0 && e.Low > 0 && e.High > 0:
		n := ratioDigits(e.Ratio, &e.Low, &e.High)
		return fmt.Sprintf("%.*f to %.*f", n, e.Low, n, e.High)
	}
	return rangeText(e.Low, known(e.High))
}

// known is a pointer to a figure, nil for one that is absent from files.
func known(v float64) *float64 {
	if v == 0 {
		return nil
	}
	return &v
}
