package derive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/plot"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/strict"
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
		figures, card, experiments, err := plot.Declared(p.path, p.text)
		if err != nil {
			return err
		}
		if err := pins(p.text, figures, card); err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
		for _, name := range experiments {
			u.beside[name] = experiments
		}
		if card.Exp != "" {
			name := strings.TrimSuffix(filepath.Base(p.path), ".md")
			if _, err := u.Experiment(card.Exp); err != nil {
				return fmt.Errorf("%s: card: %w", p.path, err)
			}
			if u.cards[card.Exp] == nil {
				u.cards[card.Exp] = map[string]plot.CardOf{}
			}
			u.cards[card.Exp][name] = card
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

// together draws the figures of more than one experiment, if one of these has changed.
func (u *update) together() error {
	is := struct {
		Figures []drawing
		Of      map[string]string
	}{u.declared[several], map[string]string{}}
	for _, d := range is.Figures {
		for _, name := range d.Figure.Experiments() {
			was := u.inputs(name)
			is.Of[name] = was.Digest + " " + was.Shown
		}
	}
	now, err := json.Marshal(is)
	if err != nil {
		return err
	}
	path, made := u.Root.Derived("inputs", several+".json"), files{}
	if was, err := os.ReadFile(path); err == nil && bytes.Equal(was, now) {
		return nil
	}
	book := u.book()
	for name := range is.Of {
		x, err := u.Experiment(name)
		if err == nil {
			err = Refuse(u.Load(x))
		}
		if err != nil {
			return err
		}
		u.decide(x, book)
	}
	if err := u.draw(book, several, made.put); err != nil {
		return err
	}
	if err := made.only(u.Root.Figures("*", several)); err != nil {
		return err
	}
	return put(path, now)
}

// book is empty, but for the audits.
func (u *update) book() *plot.Book {
	return &plot.Book{Experiments: u.Experiments, Hosts: u.Hosts, Runs: map[string][]plot.Run{},
		Sums: map[string]*pages.Hosts{}, Audits: u.byEntry,
		Trees: map[string]profiles.Tree{}, Diffs: map[string]profiles.DiffTree{}}
}

// draw draws what pages declare of one experiment or, without one, of texts; or of several.
func (u *update) draw(book *plot.Book, experiment string, add func(path string, data []byte) error) error {
	all := map[string]map[string]string{} // drawn, by page and name
	var faults []error
	for _, d := range u.declared[experiment] {
		drawn, err := book.Draw(d.Figure)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: figure %q: %w", d.Page, d.Figure.Name, err))
		}
		name := strings.TrimSuffix(filepath.Base(d.Page), ".md")
		if all[name] == nil {
			all[name] = map[string]string{}
		}
		maps.Copy(all[name], drawn)
	}
	for name, of := range u.cards[experiment] {
		card, err := book.Card(of)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: card: %w", name, err))
		} else if card != nil {
			faults = append(faults, encoded(u.Root.Card(name, experiment), card, add))
		}
	}
	for name, drawn := range all {
		faults = append(faults, encoded(u.Root.Figures(name, experiment), drawn, add))
	}
	return errors.Join(faults...)
}

// called lists what the hosts are called on pages: of those with one name, each has more.
func (u *update) called(ids []string) []string {
	book := &plot.Book{Hosts: u.Hosts}
	return strict.Called(ids, func(id string) string { return id + " " + book.Host(id) })
}
