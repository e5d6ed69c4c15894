package verdict

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Kinds of profile that cover a window are shown by the second, since windows differ in
// length; heap and goroutine profiles are taken at moments, and shown as their mean.

// scaleOf gives the scale for values up to some size, and the unit as running text has
// it.
func scaleOf(k profiles.Kind, unit string, most float64) (scale profiles.Scale, words string) {
	if unit == "B" && !k.OfMoment() {
		unit = "B/s"
	}
	s := shownIn(unit, most)
	scale, words = profiles.Scale{Factor: s.factor, Unit: s.name}, s.name
	if unit == "s" && !k.OfMoment() {
		scale.Unit, words = s.name+"/s", s.name+" a second"
	}
	switch shown := s.factor * most; {
	case shown < 10:
		scale.Digits = 3
	case shown < 100:
		scale.Digits = 2
	case shown < 1000:
		scale.Digits = 1
	}
	return scale, words
}

// onScale writes a value with a unit, which may be empty.
func onScale(s profiles.Scale, v float64, unit string) string {
	return strings.TrimSpace(grouped(s.Factor*v, -s.Digits) + " " + unit)
}

// amount writes a value in running text, with three digits: "31.7 s a second".
func amount(k profiles.Kind, unit string, v float64) string {
	size := v
	if v == 0 {
		size = 1
	}
	s, words := scaleOf(k, unit, size)
	return strings.TrimSpace(plain(s.Factor*v) + " " + words)
}

// plain writes a number with the digits that a figure without an interval has.
func plain(v float64) string { return grouped(v, figurePlace(v, nil, nil)) }

// shareText is a share in percent, with two digits or more.
func shareText(share float64) string {
	at := 0
	switch v := 100 * share; {
	case v < 0.95:
		at = -2
	case v < 9.95:
		at = -1
	}
	return grouped(100*share, at) + " %"
}

// sizeText is the size of a file: counted while it is small.
func sizeText(bytes int) string {
	if bytes < 1e5 {
		return thousands(bytes) + " B"
	}
	return figureText("B", float64(bytes), nil, nil)
}

// times is a multiple without the digits that nobody knows.
func times(r float64) string {
	if r < 9.95 {
		return grouped(r, -1)
	}
	return grouped(r, 0)
}

// against compares one total with another: "113 times less than", "2 % more than".
func against(v, than float64) string {
	word, r := "more than", v/than
	if v < than {
		word, r = "less than", than/v
	}
	if r >= 2 {
		return times(r) + " times " + word
	}
	percent := strconv.FormatFloat(100*math.Abs(v/than-1), 'f', 0, 64)
	if percent == "0" {
		return "within 1 % of"
	}
	return percent + " % " + word
}

// changeText is a change relative to the value before: "−98 %", "+12 %". If something
// is left, it is never −100 %.
func changeText(before, by float64) string {
	r := by / before
	s := strings.Replace(fmt.Sprintf("%+.0f %%", 100*r), "-", "−", 1)
	switch {
	case r <= -0.9999999:
		return "−100 %"
	case r <= -0.995:
		return "−99 %"
	case r >= 9:
		return "+" + grouped(100*r, 0) + " %"
	case s == "+0 %" || s == "−0 %":
		return "0 %"
	}
	return s
}

// acronym is a name that keeps its capitals inside a sentence.
var acronym = regexp.MustCompile(`^[A-Z]{2}`)

// conditionWords names a condition, one factor before the others: "Index pool,
// connections 64".
func conditionWords(levels setting.Levels, first string) string {
	keys := slices.Sorted(maps.Keys(levels))
	if i := slices.Index(keys, first); i >= 0 {
		keys = slices.Insert(slices.Delete(keys, i, i+1), 0, first)
	}
	var words []string
	for i, k := range keys {
		name := factorName(k)
		if i > 0 && !acronym.MatchString(name) {
			name = strings.ToLower(name[:1]) + name[1:]
		}
		words = append(words, name+" "+shownLevel(levels[k]))
	}
	if len(words) == 0 {
		return "All trials"
	}
	return strings.Join(words, ", ")
}
