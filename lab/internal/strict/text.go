package strict

import (
	"errors"
	"fmt"
	"regexp"
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
	var b strings.Builder
	for _, r := range message {
		if r == '\n' || r == '\\' {
			b.WriteRune(r)
			continue
		}
		b.WriteString(Visible(string(r), 1))
	}
	return b.String()
}

// Markdown is Visible text as code in GitHub's Markdown, where nothing has a meaning but the backquote, which
// becomes its code point. GitHub looks in code for no names of people, issues or commits, and the words around it
// may not have a backquote.
func Markdown(text string, most int) string {
	shown := strings.ReplaceAll(Visible(text, most), "`", `\u0060`)
	if shown == "" {
		shown = " " // two backquotes in a row begin longer code
	}
	return "`" + shown + "`"
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

// Words splits a command into its words, as a shell does with quotes and nothing else.
func Words(line string) (words []string, err error) {
	var word strings.Builder
	var quote rune
	open := false // whether a word has begun, which may be empty in quotes
	for _, r := range line + " " {
		switch blank := r == ' ' || r == '\t' || r == '\n'; {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, open = r, true
		case quote == 0 && blank && open:
			words, open = append(words, word.String()), false
			word.Reset()
		case quote != 0 || !blank:
			word.WriteRune(r)
			open = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("has a quote %c that does not end", quote)
	}
	return words, nil
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// Shell writes words as one would type them; Words splits them again.
func Shell(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; !plainWord.MatchString(w) {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'"'"'`) + "'"
		}
	}
	return strings.Join(out, " ")
}
