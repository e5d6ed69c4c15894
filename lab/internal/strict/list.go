package strict

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Map lists what a function gives for each of a list.
func Map[T, V any](all []T, give func(T) V) (results []V) {
	for _, one := range all {
		results = append(results, give(one))
	}
	return results
}

// Filter lists those for which a condition holds, in their order.
func Filter[T any](all []T, holds func(T) bool) (results []T) {
	for _, one := range all {
		if holds(one) {
			results = append(results, one)
		}
	}
	return results
}

// Count counts those for which a condition holds.
func Count[T any](all []T, holds func(T) bool) int { return len(Filter(all, holds)) }

// Find gives the first for which a condition holds; false if there is none.
func Find[T any](all []T, holds func(T) bool) (first T, ok bool) {
	if i := slices.IndexFunc(all, holds); i >= 0 {
		return all[i], true
	}
	return first, false
}

// Collect gives a set of what a function gives for each of a list.
func Collect[T any, V comparable](all []T, give func(T) V) map[V]bool {
	set := map[V]bool{}
	for _, one := range all {
		set[give(one)] = true
	}
	return set
}

// A Word is a name that a file may hold: what it takes, if anything, and what it means.
type Word struct {
	Name    string `json:"name"`
	Form    string `json:"form,omitempty"`
	Meaning string `json:"meaning"`
}

// Names is where every name of settings, metrics and kinds is listed.
const Names = "the lists of the site's page /contribute, under Names"

// Instead says, at the end of an error about an unknown name, what could have been meant. It gives a short list
// whole. Of a longer one it gives the names that are like it, or else all, unless they would fill a screen.
func Instead(name string, known []string) string {
	near, all := Near(name, known), strings.Join(known, ", ")
	guess := "did you mean " + strings.Join(Map(near, strconv.Quote), " or ") + "?"
	const short, screen = 14, 45
	switch {
	case len(known) == 0:
		return "there are none"
	case len(near) > 0 && (len(known) == 1 || len(known) > short):
		return guess
	case len(near) > 0:
		return guess + " There are " + all
	case len(known) == 1:
		return "there is only " + all
	case len(known) > screen:
		return fmt.Sprintf("it is none of the %d in %s", len(known), Names)
	}
	return "there are " + all
}

// mostNear is the most names that it suggests.
const mostNear = 3

// Near gives the known names that a mistyped one may mean: those with the fewest slips of typing,
// or else those of which it has some words.
func Near(name string, known []string) []string {
	asked := fold(name)
	if asked == "" {
		return nil
	}
	least, best := len([]rune(asked))/3+1, []string(nil)
	for _, k := range known {
		switch d := slips(asked, fold(k)); {
		case d < least:
			least, best = d, []string{k}
		case d == least && d < len([]rune(asked)):
			best = append(best, k)
		}
	}
	if len(best) == 0 {
		best = Filter(known, func(k string) bool {
			return strings.Contains(" "+fold(k), " "+asked) || strings.HasPrefix(asked, fold(k))
		})
	}
	return best[:min(len(best), mostNear)]
}

// fold makes names that differ in case or in what joins their words alike.
func fold(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name),
		func(r rune) bool { return strings.ContainsRune("_-. /", r) }), " ")
}

// slips is the least number of letters to add, leave out, replace, or swap with the next, to turn one text into the
// other.
func slips(from, to string) int {
	a, b := []rune(from), []rune(to)
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			if i == 0 || j == 0 {
				d[i][j] = i + j
				continue
			}
			differ := 1
			if a[i-1] == b[j-1] {
				differ = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+differ)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
