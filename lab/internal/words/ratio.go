package words

import (
	"fmt"
	"math"
	"strconv"
)

// Ratio prints a ratio with its interval, of which an end of 0 is open. Near 1, where margins are small, it has
// three digits after the point; elsewhere as many as its interval justifies or, without one, three in all.
func Ratio(v, low, high float64) Words {
	n := 3
	if math.Abs(v-1) >= 0.2 {
		n = max(0, min(3, -LastPlace(v, Known(low), Known(high))))
	}
	w := Words{Text: strconv.FormatFloat(v, 'f', n, 64)}
	switch {
	case low > 0 && high > 0:
		w.Interval = fmt.Sprintf("%.*f to %.*f", n, low, n, high)
	case low > 0 || high > 0:
		w.Interval = Range(low, Known(high))
	}
	return w
}

// Change prints a ratio as a change in percent, "+35", and the ends of its interval to the same digits, "32 to 49",
// which are empty where one is open.
func Change(v, low, high float64) (change, ends string) {
	by, at := 100*(v-1), 0
	if math.Abs(by) < 10 {
		at = -1
	}
	if change = Grouped(by, at); by > 0 {
		change = "+" + change
	}
	if low > 0 && high > 0 {
		ends = Grouped(100*(low-1), at) + " to " + Grouped(100*(high-1), at)
	}
	return change, ends
}

// Edge prints an edge of a ratio as a claim has it. One computed from a margin may have endless digits; four are
// enough.
func Edge(v float64) string {
	if s := strconv.FormatFloat(v, 'g', -1, 64); len(s) <= 6 {
		return s
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
