package audit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
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
	Tables  []Sheet  `toml:"tables"`
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

// A Check is one figure and the formula that should give it.
type Check struct {
	ID      string      `toml:"id"`
	Kind    string      `toml:"kind"` // the name of a law
	Of      string      `toml:"of"`   // name of a figure, or a formula
	Equals  string      `toml:"equals"`
	AtMost  string      `toml:"at_most"`
	AtLeast string      `toml:"at_least"`
	Within  float64     `toml:"within"` // tolerance beyond rounding, as a share; note says why
	Place   string      `toml:"place"`  // if not that of the figure
	Unit    metric.Unit `toml:"unit"`   // if not that of the figure
	Note    string      `toml:"note"`

	relation law.Relation
	formula  string // that gives the other side
}

var (
	word  = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	entry = regexp.MustCompile(`^[0-9]{2}[a-z]?$`)
	study = regexp.MustCompile(`^[a-z]{3,}$`) // an entry without a number
)

// LoadDir reads every text of a directory, sorted by entry; none if there is no
// such directory. A faulty text does not hide the others.
func LoadDir(dir string) (texts []*Text, faults map[string]error, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	faults = map[string]error{}
	for _, path := range paths {
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
	var first error
	seen := map[string]bool{}
	part := func(list string, i int, id, space string, err error) {
		switch {
		case !word.MatchString(id):
			err = errors.New("its id must be lower-case letters, digits and _")
		case seen[space+id]:
			err = errors.New("its id stands twice")
		}
		if seen[space+id] = true; err != nil && first == nil {
			first = fmt.Errorf("%s[%d] %q: %w", list, i, id, err)
		}
	}
	for i := range t.Tables {
		part("tables", i, t.Tables[i].ID, "", t.Tables[i].resolve()) // tables and figures share a namespace
	}
	for i, f := range t.Figures {
		_, err := f.read()
		part("figures", i, f.ID, "", err)
	}
	for i := range t.Checks {
		part("checks", i, t.Checks[i].ID, "check ", t.Checks[i].resolve())
	}
	if _, err := time.Parse(time.DateOnly, t.Date); err != nil && t.Tables != nil && first == nil {
		first = fmt.Errorf("date: %q; give the day on which the tables were published, as 2026-06-12", t.Date)
	}
	return t, first
}

func (c *Check) resolve() error {
	sides := map[law.Relation]string{law.Equals: c.Equals, law.AtMost: c.AtMost, law.AtLeast: c.AtLeast}
	maps.DeleteFunc(sides, func(_ law.Relation, formula string) bool { return formula == "" })
	for c.relation, c.formula = range sides {
	}
	switch {
	case !slices.ContainsFunc(law.All, func(w strict.Word) bool { return w.Name == c.Kind }):
		return fmt.Errorf("unknown kind %q; %s", c.Kind, strict.InsteadOf(c.Kind, law.All))
	case c.Of == "" || len(sides) != 1:
		return errors.New("needs of, and one of equals, at_most and at_least")
	case c.Kind == law.Answer && c.Equals == "":
		return errors.New("a size needs equals, since a limit on one side would agree with nearly everything")
	case !(c.Within >= 0 && c.Within < 1):
		return errors.New("within must be a share from 0 to 1")
	case c.Within > 0 && c.Note == "":
		return errors.New("within allows more than rounding does; note must say why")
	case !slices.Contains(units, c.Unit):
		return fmt.Errorf("unit %q: use one of %q", c.Unit, units)
	}
	return nil
}

// units are the base units, and none.
var units = []metric.Unit{metric.Second, metric.PerSecond, metric.BitsPerSecond, metric.BytesPerSecond, metric.Bytes,
	metric.Ratio, metric.Count, ""}

// read reads a figure as it was printed. One that was rounded down stands for all values up to the next.
func (f Figure) read() (Printed, error) {
	p, ok := law.Read(f.Printed, law.Manner{Digits: f.Exact || f.Cut, Binary: f.Binary})
	if p.Unit == metric.Count { // none is printed
		p.Unit = cmp.Or(f.Unit, p.Unit)
	}
	switch v := p.Value; {
	case f.Place == "":
		return Printed{}, errors.New("place is missing: say where it is printed")
	case !ok || f.Exact && f.Cut || (f.Exact || f.Cut) && strings.ContainsAny(f.Printed, "<~-−"):
		return Printed{}, fmt.Errorf(`%q is no printed figure this lab can read (such as "1.32M", "~34µs", "+117%%", "<1ms", `+
			`"6.25 GB/s"), or is exact, cut or a limit at once`, f.Printed)
	case f.Unit != "" && f.Unit != p.Unit:
		return Printed{}, fmt.Errorf("unit %q, but %q is in %q", f.Unit, f.Printed, p.Unit)
	case !slices.Contains(units, p.Unit):
		return Printed{}, fmt.Errorf("unit %q: use one of %q", p.Unit, units)
	case f.Exact:
		p.Quantity = law.Exactly(v)
	case f.Cut:
		p.Quantity = law.Quantity{Value: v, Low: v, High: v + 2*(p.High-v)}
	}
	return Printed{f.Place, f.Printed, p.Unit, p.Quantity}, nil
}
