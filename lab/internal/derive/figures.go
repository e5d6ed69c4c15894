package derive

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/pages"
)

// A page is a file of content, with what its front matter says of claims and declares.
type page struct {
	path  string // in the repository
	text  []byte
	front front
}

// pagesOf reads all pages of content.
func pagesOf(root journal.Root) (out []page, err error) {
	for _, dir := range []string{"", "journal"} {
		all, err := filepath.Glob(root.Path("content", dir, "*.md"))
		if err != nil {
			return nil, err
		}
		for _, path := range all {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			front, err := frontOf(text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", root.Rel(path), err)
			}
			out = append(out, page{root.Rel(path), text, front})
		}
	}
	return out, nil
}

// Whose reads from the pages which claims are not the journal's own, by EXPERIMENT/ID.
func Whose(root journal.Root) (map[string]pages.Whose, error) {
	all, err := pagesOf(root)
	return whose(all), err
}

func whose(all []page) map[string]pages.Whose {
	out := map[string]pages.Whose{}
	for _, p := range all {
		for _, claim := range p.front.Series {
			out[claim] = pages.Series
		}
		for _, claim := range p.front.Controls {
			out[claim] = pages.Control
		}
	}
	return out
}

// declare reads what the pages say of claims and of experiments that they show together.
func (u *update) declare() (err error) {
	if u.pages, err = pagesOf(u.Root); err != nil {
		return err
	}
	u.whose = whose(u.pages)
	for _, p := range u.pages {
		for _, name := range p.front.Experiments {
			u.beside[name] = p.front.Experiments
		}
	}
	return nil
}

// draw makes the charts that pages declare.
func (u *update) draw() error {
	var faults []error
	for _, p := range u.pages {
		drawn := map[string]string{}
		for _, f := range p.front.Figures {
			chart, err := u.book.Draw(f)
			if _, twice := drawn[f.Name]; twice {
				err = errors.New("the page has another figure of this name")
			}
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: figure %q: %w", p.path, f.Name, err))
			}
			drawn[f.Name] = chart
		}
		if len(drawn) > 0 {
			path := u.Root.Figures(strings.TrimSuffix(filepath.Base(p.path), ".md"))
			faults = append(faults, encoded(path, drawn, u.put))
		}
	}
	return errors.Join(faults...)
}
