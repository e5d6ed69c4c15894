package strict

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// LongestLine is how many characters a line of a data file may have: ten times
// a command line with every option.
const LongestLine = 4096

// CheckLine refuses text that is not a single visible line.
func CheckLine(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("is not UTF-8")
	}
	if utf8.RuneCountInString(s) > LongestLine {
		return fmt.Errorf("is longer than %d characters", LongestLine)
	}
	for _, r := range s {
		if !unicode.IsGraphic(r) {
			return fmt.Errorf("has %U in it; write one line of text that can be seen", r)
		}
	}
	return nil
}

// Line makes a line of at most that many characters from another program's
// output: invisible characters become blanks, and an ellipsis replaces what is
// cut off.
func Line(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		s = string(r[:most-1]) + "…"
	}
	return s
}
