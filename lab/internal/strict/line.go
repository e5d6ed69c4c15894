package strict

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// LongestLine is how many characters a line of a data file may have: a command line
// with every option comes to a tenth of it.
const LongestLine = 4096

// CheckLine refuses what is no line of text.
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

// Line makes a line of what another program printed, of so many characters at the
// most: what could not be seen becomes a blank, and what is cut off an ellipsis.
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
