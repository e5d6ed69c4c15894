package site

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// A page is a file of content, with what its front matter says. A claim's name is EXPERIMENT/ID.
type page struct {
	path string // in the repository
	text []byte

	Title       string         `toml:"title"`
	LinkTitle   string         `toml:"linkTitle"`
	Number      string         `toml:"number"` // of an entry
	Entry       string         `toml:"entry"`  // the word of a study
	Date        toml.LocalDate `toml:"date"`
	Also        []also         `toml:"also"` // further entries that the page tells of, in parts with the anchors entry-NUMBER
	Experiments []string       `toml:"experiments"`
	Rests       []struct {     // claims that title and lede rest on
		Claim   string          `toml:"claim"`
		Verdict verdict.Verdict `toml:"verdict"` // as the words assume
	} `toml:"rests"`
	Corrects []struct {
		Number   string `toml:"number"` // the entry that corrects, if not the page's first
		Entry    string `toml:"entry"`
		Claim    string `toml:"claim"`
		Believed string `toml:"believed"`
		Found    string `toml:"found"`
	} `toml:"corrects"`
	Figures []figure `toml:"figures"`
}

type also struct {
	Number string         `toml:"number"`
	Title  string         `toml:"title"`
	Date   toml.LocalDate `toml:"date"`
}

// name is the file's name without its ending, and href where the page is.
func (p *page) name() string { return strings.TrimSuffix(filepath.Base(p.path), ".md") }
func (p *page) href() string {
	at := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(p.path), "content/"), ".md")
	return strings.TrimPrefix(strings.TrimSuffix(at, "_index")+"/", "/")
}

// An Entry is what an entry's number, or a study's word, means.
type Entry struct {
	Number string `json:"number"`
	Said   string `json:"said"` // in a sentence: "entry 12", or a study's title
	Title  string `json:"title"`
	To     string `json:"to"`

	page *page
	date toml.LocalDate
}

// numbers lists the entries of a page.
func (p *page) numbers() (all []*Entry) {
	title := cmp.Or(p.LinkTitle, p.Title)
	switch {
	case p.Number != "":
		all = append(all, &Entry{p.Number, "entry " + p.Number, title, p.href(), p, p.Date})
	case p.Entry != "":
		all = append(all, &Entry{p.Entry, title, title, p.href(), p, p.Date})
	}
	for _, a := range p.Also {
		all = append(all, &Entry{a.Number, "entry " + a.Number, a.Title, p.href() + "#entry-" + a.Number, p, a.Date})
	}
	return all
}

// parse reads what a page's front matter says.
func parse(path string, text []byte) (*page, error) {
	p := &page{path: path, text: text}
	parts := bytes.SplitN(text, []byte("+++\n"), 3)
	if len(parts) < 3 || len(parts[0]) > 0 { // no front matter
		parts = make([][]byte, 3)
	}
	from := toml.NewDecoder(bytes.NewReader(parts[1])).DisallowUnknownFields()
	err := from.Decode(p)
	if unknown, ok := errors.AsType[*toml.StrictMissingError](err); ok {
		err = nil // other keys are for templates
		for _, e := range unknown.Errors {
			if key := e.Key(); key[0] == "figures" {
				err = fmt.Errorf("[[figures]]: no key is called %q", key[len(key)-1])
			}
		}
	}
	if err != nil {
		return p, fmt.Errorf("%s: front matter: %w", path, err)
	}
	for _, r := range p.Rests {
		if r.Verdict.Meaning() == "" {
			return p, fmt.Errorf("%s: [[rests]]: verdict %q of %s is none: confirmed, refuted, open or "+
				"not-applicable", path, r.Verdict, r.Claim)
		}
	}
	return p, nil
}

// readPages reads all pages of content.
func (s *Site) readPages() error {
	for _, pattern := range []string{"*.md", "journal/[^_]*.md"} {
		paths, _ := filepath.Glob(s.Root.Path("content", pattern))
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			p, err := parse(s.Root.Rel(path), text)
			if err != nil {
				return err
			}
			s.pages = append(s.pages, p)
			for _, e := range p.numbers() {
				s.entries[e.Number] = e
			}
		}
	}
	return nil
}

// A Summary is a line for the author of a page whose title or lede assumes another verdict than
// the evidence has.
type Summary struct {
	Text  string
	Wrong bool // whether they hold something for decided that is not; a question decided since is no fault
}

// compare compares what a page says in short with the claims' verdicts, and gives the notices at its top.
func (p *page) compare(claims map[string]verdict.Verdict) (all []Summary, notices []string, err error) {
	for _, r := range p.Rests {
		is, known := claims[r.Claim]
		if !known {
			return nil, nil, fmt.Errorf("%s: [[rests]]: there is no claim %q; name one as EXPERIMENT/ID", p.path, r.Claim)
		}
		if is == r.Verdict {
			continue
		}
		now := cmp.Or(is.Word(), "nothing")
		all = append(all, Summary{fmt.Sprintf("%s: [[rests]]: its title and lede assume that %s is %s, and the "+
			"record says %s: write them anew", p.path, r.Claim, r.Verdict.Word(), now),
			r.Verdict == verdict.Confirmed || r.Verdict == verdict.Refuted})
		notices = append(notices, fmt.Sprintf("The record has moved since this title and summary were written. They take "+
			"%s for %s; it is %s now.", r.Claim, r.Verdict.Word(), now))
	}
	return all, notices, nil
}
