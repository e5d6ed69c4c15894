package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Text is what was carried over by hand from one entry's text: its tables, the
// figures of its sentences, and what they should agree with. It has one TOML file
// in data/texts. The sentences themselves are not in it.
type Text struct {
	Entry   string   `toml:"entry"`
	Date    string   `toml:"date"` // on which it was published; a text with tables has one
	Tables  []Table  `toml:"tables"`
	Figures []Figure `toml:"figures"`
	Checks  []Check  `toml:"checks"`
}

// A Figure is one printed figure.
type Figure struct {
	ID      string      `toml:"id"`
	Place   string      `toml:"place"`
	Printed string      `toml:"printed"`
	Unit    metric.Unit `toml:"unit"`   // if no unit is printed; a count by default
	Exact   bool        `toml:"exact"`  // a setting or a count, not rounded
	Cut     bool        `toml:"cut"`    // rounded down
	Binary  bool        `toml:"binary"` // printed by a tool whose kilo is 1,024
}

// A Kind says what a check compares: the ID of a law.
type Kind string

// Kinds has all kinds of check, and explains each.
var Kinds = func() map[Kind]string {
	all := map[Kind]string{}
	for _, l := range law.All {
		all[Kind(l.ID)] = l.Says
	}
	return all
}()

// A Check is one figure and the formula that should give it.
type Check struct {
	ID      string      `toml:"id"`
	Kind    Kind        `toml:"kind"`
	Of      string      `toml:"of"` // name of a figure, or a formula
	Equals  string      `toml:"equals"`
	AtMost  string      `toml:"at_most"`
	AtLeast string      `toml:"at_least"`
	Within  float64     `toml:"within"` // tolerance beyond rounding, as a share; note says why
	Place   string      `toml:"place"`  // if not that of the figure
	Unit    metric.Unit `toml:"unit"`   // if not that of the figure
	Note    string      `toml:"note"`
}

func (c Check) relation() (law.Relation, string) {
	switch {
	case c.AtMost != "":
		return law.AtMost, c.AtMost
	case c.AtLeast != "":
		return law.AtLeast, c.AtLeast
	}
	return law.Equals, c.Equals
}

var (
	id    = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	entry = regexp.MustCompile(`^[0-9]{2}[a-z]?$`)
	study = regexp.MustCompile(`^[a-z]{3,}$`) // an entry without a number
)

// LoadDir reads every text of a directory, sorted by entry; none if there is no
// such directory. A faulty text does not hide the others.
func LoadDir(dir string) (texts []*Text, faults map[string]error, err error) {
	found, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	faults = map[string]error{}
	for _, d := range found {
		path := filepath.Join(dir, d.Name())
		t, err := Load(path)
		if err != nil {
			faults[path] = err
			continue
		}
		texts = append(texts, t)
	}
	return texts, faults, nil
}

// Load reads one text.
func Load(path string) (*Text, error) {
	name, ok := strings.CutSuffix(filepath.Base(path), ".toml")
	if !ok {
		return nil, errors.New("only texts belong there, one .toml file an entry")
	}
	data, err := strict.ReadUpTo(path, strict.MostWritten)
	if err != nil {
		return nil, err
	}
	return Parse(name, data)
}

// Parse parses the text of the entry with the given number.
func Parse(name string, data []byte) (*Text, error) {
	t := &Text{}
	if err := strict.DecodeTOML(data, t); err != nil {
		return nil, err
	}
	if t.Entry != name || !entry.MatchString(name) && !study.MatchString(name) {
		return nil, fmt.Errorf("entry: %q, but the file is called %s.toml; it is called by the entry's number, or by the "+
			"study's word", t.Entry, name)
	}
	return t, t.resolve()
}

// resolve checks everything that needs no formula evaluated.
func (t *Text) resolve() error {
	named := map[string]bool{} // names of figures and tables, which share a namespace
	part := func(list string, i int, seen map[string]bool, name string, resolve func() error) error {
		at := fmt.Sprintf("%s[%d]", list, i)
		switch {
		case !id.MatchString(name):
			return fmt.Errorf("%s: id %q must be lower-case letters, digits and _", at, name)
		case callable(name):
			return fmt.Errorf("%s: id %q is a function of formulas", at, name)
		case seen[name]:
			return fmt.Errorf("%s: id %q stands twice", at, name)
		}
		seen[name] = true
		if err := resolve(); err != nil {
			return fmt.Errorf("%s %q: %w", at, name, err)
		}
		return nil
	}
	for i := range t.Tables {
		table := &t.Tables[i]
		if err := part("tables", i, named, table.ID, table.resolve); err != nil {
			return err
		}
		if _, err := time.Parse(time.DateOnly, t.Date); err != nil {
			return fmt.Errorf("date: %q; give the day on which the tables were published, as 2026-06-12", t.Date)
		}
	}
	for i, f := range t.Figures {
		if err := part("figures", i, named, f.ID, f.resolve); err != nil {
			return err
		}
	}
	checks := map[string]bool{}
	for i, c := range t.Checks {
		if err := part("checks", i, checks, c.ID, c.resolve); err != nil {
			return err
		}
	}
	return nil
}

func (f Figure) resolve() error {
	if f.Place == "" {
		return errors.New("place is missing: say where it is printed")
	}
	_, err := f.parse()
	return err
}

func (c Check) resolve() error {
	sides := strict.Count([]string{c.Equals, c.AtMost, c.AtLeast}, func(s string) bool { return s != "" })
	switch {
	case Kinds[c.Kind] == "":
		return fmt.Errorf("unknown kind %q; %s", c.Kind, strict.InsteadOf(string(c.Kind), strict.Meanings(Kinds)))
	case c.Of == "" || sides != 1:
		return errors.New("needs of, and one of equals, at_most and at_least")
	case c.Kind == Kind(law.Answer.ID) && c.Equals == "":
		return errors.New("a size needs equals, since a limit on one side would agree with nearly everything")
	case !(c.Within >= 0 && c.Within < 1):
		return errors.New("within must be a share from 0 to 1")
	case c.Within > 0 && c.Note == "":
		return errors.New("within allows more than rounding does; note must say why")
	}
	return unit(c.Unit)
}

func unit(u metric.Unit) error {
	if u != "" && !slices.Contains(Units(), u) {
		return fmt.Errorf("unit %q: use one of %q", u, Units())
	}
	return nil
}

// parse parses the figure as it was printed.
func (f Figure) parse() (reading, error) {
	r, err := parse(f.Printed, manner{f.Exact, f.Cut, f.Binary})
	if err == nil {
		err = unit(f.Unit)
	}
	if err != nil {
		return r, err
	}
	switch {
	case r.Unit != "" && f.Unit != "" && r.Unit != f.Unit:
		return r, fmt.Errorf("unit %q, but %q is in %q", f.Unit, f.Printed, r.Unit)
	case r.Unit == "" && f.Unit == "":
		r.Unit = metric.Count
	case r.Unit == "":
		r.Unit = f.Unit
	}
	return r, nil
}

// Units lists the base units.
func Units() []metric.Unit {
	return []metric.Unit{metric.Second, metric.PerSecond, metric.BitsPerSecond, metric.BytesPerSecond, metric.Bytes,
		metric.Ratio, metric.Count}
}
