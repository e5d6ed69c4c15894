package site

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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
	Rests       []struct {     // claims that title, lede and found rest on
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
	Declared any `toml:"figures"`

	figures []figure // those declared
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
	if err := toml.Unmarshal(parts[1], p); err != nil {
		return p, fmt.Errorf("%s: front matter: %w", path, err)
	}
	for _, r := range p.Rests {
		if r.Verdict.Meaning() == "" {
			return p, fmt.Errorf("%s: [[rests]]: verdict %q of %s is none: confirmed, refuted, open or "+
				"not-applicable", path, r.Verdict, r.Claim)
		}
	}
	if p.Declared == nil {
		return p, nil
	}
	alone, err := toml.Marshal(map[string]any{"figures": p.Declared}) // whose keys are all known
	if err != nil {
		return p, err
	}
	var of struct {
		Figures []figure `toml:"figures"`
	}
	err = toml.NewDecoder(bytes.NewReader(alone)).DisallowUnknownFields().Decode(&of)
	if unknown, ok := errors.AsType[*toml.StrictMissingError](err); ok {
		key := unknown.Errors[0].Key()
		err = fmt.Errorf("no key is called %q", key[len(key)-1])
	}
	if p.figures = of.Figures; err != nil {
		err = fmt.Errorf("%s: [[figures]]: %w", path, err)
	}
	return p, err
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

// A Summary is a line for the author of a page whose words do not go with the evidence. Its title,
// lede or line on the home page assumes another verdict, or a sentence counts blocks otherwise.
type Summary struct {
	Text string
	// Wrong tells whether the words say more than the evidence: they hold something for decided that it does not, or
	// count blocks wrongly. An open question that further blocks have decided is no fault.
	Wrong bool
}

// compare compares what a page says in short, and its counts of blocks, with the claims, and gives
// the notices at its top.
func (p *page) compare(claims map[string]verdict.Claim) (all []Summary, notices []string, err error) {
	for _, r := range p.Rests {
		is, known := claims[r.Claim]
		switch {
		case !known:
			return nil, nil, fmt.Errorf("%s: [[rests]]: %w", p.path, errNoClaim(r.Claim))
		case is.Verdict == r.Verdict:
			continue
		}
		now := cmp.Or(is.Verdict.Word(), "nothing")
		all = append(all, Summary{fmt.Sprintf("%s: [[rests]]: its title, lede and found assume that %s is %s, and the "+
			"record says %s: write them anew", p.path, r.Claim, r.Verdict.Word(), now),
			r.Verdict == verdict.Confirmed || r.Verdict == verdict.Refuted})
		notices = append(notices, fmt.Sprintf("The record has moved since this title and summary were written. They take "+
			"%s for %s; it is %s now.", r.Claim, r.Verdict.Word(), now))
	}
	for _, sentence := range sentences(p.text) {
		word := counting.FindString(sentence)
		for _, of := range judgedClaim.FindAllStringSubmatch(sentence, -1) {
			if c := claims[of[1]]; word != "" && 0 < c.For && c.For < c.Blocks {
				all = append(all, Summary{fmt.Sprintf("%s: a sentence with the verdict on %s has the words %q, and %d of %d "+
					"blocks of the record lie on the claim's side: say how many", p.path, of[1], word, c.For, c.Blocks), true})
			}
		}
	}
	return all, notices, nil
}

func errNoClaim(name string) error {
	return fmt.Errorf("there is no claim %q; name one as EXPERIMENT/ID", name)
}

var (
	shortcode   = regexp.MustCompile(`\{\{[<%].*?[>%]\}\}`)
	ofVerdict   = regexp.MustCompile(`^\{\{< n "([^" ]*) verdict ([^" ]*)"`)
	judgedClaim = regexp.MustCompile(`\x00(.*?)\x00`)
	counting    = regexp.MustCompile(`(?i)\b(every|all|no|none)( of)?( the| its)? blocks?\b`)
	ends        = regexp.MustCompile(`[.!?:;]\s|\n\s*\n`)
)

// sentences splits a page at the ends of sentences and paragraphs. The claim replaces a shortcode
// that shows its verdict.
func sentences(page []byte) []string {
	text := shortcode.ReplaceAllStringFunc(string(page), func(c string) string {
		if m := ofVerdict.FindStringSubmatch(c); m != nil {
			return "\x00" + m[1] + "/" + m[2] + "\x00"
		}
		return ""
	})
	return ends.Split(text, -1)
}
