package words

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// LowerFirst begins a name in lower case, except for acronyms.
func LowerFirst(s string) string {
	if len(s) > 1 && unicode.IsUpper(rune(s[0])) && unicode.IsUpper(rune(s[1])) {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// UpperFirst begins a sentence.
func UpperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// Bounds names the bounds of a condition's trials, the most frequent first,
// and how many trials each has if asked to.
func Bounds(bounds map[string]int, count bool) string {
	names := slices.Sorted(maps.Keys(bounds))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(bounds[b], bounds[a]) })
	for i, name := range names {
		names[i] = strings.ReplaceAll(name, "+", " + ")
		if count {
			names[i] += fmt.Sprintf(" %d", bounds[name])
		}
	}
	return strings.Join(names, ", ")
}
