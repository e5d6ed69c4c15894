package words

import (
	"fmt"
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
