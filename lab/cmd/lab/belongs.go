package main

import (
	"fmt"
	"regexp"
)

// An entry of the series is called by its number, and a study by its word.
var (
	number = regexp.MustCompile(`^[0-9]{2}[a-z]?$`)
	word   = regexp.MustCompile(`^[a-z]{3,}$`)
)

// belongs refuses what is no entry's number and no study's word.
func belongs(entry string) error {
	if number.MatchString(entry) || word.MatchString(entry) {
		return nil
	}
	return fmt.Errorf("entry %q: give a number of two digits, as 12 or 06b, or a study's word", entry)
}
