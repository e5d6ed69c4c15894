package pages

import (
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/profiles"
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

// scaleOf gives the scale for values up to some size, and the unit as running text has
// it.
func scaleOf(k profiles.Kind, unit string, most float64) (of scale, said string) {
	if unit == "B" && !k.OfMoment() {
		unit = "B/s"
	}
	s := words.UnitFor(unit, most)
	of, said = scale{factor: s.Factor, unit: s.Name}, s.Name
	if unit == "s" && !k.OfMoment() {
		of.unit, said = s.Name+"/s", s.Name+" a second"
	}
	switch shown := s.Factor * most; {
	case shown < 10:
		of.digits = 3
	case shown < 100:
		of.digits = 2
	case shown < 1000:
		of.digits = 1
	}
	return of, said
}

// onScale writes a value with a unit, which may be empty.
func onScale(s scale, v float64, unit string) string {
	return strings.TrimSpace(words.Grouped(s.factor*v, -s.digits) + " " + unit)
}

// amount writes a value in running text, with three digits: "31.7 s a second".
func amount(k profiles.Kind, unit string, v float64) string {
	size := v
	if v == 0 {
		size = 1
	}
	s, said := scaleOf(k, unit, size)
	return strings.TrimSpace(words.Plain(s.factor*v) + " " + said)
}

// conditionWords names a condition, one factor before the others: "Index pool,
// connections 64".
func conditionWords(levels setting.Levels, first string) string {
	keys := slices.Sorted(maps.Keys(levels))
	if i := slices.Index(keys, first); i >= 0 {
		keys = slices.Insert(slices.Delete(keys, i, i+1), 0, first)
	}
	var said []string
	for i, k := range keys {
		name := words.SettingName(k)
		if i > 0 {
			name = words.LowerFirst(name)
		}
		said = append(said, name+" "+words.LevelCell(levels[k]))
	}
	if len(said) == 0 {
		return "All trials"
	}
	return strings.Join(said, ", ")
}
