package main

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// What lab report --markdown writes, and nothing else: headings, items and lines, in
// which the lab's own words have no sign that Markdown, HTML or GitHub give a meaning,
// and whatever others wrote is code. Anyone can have written a report, and a list of
// what is forbidden was always short of one: pictures, tags, maths, alerts, diagrams,
// mentions, links. A forged report can still say anything in plain words.
var (
	// The marks around a line's words.
	heading = regexp.MustCompile(`^#{1,3} (.*)$`)
	strong  = regexp.MustCompile(`^\*\*(.*)\*\*$`)
	item    = regexp.MustCompile(`^ {0,4}- (.*)$`)
	// One backquote on either side, so that no code is longer than it seems.
	code = regexp.MustCompile("`[^`]+`")
	// A colon before anything but a blank is an address or a picture's short name, and
	// GitHub makes links of the other two.
	meant = regexp.MustCompile(`(?i):[^ ]|\bwww\.|\bGH-[0-9]`)
)

// signs are those of the lab's own words, beside letters, digits and blanks of ASCII.
const signs = ".,;:()%/'+-_=?→…’“”\u00a0"

// allowed says what is wrong with a report, if anything is.
func allowed(report string) error {
	if strings.TrimSpace(report) == "" {
		return fmt.Errorf("it is empty")
	}
	for i, line := range strings.Split(report, "\n") {
		if err := allowedLine(line); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return nil
}

func allowedLine(line string) error {
	for _, r := range line {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return fmt.Errorf("the character %U, which cannot be seen", r)
		}
	}
	for _, mark := range []*regexp.Regexp{heading, strong, item} {
		if m := mark.FindStringSubmatch(line); m != nil {
			line = m[1]
			break
		}
	}
	if strings.Contains(line, "``") {
		return fmt.Errorf("two backquotes in a row")
	}
	words := code.ReplaceAllString(line, "")
	for _, r := range words {
		plain := r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == ' ' || strings.ContainsRune(signs, r)
		if !plain {
			return fmt.Errorf("%q outside of code", r)
		}
	}
	if m := meant.FindString(words); m != "" {
		return fmt.Errorf("%q outside of code, which GitHub may turn into something else", m)
	}
	return nil
}
