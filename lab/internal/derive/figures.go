package derive

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/plot"
)

// A drawing is a figure that a page declares.
type drawing struct {
	Page   string
	Figure plot.Figure
}

// several is where figures of more than one experiment are, among those of each.
const several = "several"

// A page is a file of content, with what its front matter says of claims.
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

// declare reads what the pages declare, by the experiment that a figure is of.
func (u *update) declare() (err error) {
	if u.pages, err = pagesOf(u.Root); err != nil {
		return err
	}
	u.whose, u.declared = whose(u.pages), map[string][]drawing{}
	for _, p := range u.pages {
		figures, experiments, err := plot.Declared(p.path, p.text)
		if err != nil {
			return err
		}
		for _, name := range experiments {
			u.beside[name] = experiments
		}
		for _, f := range figures {
			of, in := f.Experiments(), ""
			for _, name := range of {
				if _, err := u.Experiment(name); err != nil {
					return fmt.Errorf("%s: figure %q: %w", p.path, f.Name, err)
				}
				in = name
			}
			if len(of) > 1 {
				in = several
			}
			u.declared[in] = append(u.declared[in], drawing{p.path, f})
		}
	}
	return nil
}

// draw draws what pages declare: of each experiment, of texts, and of several experiments.
func (u *update) draw() error {
	var faults []error
	for experiment, figures := range u.declared {
		all := map[string]map[string]string{} // drawn, by page and name
		for _, d := range figures {
			drawn, err := u.book.Draw(d.Figure)
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: figure %q: %w", d.Page, d.Figure.Name, err))
			}
			name := strings.TrimSuffix(filepath.Base(d.Page), ".md")
			if all[name] == nil {
				all[name] = map[string]string{}
			}
			maps.Copy(all[name], drawn)
		}
		for name, drawn := range all {
			faults = append(faults, encoded(u.Root.Figures(name, experiment), drawn, u.put))
		}
	}
	return errors.Join(faults...)
}
