// Package oneline is about text that stands in one line: of a table, of a log,
// of a message.
//
// Its stance: what a reader cannot see does not belong there. Line breaks and
// control characters could make one line look like two, or like another; marks
// that turn the direction of writing could make it read as what it is not.
// What a file says is refused, what another program printed is made fit. The
// limit: markup is text like any other here, and is the pages' to escape.
package oneline

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Longest is how many characters a line of a data file may have: a command line
// with every option comes to a tenth of it.
const Longest = 4096

// Check refuses what is no line of text.
func Check(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("is not UTF-8")
	}
	if utf8.RuneCountInString(s) > Longest {
		return fmt.Errorf("is longer than %d characters", Longest)
	}
	for _, r := range s {
		if !unicode.IsGraphic(r) {
			return fmt.Errorf("has %U in it; write one line of text that can be seen", r)
		}
	}
	return nil
}

// Of makes a line of what another program printed, of so many characters at the
// most: what could not be seen becomes a blank, and what is cut off an ellipsis.
func Of(s string, most int) string {
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
