package strict

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// LongestLine is how many characters a line of a data file may have: ten times a command line with every option.
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

// Line makes a line of at most that many characters from another program's output: invisible characters become
// blanks, and an ellipsis replaces what is cut off.
func Line(s string, most int) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(r rune) bool {
		return !unicode.IsGraphic(r) || unicode.IsSpace(r)
	}), " ")
	if r := []rune(s); len(r) > most {
		s = string(r[:most-1]) + "…"
	}
	return s
}

// Visible makes one line of any text for a terminal. It writes invisible characters, and those that move the
// cursor or turn the direction of writing, as Go does. It cuts off what is longer than most characters, with an
// ellipsis. It doubles a backslash, so that the line says what the text was.
func Visible(text string, most int) string {
	end, n := "", 0
	for at := range text {
		if n++; n > most {
			text, end = text[:at], "…"
			break
		}
	}
	quoted := strconv.Quote(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`) + end
}

// Lines is a message for a terminal that may hold others' text: its lines stay lines, and every
// other invisible character becomes a code point. Text that is quoted in it already stays as it is.
func Lines(message string) string {
	return strings.Join(Map(strings.Split(message, "\n"), func(line string) string {
		return strings.ReplaceAll(Visible(line, len(line)), `\\`, `\`)
	}), "\n")
}

// Cells are texts and numbers as a row of a CSV file may hold them. A spreadsheet would take a text that begins
// with one of these signs for a formula; behind an apostrophe it shows it as it is.
func Cells(row []string) []string {
	for i, cell := range row {
		if _, err := strconv.ParseFloat(cell, 64); err != nil && strings.ContainsAny(cell[:min(1, len(cell))], "=+-@\t\r\n") {
			row[i] = "'" + cell
		}
	}
	return row
}

var (
	quoted    = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	shellWord = regexp.MustCompile(`(?:` + quoted.String() + `|[^\s'"])+`)
	plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)
)

// Words splits a command into its words, as a shell does with quotes and nothing else.
func Words(line string) ([]string, error) {
	if open := strings.TrimSpace(shellWord.ReplaceAllString(line, "")); open != "" {
		return nil, fmt.Errorf("has a quote %c that does not end", open[0])
	}
	return Map(shellWord.FindAllString(line, -1), func(w string) string {
		return quoted.ReplaceAllStringFunc(w, func(q string) string { return q[1 : len(q)-1] })
	}), nil
}

// Shell writes words as one would type them; Words splits them again.
func Shell(words []string) string {
	return strings.Join(Map(words, func(w string) string {
		if plainWord.MatchString(w) {
			return w
		}
		return "'" + strings.ReplaceAll(w, "'", `'"'"'`) + "'"
	}), " ")
}

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
		return fmt.Sprintf("it is none of the %d in the lists of the site's page /contribute, under Names", len(known))
	}
	return "there are " + all
}

// Near gives at most three known names that a mistyped one may mean: those with the fewest slips of typing,
// or else those of which it has some words.
func Near(name string, known []string) []string {
	asked := fold(name)
	if asked == "" {
		return nil
	}
	least, best := min(len(asked)/3, 3)+1, []string(nil)
	for _, k := range known {
		switch d := slips(asked, fold(k), least); {
		case d < least:
			least, best = d, []string{k}
		case d == least && d < len(asked):
			best = append(best, k)
		}
	}
	if len(best) == 0 {
		best = Filter(known, func(k string) bool {
			return strings.Contains(" "+fold(k), " "+asked) || strings.HasPrefix(asked, fold(k))
		})
	}
	return best[:min(len(best), 3)]
}

// fold makes names that differ in case or in what joins their words alike.
func fold(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name),
		func(r rune) bool { return strings.ContainsRune("_-. /", r) }), " ")
}

// slips is the least number of letters to add, leave out, replace, or swap with the next, to turn one text into the
// other, as far as it is at most so many.
func slips(from, to string, most int) int {
	for from != "" && to != "" && from[0] == to[0] {
		from, to = from[1:], to[1:]
	}
	if from == "" || to == "" || most == 0 {
		return len(from) + len(to)
	}
	least := min(slips(from[1:], to, most-1), slips(from, to[1:], most-1), slips(from[1:], to[1:], most-1))
	if len(from) > 1 && len(to) > 1 && from[0] == to[1] && from[1] == to[0] {
		least = min(least, slips(from[2:], to[2:], most-1))
	}
	return 1 + least
}
