package words

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Plain writes a number with the digits that a figure without an interval has.
func Plain(v float64) string { return Grouped(v, Place(v, nil, nil)) }

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
	return Figure("B", float64(bytes), nil, nil)
}

// Times is a multiple without the digits that nobody knows.
func Times(r float64) string {
	if r < 9.95 {
		return Grouped(r, -1)
	}
	return Grouped(r, 0)
}

// Against compares one total with another: "113 times less than", "2 % more than".
func Against(v, than float64) string {
	word, r := "more than", v/than
	if v < than {
		word, r = "less than", than/v
	}
	if r >= 2 {
		return Times(r) + " times " + word
	}
	percent := strconv.FormatFloat(100*math.Abs(v/than-1), 'f', 0, 64)
	if percent == "0" {
		return "within 1 % of"
	}
	return percent + " % " + word
}

// Change is a change relative to the value before: "−98 %", "+12 %". If something
// is left, it is never −100 %.
func Change(before, by float64) string {
	r := by / before
	s := strings.Replace(fmt.Sprintf("%+.0f %%", 100*r), "-", "−", 1)
	switch {
	case r <= -0.9999999:
		return "−100 %"
	case r <= -0.995:
		return "−99 %"
	case r >= 9:
		return "+" + Grouped(100*r, 0) + " %"
	case s == "+0 %" || s == "−0 %":
		return "0 %"
	}
	return s
}

// Time is a time with three digits, in the unit that suits it, as the terminal has it.
func Time(seconds float64) string {
	return strings.Replace(Figure("s", seconds, nil, nil), unbroken, " ", 1)
}

// Duration is how long something takes that a reader waits for: "47 s", "2 min 05 s".
func Duration(d time.Duration) string {
	d = d.Round(time.Second)
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
}
