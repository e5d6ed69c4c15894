package pages

import (
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Kinds of profile that cover a window are shown by the second, since windows differ in
// length; heap and goroutine profiles are taken at moments, and shown as their mean.

// A scale is how values that are compared are written: all in one unit, with the same digits after the point.
type scale struct {
	factor float64 // from base units by the second, or of a moment
	unit   string
	digits int
}

// scaleOf gives the scale for values up to some size.
func scaleOf(k profile.Kind, unit string, most float64) scale {
	if unit == "B" && !k.OfMoment() {
		unit = "B/s"
	}
	s := words.UnitFor(unit, most)
	of := scale{factor: s.Factor, unit: s.Name}
	if unit == "s" && !k.OfMoment() {
		of.unit += "/s"
	}
	switch shown := s.Factor * most; {
	case shown < 10:
		of.digits = 3
	case shown < 100:
		of.digits = 2
	case shown < 1000:
		of.digits = 1
	}
	return of
}

// onScale writes a value without its unit.
func onScale(s scale, v float64) string { return words.Grouped(s.factor*v, -s.digits) }

// conditionWords names a condition, one factor before the others: "Index pool,
// connections 64".
func conditionWords(levels setting.Levels, first string) string {
	keys := slices.Sorted(maps.Keys(levels))
	if i := slices.Index(keys, first); i >= 0 {
		keys = slices.Insert(slices.Delete(keys, i, i+1), 0, first)
	}
	var said []string
	for i, k := range keys {
		name := setting.Title(k)
		if i > 0 {
			name = words.LowerFirst(name)
		}
		said = append(said, name+" "+setting.LevelCell(levels[k]))
	}
	if len(said) == 0 {
		return "All trials"
	}
	return strings.Join(said, ", ")
}
