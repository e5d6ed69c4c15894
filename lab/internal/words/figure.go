package words

import (
	"math"

	"github.com/line-rate/line-rate/lab/internal/metric"
)

// Words are a figure as pages print it.
type Words struct {
	Text string `json:"text,omitempty"` // with its unit: "39,850", "24.2 µs"
	// to the same digits, without the unit: "24.1 to 24.4"; absent without a width
	Interval string `json:"interval,omitempty"`
}

// unbroken is the space that keeps a figure and its unit on one line.
const unbroken = "\u00a0"

// Figure prints a figure in the unit that suits its size, with the digits
// that its interval justifies. A rate has no unit: the words around it say what
// is counted.
func Figure(unit string, v float64, low, high *float64) string {
	in := UnitFor(unit, v)
	v *= in.Factor
	if low != nil && high != nil {
		l, h := *low*in.Factor, *high*in.Factor
		low, high = &l, &h
	}
	text := Grouped(v, Place(v, low, high))
	if in.Name == "" || unit == string(metric.PerSecond) {
		return text
	}
	return text + unbroken + in.Name
}

// Measured prints a figure with its interval to the same digits. One without a width has no interval.
func Measured(unit string, v float64, low, high *float64) Words {
	w := Words{Text: Figure(unit, v, low, high)}
	if low == nil || high == nil || *low == *high {
		return w
	}
	by := UnitFor(unit, v).Factor
	l, h := *low*by, *high*by
	at := Place(v*by, &l, &h)
	w.Interval = Grouped(l, at) + " to " + Grouped(h, at)
	return w
}

// Place is the place of a figure's last digit: that of any number, except
// that a small whole number without a width has no digits after the point.
func Place(v float64, low, high *float64) int {
	wide := low != nil && high != nil && *high > *low
	if !wide && math.Abs(v) < 1000 && v == math.Floor(v) {
		return 0
	}
	return LastPlace(v, low, high)
}

// Known is a pointer to a figure, nil for one that is absent from files.
func Known(v float64) *float64 {
	if v == 0 {
		return nil
	}
	return &v
}
