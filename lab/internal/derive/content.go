package derive

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

	"github.com/line-rate/line-rate/lab/internal/chart"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// A page is a file of content, with what its front matter says of claims, each as EXPERIMENT/ID.
type page struct {
	path string // in the repository
	text []byte

	Rests []struct { // claims that title, lede and found rest on
		Claim   string          `toml:"claim"`
		Verdict verdict.Verdict `toml:"verdict"` // as the words assume
	} `toml:"rests"`
	Experiments []string `toml:"experiments"`
	Declared    any      `toml:"figures"`

	figures []chart.Figure // those declared
}

// name is the file's name without its ending.
func (p page) name() string { return strings.TrimSuffix(filepath.Base(p.path), ".md") }

// parse reads what a page's front matter says.
func parse(path string, text []byte) (p page, err error) {
	p.path, p.text = path, text
	if err := toml.Unmarshal(strict.FrontMatter(text), &p); err != nil {
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
	if p.figures, err = figuresOf(p.Declared); err != nil {
		return p, fmt.Errorf("%s: [[figures]]: %w", path, err)
	}
	return p, nil
}

// figuresOf reads the figures that a page declares, which have no other keys than theirs.
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

// readPages reads all pages of content.
func readPages(root journal.Root) (all []page, err error) {
	for _, dir := range []string{"", "journal"} {
		paths, _ := filepath.Glob(root.Path("content", dir, "*.md"))
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			p, err := parse(root.Rel(path), text)
			if err != nil {
				return nil, err
			}
			all = append(all, p)
		}
	}
	return all, nil
}

// draw makes the charts that pages declare.
func (u *update) draw() error {
	var faults []error
	for _, p := range u.pages {
		drawn := map[string]string{}
		for _, f := range p.figures {
			made, err := u.book.Draw(f)
			if _, twice := drawn[f.Name]; twice {
				err = errors.New("the page has another figure of this name")
			}
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: figure %q: %w", p.path, f.Name, err))
			}
			drawn[f.Name] = made
		}
		if len(drawn) > 0 {
			faults = append(faults, u.encode(drawn, "pages", "figures", p.name()+".json"))
		}
	}
	return errors.Join(faults...)
}

// A Summary is a line for the author of a page whose words do not go with a record: a title, lede or line on the
// home page that assumes another verdict, or a sentence that counts blocks otherwise.
type Summary struct {
	Text string
	// Wrong tells whether the words say more than the record: they hold something for decided that it does not, or
	// count blocks wrongly. An open question that further blocks have decided is no fault.
	Wrong bool
}

// summaries compares what pages say in short, and their counts of blocks, with the records that they show. What
// assumes another verdict has a notice above it.
func (u *update) summaries() error {
	records := map[string]pages.OnHost{} // by claim; empty without one
	for _, x := range u.Experiments {
		for _, c := range u.book.Sums[x.Name].Claims {
			records[x.Name+"/"+c.ID], _ = strict.Find(c.Hosts, func(on pages.OnHost) bool { return on.Run == c.Own })
		}
	}
	notices := map[string][]string{}
	for _, p := range u.pages {
		all, above, err := p.compare(records)
		if err != nil {
			return err
		}
		u.moved = append(u.moved, all...)
		if above != nil {
			notices[p.name()] = above
		}
	}
	return u.encode(notices, "pages", "moved.json")
}

// compare compares a page with the records of claims, and gives the notices that stand above it.
func (p page) compare(records map[string]pages.OnHost) (all []Summary, notices []string, err error) {
	for _, r := range p.Rests {
		on, known := records[r.Claim]
		switch {
		case !known:
			return nil, nil, fmt.Errorf("%s: [[rests]]: there is no claim %q; name one as EXPERIMENT/ID", p.path, r.Claim)
		case on.Verdict == r.Verdict:
			continue
		}
		said := func(v verdict.Verdict) string { return cmp.Or(v.Word(), "nothing") }
		all = append(all, Summary{fmt.Sprintf("%s: [[rests]]: its title, lede and found assume that %s is %s, and the "+
			"record says %s: write them anew", p.path, r.Claim, said(r.Verdict), said(on.Verdict)),
			r.Verdict == verdict.Confirmed || r.Verdict == verdict.Refuted})
		notices = append(notices, fmt.Sprintf("The record has moved since this title and summary were written. They take "+
			"%s for %s; it is %s now.", r.Claim, r.Verdict.Word(), said(on.Verdict)))
	}
	for _, s := range sentences(p.text) {
		word := counts.FindString(s)
		for _, of := range judgedClaim.FindAllStringSubmatch(s, -1) {
			if on := records[of[1]]; word != "" && 0 < on.For && on.For < on.Blocks {
				all = append(all, Summary{fmt.Sprintf("%s: a sentence with the verdict on %s has the words %q, and %d of %d "+
					"blocks of the record lie on the claim's side: say how many", p.path, of[1], word, on.For, on.Blocks), true})
			}
		}
	}
	return all, notices, nil
}

var (
	call        = regexp.MustCompile(`\{\{[<%].*?[>%]\}\}`)
	ofVerdict   = regexp.MustCompile(`^\{\{< verdict exp="([^"]*)" claim="([^"]*)"`)
	judgedClaim = regexp.MustCompile(`\x00(.*?)\x00`)
	counts      = regexp.MustCompile(`(?i)\b(every|all|no|none)( of)?( the| its)? blocks?\b`)
	ends        = regexp.MustCompile(`[.!?:;]\s|\n\s*\n`)
)

// sentences splits a page at the ends of sentences and paragraphs. In place of a shortcode stands the claim of
// which it shows the verdict, if it does.
func sentences(page []byte) []string {
	text := call.ReplaceAllStringFunc(string(page), func(c string) string {
		if m := ofVerdict.FindStringSubmatch(c); m != nil {
			return "\x00" + m[1] + "/" + m[2] + "\x00"
		}
		return ""
	})
	return ends.Split(text, -1)
}
