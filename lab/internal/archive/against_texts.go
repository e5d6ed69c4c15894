package archive

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"github.com/line-rate/line-rate/lab/internal/audit"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// text reports printed figures that changed without a correction.
func (c *change) text(p string) error {
	was, now, ok, err := thenAndNow(c, p, "its figures were published", audit.Parse)
	if err != nil || !ok {
		return err
	}
	moved := figures(was, now)
	if len(moved) == 0 {
		return nil
	}
	corrected, err := c.corrected(was.Entry)
	if err != nil || corrected {
		return err
	}
	for _, m := range moved {
		c.fault(p, "%s; a figure stays as it was printed: put it back and give another reading a new id, or add "+
			"[[corrects]] with entry = %q to the entry that found it wrong", m, was.Entry)
	}
	return nil
}

// figures says which figures and tables of a text were changed or dropped. Where
// a figure is printed is wording.
func figures(was, now *audit.Text) []string {
	var out []string
	for _, f := range was.Figures {
		i := slices.IndexFunc(now.Figures, func(g audit.Figure) bool { return g.ID == f.ID })
		if i < 0 {
			out = append(out, fmt.Sprintf("figure %q is gone", f.ID))
			continue
		}
		g := now.Figures[i]
		g.Place = f.Place
		switch {
		case g.Printed != f.Printed:
			out = append(out, fmt.Sprintf("figure %q: printed is %q, before %q", f.ID, g.Printed, f.Printed))
		case g != f:
			out = append(out, fmt.Sprintf("figure %q: its unit, or how it was shortened, was changed", f.ID))
		}
	}
	for _, t := range was.Tables {
		i := slices.IndexFunc(now.Tables, func(u audit.Table) bool { return u.ID == t.ID })
		if i < 0 {
			out = append(out, fmt.Sprintf("table %q is gone", t.ID))
			continue
		}
		for k, r := range t.Rows {
			switch u := now.Tables[i]; {
			case k >= len(u.Rows):
				out = append(out, fmt.Sprintf("table %q: row c%d is gone", t.ID, k+1))
			case !reflect.DeepEqual(u.Rows[k], r):
				out = append(out, fmt.Sprintf("table %q: row c%d: its levels or figures were changed", t.ID, k+1))
			}
		}
	}
	return out
}

// A correction is what an entry's front matter says of another entry.
type correction struct {
	Entry    string `toml:"entry"`
	Claim    string `toml:"claim"`
	Believed string `toml:"believed"`
	Found    string `toml:"found"`
}

// corrected tells whether a correction of an entry was added.
func (c *change) corrected(entry string) (bool, error) {
	before := map[correction]bool{}
	for _, p := range sorted(c.files, entries+"/") {
		data, err := c.one(c.files[p])
		if err != nil {
			return false, err
		}
		for _, k := range corrections(data) {
			before[k] = true
		}
	}
	pages, err := filepath.Glob(c.root.Path(filepath.FromSlash(entries), "*.md"))
	if err != nil {
		return false, err
	}
	for _, page := range pages {
		data, _, err := c.now(filepath.ToSlash(c.root.Rel(page)))
		if err != nil {
			return false, err
		}
		for _, k := range corrections(data) {
			if k.Entry == entry && k.Believed != "" && k.Found != "" && !before[k] {
				return true, nil
			}
		}
	}
	return false, nil
}

// corrections reads an entry's front matter. Hugo refuses what is wrong in it.
func corrections(page []byte) []correction {
	var front struct {
		Corrects []correction `toml:"corrects"`
	}
	if toml.Unmarshal(strict.FrontMatter(page), &front) != nil {
		return nil
	}
	return front.Corrects
}
