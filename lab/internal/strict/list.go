package strict

import (
	"maps"
	"slices"
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

// Meanings are the names of a table of meanings, sorted.
func Meanings[K ~string](of map[K]string) []Word {
	return Map(slices.Sorted(maps.Keys(of)), func(k K) Word { return Word{Name: string(k), Meaning: of[k]} })
}
