package main

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode"
)

// What a report never has, since lab report escapes what it takes from files. A forged
// one could use it to call people, to show a picture from elsewhere, to link to
// elsewhere, or to look like something that it is not.
//
// The second group is looked for in the text after character references are resolved:
// GitHub looks for names and addresses in the finished page.
var (
	fence   = regexp.MustCompile("(?m)^[ \t>]*(?:```+|~~~+)[ \t]*[^\\s`~]")
	mention = regexp.MustCompile(`@[\pL\pN_]`)
	number  = regexp.MustCompile(`#[0-9]|\bGH-[0-9]`)
	link    = regexp.MustCompile(`\][(:]\s*<?([^\s)>]*)`)
	address = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://[^\s)>\]|]*|\bwww\.`)
)

// allowed says what is wrong with a report, if anything is.
func (g *github) allowed(report string) error {
	if strings.TrimSpace(report) == "" {
		return fmt.Errorf("it is empty")
	}
	for i, line := range strings.Split(report, "\n") {
		if err := g.allowedLine(line); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	// A link may be broken over lines.
	return g.elsewhere(html.UnescapeString(report))
}

func (g *github) allowedLine(line string) error {
	for _, r := range line {
		if r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029') {
			return fmt.Errorf("the character %U, which cannot be seen", r)
		}
	}
	if tag(line) {
		return fmt.Errorf("an HTML tag")
	}
	if strings.Contains(line, "![") {
		return fmt.Errorf("a picture")
	}
	if fence.MatchString(line) {
		return fmt.Errorf("a block of code in a language, which GitHub may draw")
	}
	shown := html.UnescapeString(line)
	if mention.MatchString(shown) {
		return fmt.Errorf("the mention of a user")
	}
	// Numbers in allowed links name a place on a page.
	if number.MatchString(link.ReplaceAllString(address.ReplaceAllString(shown, ""), "")) {
		return fmt.Errorf("a reference to an issue")
	}
	return nil
}

// tag tells whether a line has what may be read as an HTML tag. A backslash before the
// sign takes its meaning away, except where it has none anyway, inside code.
func tag(line string) bool {
	for i := 0; i+1 < len(line); i++ {
		if line[i] == '\\' {
			i++
			continue
		}
		if next := line[i+1]; line[i] == '<' && (next == '/' || next == '!' || next == '?' || next|0x20 >= 'a' && next|0x20 <= 'z') {
			return true
		}
	}
	return false
}

// elsewhere refuses addresses outside of this repository and its pages.
func (g *github) elsewhere(text string) error {
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		if !g.own(m[1]) {
			return fmt.Errorf("a link to %q", m[1])
		}
	}
	for _, a := range address.FindAllString(text, -1) {
		if !g.own(a) {
			return fmt.Errorf("the address %q", a)
		}
	}
	return nil
}

func (g *github) own(to string) bool {
	owner, name, _ := strings.Cut(g.repository, "/")
	if strings.Contains(to, "..") || strings.ContainsAny(to, `\%`) {
		return false // it may lead out of what it begins with
	}
	return strings.HasPrefix(to, g.server+"/"+g.repository+"/") || strings.HasPrefix(to, "https://"+owner+".github.io/"+name+"/")
}
