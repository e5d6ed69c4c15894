package derive

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/line-rate/line-rate/lab/internal/chart"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// A Summary is a title, lede or line on the home page whose words go with another verdict than
// the record has, or a sentence that counts blocks otherwise than the record does.
type Summary struct {
	Page    string          // its path in the repository
	Claim   string          // as EXPERIMENT/ID
	Assumes verdict.Verdict // by its words; empty of a sentence
	Says    verdict.Verdict // by the record that the page shows; empty without one
	Counts  string          // a sentence's word for blocks, as "every block"
	For     int             // blocks of the record on the claim's side
	Blocks  int
}

// Wrong reports whether the words say more than the record: they hold something for decided that it
// does not, or count blocks wrongly. An open question that further blocks have decided is no fault.
func (s Summary) Wrong() bool {
	return s.Counts != "" || s.Assumes == verdict.Reproduced || s.Assumes == verdict.Refuted
}

// String is a line for the author.
func (s Summary) String() string {
	if s.Counts != "" {
		return fmt.Sprintf("%s: a sentence with the verdict on %s has the words %q, and %d of %d blocks of the record lie "+
			"on the claim's side: say how many", s.Page, s.Claim, s.Counts, s.For, s.Blocks)
	}
	said := func(v verdict.Verdict) string { return cmp.Or(pages.Series.Word(v), "nothing") }
	return fmt.Sprintf("%s: [[rests]]: its title, lede and found assume that %s is %s, and the record says %s: write "+
		"them anew", s.Page, s.Claim, said(s.Assumes), said(s.Says))
}

// A rest is what a summary rests on.
type rest struct {
	Claim   string          `toml:"claim"`
	Verdict verdict.Verdict `toml:"verdict"`
}

var (
	judged = regexp.MustCompile(`\{\{< verdict exp="([^"]*)" claim="([^"]*)"[^>]*>\}\}`)
	call   = regexp.MustCompile(`\{\{[<%].*?[>%]\}\}`)
	counts = regexp.MustCompile(`(?i)\b(every|all|no|none)( of)?( the| its)? blocks?\b`)
)

// summaries compares what pages say in short, and their counts of blocks, with the records that they
// show.
func (u *update) summaries() (out []Summary, err error) {
	records := map[string]pages.OnHost{} // by claim; empty without one
	for _, x := range u.Experiments {
		for _, c := range u.book.Sums[x.Name].Claims {
			records[x.Name+"/"+c.ID], _ = strict.Find(c.Hosts, func(on pages.OnHost) bool { return on.Run == c.Own })
		}
	}
	for _, p := range u.pages {
		of, err := p.summaries(records)
		if err != nil {
			return nil, err
		}
		out = append(out, of...)
	}
	return out, nil
}

// summaries compares a page with the records of claims, by EXPERIMENT/ID.
func (p page) summaries(records map[string]pages.OnHost) (out []Summary, err error) {
	for _, r := range p.front.Rests {
		on, known := records[r.Claim]
		if !known {
			return nil, fmt.Errorf("%s: [[rests]]: there is no claim %q; name one as EXPERIMENT/ID", p.path, r.Claim)
		}
		if on.Verdict != r.Verdict {
			out = append(out, Summary{Page: p.path, Claim: r.Claim, Assumes: r.Verdict, Says: on.Verdict})
		}
	}
	for _, claim := range slices.Concat(p.front.Series, p.front.Controls) {
		if _, known := records[claim]; !known {
			return nil, fmt.Errorf("%s: series or controls: there is no claim %q; name one as EXPERIMENT/ID", p.path, claim)
		}
	}
	for _, s := range sentences(p.text) {
		word := counts.FindString(call.ReplaceAllString(s, ""))
		for _, of := range judged.FindAllStringSubmatch(s, -1) {
			claim := of[1] + "/" + of[2]
			if on := records[claim]; word != "" && 0 < on.For && on.For < on.Blocks {
				out = append(out, Summary{Page: p.path, Claim: claim, Counts: word, For: on.For, Blocks: on.Blocks})
			}
		}
	}
	return out, nil
}

// A front is what a page's front matter says of claims, each as EXPERIMENT/ID, and the figures that it declares.
type front struct {
	Rests       []rest         `toml:"rests"`    // those that title, lede and found rest on
	Series      []string       `toml:"series"`   // those of the text that the page tests
	Controls    []string       `toml:"controls"` // those by which the lab tests itself
	Experiments []string       `toml:"experiments"`
	Declared    any            `toml:"figures"`
	Figures     []chart.Figure `toml:"-"` // those, read
}

// frontOf reads a page's front matter. It is empty without any. Figures have no other keys than theirs.
func frontOf(text []byte) (f front, err error) {
	if err := toml.Unmarshal(strict.FrontMatter(text), &f); err != nil {
		return f, fmt.Errorf("front matter: %w", err)
	}
	if f.Declared != nil {
		if f.Figures, err = figuresOf(f.Declared); err != nil {
			return f, fmt.Errorf("[[figures]]: %w", err)
		}
	}
	for _, r := range f.Rests {
		if r.Verdict.Meaning() == "" {
			return f, fmt.Errorf("[[rests]]: verdict %q of %s is none: reproduced, refuted, inconclusive, invalid or "+
				"not-applicable", r.Verdict, r.Claim)
		}
	}
	return f, nil
}

func figuresOf(tables any) ([]chart.Figure, error) {
	alone, err := toml.Marshal(map[string]any{"figures": tables})
	if err != nil {
		return nil, err
	}
	var of struct {
		Figures []chart.Figure `toml:"figures"`
	}
	err = toml.NewDecoder(bytes.NewReader(alone)).DisallowUnknownFields().Decode(&of)
	if unknown, ok := errors.AsType[*toml.StrictMissingError](err); ok {
		key := unknown.Errors[0].Key()
		return nil, fmt.Errorf("no key is called %q", key[len(key)-1])
	}
	return of.Figures, err
}

// sentences splits a page at the ends of sentences and paragraphs. A stop within a shortcode is none.
func sentences(page []byte) (out []string) {
	text, from := string(page), 0
	for _, m := range ends.FindAllStringSubmatchIndex(text, -1) {
		if isCall := m[2] >= 0; !isCall {
			out, from = append(out, text[from:m[0]]), m[1]
		}
	}
	return append(out, text[from:])
}

var ends = regexp.MustCompile(`(` + call.String() + `)|[.!?:;]\s|\n\s*\n`)

// moved derives, for each page whose words assume another verdict than the record has, what it says
// above them.
func (u *update) moved() error {
	all, err := u.summaries()
	if err != nil {
		return err
	}
	u.moves = all
	notices := map[string][]string{}
	for _, s := range all {
		if s.Assumes == "" {
			continue
		}
		name, of := strings.TrimSuffix(filepath.Base(s.Page), ".md"), u.whose[s.Claim]
		notices[name] = append(notices[name], fmt.Sprintf("The record has moved since this title and summary were written. "+
			"They take %s for %s; it is %s now.", s.Claim, of.Word(s.Assumes), cmp.Or(of.Word(s.Says), "nothing")))
	}
	return encoded(u.Root.Derived("pages", "moved.json"), notices, u.put)
}
