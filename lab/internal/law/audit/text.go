package audit

import (
	"cmp"
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

// sides are the relation of a check, and the formula that gives the other side.
func (c Check) sides() (law.Relation, string) {
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
	faults = map[string]error{}
	for _, d := range found {
		path := filepath.Join(dir, d.Name())
		if t, err := Load(path); err != nil {
			faults[path] = err
		} else {
			texts = append(texts, t)
		}
	}
	return texts, faults, err
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

// Parse parses the text of the entry with the given number, and checks everything that needs no formula evaluated.
func Parse(name string, data []byte) (*Text, error) {
	t := &Text{}
	if err := strict.DecodeTOML(data, t); err != nil {
		return nil, err
	}
	if t.Entry != name || !entry.MatchString(name) && !study.MatchString(name) {
		return nil, fmt.Errorf("entry: %q, but the file is called %s.toml; it is called by the entry's number, or by the "+
			"study's word", t.Entry, name)
	}
	var faults []error
	named := map[string]bool{} // figures and tables, which share a namespace
	part := func(list string, i int, name string, seen map[string]bool, err error) {
		at := fmt.Sprintf("%s[%d]", list, i)
		switch _, calls := functions[name]; {
		case !id.MatchString(name):
			err = fmt.Errorf("%s: id %q must be lower-case letters, digits and _", at, name)
		case calls:
			err = fmt.Errorf("%s: id %q is a function of formulas", at, name)
		case seen[name]:
			err = fmt.Errorf("%s: id %q stands twice", at, name)
		case err != nil:
			err = fmt.Errorf("%s %q: %w", at, name, err)
		default:
			seen[name] = true
			return
		}
		faults = append(faults, err)
	}
	for i := range t.Tables {
		part("tables", i, t.Tables[i].ID, named, t.Tables[i].resolve())
	}
	for i, f := range t.Figures {
		part("figures", i, f.ID, named, f.resolve())
	}
	checks := map[string]bool{}
	for i, c := range t.Checks {
		part("checks", i, c.ID, checks, c.resolve())
	}
	if _, err := time.Parse(time.DateOnly, t.Date); err != nil && t.Tables != nil {
		faults = append(faults, fmt.Errorf("date: %q; give the day on which the tables were published, as 2026-06-12", t.Date))
	}
	return t, append(faults, nil)[0]
}

func (f Figure) resolve() error {
	if f.Place == "" {
		return errors.New("place is missing: say where it is printed")
	}
	_, err := f.read()
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

// units are the base units.
var units = []metric.Unit{metric.Second, metric.PerSecond, metric.BitsPerSecond, metric.BytesPerSecond, metric.Bytes,
	metric.Ratio, metric.Count}

func unit(u metric.Unit) error {
	if u != "" && !slices.Contains(units, u) {
		return fmt.Errorf("unit %q: use one of %q", u, units)
	}
	return nil
}

// A named figure is a printed one in its base unit, with its place.
type named struct {
	law.Quantity
	Place, Printed string
	Unit           metric.Unit
}

// read reads a figure as it was printed. One that was rounded down stands for all values up to the next.
func (f Figure) read() (named, error) {
	p, ok := law.Read(f.Printed, law.Manner{Digits: f.Exact || f.Cut})
	if !ok || f.Exact && f.Cut || f.Exact && strings.ContainsAny(f.Printed, "<~") || f.Cut && strings.ContainsAny(f.Printed, "<~-−") {
		return named{}, fmt.Errorf(`%q is no printed figure this lab can read (such as "1.32M", "~34µs", "+117%%", "<1ms", "6.25 GB/s"), `+
			`or is exact, cut or a limit at once`, f.Printed)
	}
	switch v := p.Value; {
	case f.Exact:
		p.Quantity = law.Exactly(v)
	case f.Cut:
		p.Quantity = law.Quantity{Value: v, Low: v, High: v + 2*(p.High-v)}
	}
	n := named{p.Times(p.Unit.Size(f.Binary)), f.Place, f.Printed, p.Unit.Of}
	switch {
	case n.Unit == metric.Count: // none is printed
		n.Unit = cmp.Or(f.Unit, metric.Count)
	case f.Unit != "" && f.Unit != n.Unit:
		return n, fmt.Errorf("unit %q, but %q is in %q", f.Unit, f.Printed, n.Unit)
	}
	return n, unit(f.Unit)
}
