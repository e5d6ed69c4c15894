package strict

import (
	"maps"
	"slices"
)

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
