package pages

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A shownColumn is how a table shows the figures of one metric: their unit, and
// the texts of a figure's median and interval.
type shownColumn struct {
	unit string
	cell func(*medians.Figure) (median, interval string)
}

// inUnit splits a printed figure into number and unit: "6.13 GB/s" is 6.13 and
// GB/s, "<1ms" is <1 and ms.
var inUnit = regexp.MustCompile(`^([~<]?[0-9][0-9.,]*[kM]?)\s*(.*)$`)

// printedColumn shows a text's figures digit for digit. A unit that all of them
// have goes to the column's head; otherwise each keeps its own. It is nil if any
// figure was not printed.
func printedColumn(unit string, figures []*medians.Figure) *shownColumn {
	var units []string
	for _, f := range figures {
		if f == nil {
			continue
		}
		if f.Printed == "" {
			return nil
		}
		own := ""
		if m := inUnit.FindStringSubmatch(f.Printed); m != nil {
			own = m[2]
		}
		units = append(units, own)
	}
	slices.Sort(units)
	if units = slices.Compact(units); len(units) > 1 {
		return &shownColumn{"", func(f *medians.Figure) (string, string) { return f.Printed, "" }}
	}
	shared := units[0]
	whole := func(f *medians.Figure) (string, string) {
		return strings.TrimSpace(strings.TrimSuffix(f.Printed, shared)), ""
	}
	if shared == "" && unit == "1/s" {
		return &shownColumn{"/s", whole}
	}
	return &shownColumn{shared, whole}
}

// scaledColumn shows figures in the unit that suits the largest of them, all to
// the same last digit: the one that suits the middle of the first and the last
// condition's intervals. The middle is the geometric one, since wide and narrow
// intervals differ by powers of ten.
func scaledColumn(unit string, figures []*medians.Figure) *shownColumn {
	most, half := 0.0, 0.0
	for _, f := range figures {
		if f == nil {
			continue
		}
		most = max(most, math.Abs(value(f)))
		if f.High != nil {
			most = max(most, math.Abs(*f.High), math.Abs(*f.Low))
		}
	}
	for _, f := range []*medians.Figure{figures[0], figures[len(figures)-1]} {
		if f == nil || f.High == nil || *f.High <= *f.Low {
			continue
		}
		if h := (*f.High - *f.Low) / 2; half == 0 {
			half = h
		} else {
			half = math.Sqrt(half * h)
		}
	}
	in := words.UnitFor(unit, most)
	if most == 0 {
		in = words.UnitFor(unit, 1)
	}
	shown := most * in.Factor
	low, high := shown-half*in.Factor, shown+half*in.Factor
	at := words.LastPlace(shown, &low, &high)
	switch broken := slices.ContainsFunc(figures,
		func(f *medians.Figure) bool { return f != nil && !isWhole(value(f)*in.Factor) }); {
	case broken:
	case in.Factor == 1 && shown < 1000:
		at = 0 // counts
	case in.Factor == 1 || half == 0:
		at = max(at, 0) // whole figures, which nothing says to be known better
	}
	text := func(v float64) string { return words.Grouped(v*in.Factor, at) }
	return &shownColumn{in.Name, func(f *medians.Figure) (median, interval string) {
		if f.Median == nil { // limits are exact
			if v := value(f) * in.Factor; isWhole(v) {
				return "<" + words.Grouped(v, max(at, 0)), ""
			}
			return "<" + text(value(f)), ""
		}
		if f.High != nil {
			if low, high := text(*f.Low), text(*f.High); low != high {
				interval = low + " to " + high
			}
		}
		return text(*f.Median), interval
	}}
}

// isWhole reports whether a figure is whole but for the error of a change of unit.
func isWhole(v float64) bool { return math.Abs(v-math.Round(v)) <= 1e-9*math.Abs(v) }

// value is the figure's median, or the limit that it is below.
func value(f *medians.Figure) float64 { return *cmp.Or(f.Median, f.Below) }
