package tell

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Unit is that of one table, in which all its figures have the same place.
type Unit struct {
	words.Unit
	place int
}

// UnitOf is the unit in which the kinds of work of a comparison are told. Its figures have four
// digits of the whole cost, of which a difference is a part.
func UnitOf(r compare.Reasons) Unit {
	most := max(r.All.Base, r.All.Other)
	u := Unit{Unit: words.UnitFor("s", most)}
	if most > 0 {
		u.place = max(-6, words.Exponent(most*u.Factor)-3)
	}
	return u
}

// Figure prints seconds without the unit.
func (u Unit) Figure(s float64) string { return words.Grouped(s*u.Factor, u.place) }

// Interval is that of a difference, rounded outwards, so that none is told to leave out 0 that does not.
func (u Unit) Interval(r compare.Reason) string {
	last := math.Pow10(u.place)
	end := func(v float64, round func(float64) float64) string {
		return words.Grouped(round(math.Round(v*u.Factor/last*1e6)/1e6)*last, u.place)
	}
	return end(r.Low, math.Floor) + " to " + end(r.High, math.Ceil)
}

// why is of what kind of work the difference is.
func why(r compare.Reasons) Table {
	in := UnitOf(r)
	t := Table{Name: fmt.Sprintf("Why %s differs from %s", r.Name, r.Base), Says: r.Says,
		Head: []string{"CPU a request, " + in.Name, r.Base, r.Name, "difference", "share of it"}}
	for _, k := range append(slices.Clone(r.Kinds), r.All) {
		row := []string{k.Kind, in.Figure(k.Base), in.Figure(k.Other),
			fmt.Sprintf("%s (%s)", in.Figure(k.Difference), in.Interval(k)), "–"}
		if k.Share != 0 {
			row[4] = strings.Replace(fmt.Sprintf("%.0f %%", 100*k.Share), "-", "−", 1)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
