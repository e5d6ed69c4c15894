// Package audit recomputes what the printed figures of a text imply about each
// other: deltas, bytes per answer, shares of the line rate, Little's law, sums,
// one quantity printed twice.
//
// Figures are read, and rows of tables held against laws, as linerate judge does it with
// any table. A statement that the text's data cannot support is not a disagreement but
// a claim, and gets a verdict.
package audit

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Version is the schema version of audit files.
const Version = 1

// The possible values of Finding.Verdict.
const (
	Agrees    = "agrees"
	Disagrees = "disagrees"
)

// A File is the audit of one entry's figures. It is derived.
type File struct {
	SchemaVersion int                `json:"schema_version"`
	Entry         string             `json:"entry"`
	Tables        []Sheet            `json:"-"`
	Figures       map[string]Printed `json:"figures"`          // for use in prose
	Findings      []Finding          `json:"findings"`
}

// A Printed is a figure as a text prints it, with its range in its base unit.
type Printed struct {
	Place   string      `json:"place"`
	Printed string      `json:"printed"`
	Unit    metric.Unit `json:"unit"`
	law.Quantity
}

// A Finding compares one figure with its value computed from others.
type Finding struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"` // the ID of a law
	Place string `json:"place"`
	// Printed is the figure as printed; absent if it is a formula.
	Printed string      `json:"printed,omitempty"`
	Unit    metric.Unit `json:"unit"`
	// Stands is the range that rounding allows for the figure.
	Stands     law.Quantity `json:"stands"`
	Relation   law.Relation `json:"relation"`
	Recomputed law.Quantity `json:"recomputed"`
	Within     float64      `json:"within,omitempty"` // tolerance beyond rounding, as a share
	Verdict    string       `json:"verdict"`
	Shown      Shown        `json:"shown"`
	Note       string       `json:"note,omitempty"`
	Automatic  bool         `json:"automatic,omitempty"` // made from a table, not written by hand
}

// Shown has a finding's quantities as pages print them, in tables and in prose.
type Shown struct {
	Printed         string `json:"printed"`
	PrintedProse    string `json:"printed_prose"`
	Recomputed      string `json:"recomputed"`
	RecomputedProse string `json:"recomputed_prose"`
	Stands          string `json:"stands"`           // what rounding allows
	Within          string `json:"within,omitempty"` // the tolerance beyond it
}

// judged is the finding with its verdict, and as it is shown.
func (f Finding) judged() Finding {
	f.Verdict = Disagrees
	if f.Relation.Holds(f.Stands, f.Recomputed, f.Within) {
		f.Verdict = Agrees
	}
	f.Stands, f.Recomputed = f.Stands.Rounded(), f.Recomputed.Rounded()
	s := &f.Shown
	s.Printed, s.PrintedProse, s.Stands = f.print(f.Stands)
	s.Recomputed, s.RecomputedProse, _ = f.print(f.Recomputed)
	if f.Printed != "" {
		s.Printed, s.PrintedProse = f.Printed, f.Printed
	}
	if f.Within > 0 {
		s.Within = words.Percent(f.Within)
	}
	return f
}

// print gives a quantity as tables have it, to the first digit that its width leaves uncertain and of at most five; as
// prose has it, of three or those of the whole number; and its ends, with the digits that tell them apart, or none.
func (f Finding) print(q law.Quantity) (table, prose, ends string) {
	in := words.UnitFor(string(f.Unit), q.Value)
	switch { // a figure that was printed as a multiple or per minute is shown so
	case strings.HasSuffix(f.Printed, "/min"):
		in = words.Unit{Factor: 60, Name: "/min"}
	case strings.HasSuffix(f.Printed, "×"), strings.HasSuffix(f.Printed, "x"):
		in = words.Unit{Factor: 1, Name: "×"}
	case f.Unit == metric.PerSecond:
		in.Name = ""
	case in.Name != "":
		in.Name = " " + in.Name
	}
	v, half := q.Value*in.Factor, (q.High-q.Low)/2*in.Factor
	place := func(most int) int {
		at := words.Exponent(v) - 4
		if v == math.Floor(v) {
			at = 0
		}
		if half > 0 {
			at = max(words.Exponent(half), words.Exponent(v)-most)
		}
		if half > 0 && half < 1 {
			at = min(at, 0)
		}
		return max(at, -9)
	}
	table = words.Grouped(v, place(4)) + in.Name
	prose = words.Grouped(v, max(place(4), min(0, words.Exponent(v)-2))) + in.Name
	if q.Low != q.High {
		at := place(99)
		ends = words.Grouped(q.Low*in.Factor, at) + " to " + words.Grouped(q.High*in.Factor, at) + in.Name
	}
	return table, prose, ends
}

// A Fault is an error in one entry's text.
type Fault struct {
	Text string // number of the entry
	Err  error
}

func (f *Fault) Error() string { return f.Err.Error() }

// Of audits every text, in their order. The experiments are those that tables name,
// the hosts those that they were measured on.
func Of(texts []*Text, experiments []*experiment.Experiment, hosts map[string]*host.Profile) ([]*File, error) {
	b := book{}
	for _, t := range texts {
		b[t.Entry] = t
	}
	files := []*File{}
	for _, t := range texts {
		f := &File{SchemaVersion: Version, Entry: t.Entry, Figures: map[string]Printed{}, Findings: []Finding{}}
		for _, sheet := range t.Tables {
			if err := sheet.lay(t.Date, experiments, hosts); err != nil {
				return nil, &Fault{t.Entry, fmt.Errorf("tables %q: %w", sheet.ID, err)}
			}
			f.Tables = append(f.Tables, sheet)
		}
		for _, fig := range t.Figures {
			p, _ := fig.read() // as it was read before
			p.Quantity = p.Rounded()
			f.Figures[fig.ID] = p
		}
		for _, c := range t.Checks {
			found, err := b.check(t, c)
			if err != nil {
				return nil, &Fault{t.Entry, fmt.Errorf("checks %q: %w", c.ID, err)}
			}
			f.Findings = append(f.Findings, found)
		}
		for i := range t.Tables {
			f.Findings = append(f.Findings, t.Tables[i].automatic()...)
		}
		files = append(files, f)
	}
	return files, nil
}

// check recomputes one figure.
func (b book) check(t *Text, c Check) (f Finding, err error) {
	// A formula that is just a name is a printed figure, or a level. The first is shown as
	// printed, with its place and unit.
	p, _ := b.find(t, c.Of)
	f = Finding{ID: c.ID, Kind: c.Kind, Place: c.Place, Printed: p.Printed, Unit: c.Unit, Within: c.Within, Note: c.Note}
	if p.Printed != "" {
		f.Place, f.Unit = cmp.Or(f.Place, p.Place), cmp.Or(f.Unit, p.Unit)
	}
	if f.Stands, err = b.value(t, c.Of); err != nil {
		return f, fmt.Errorf("of: %w", err)
	}
	if f.Place == "" || f.Unit == "" {
		return f, fmt.Errorf("place or unit: missing; %q is no single figure that has both", c.Of)
	}
	f.Relation = c.relation
	if f.Recomputed, err = b.value(t, c.formula); err != nil {
		return f, fmt.Errorf("%s: %w", c.relation, err)
	}
	return f.judged(), nil
}

// A book finds the figures that names in formulas refer to:
//
//	name                a figure of this text
//	table.c3.metric     a figure of the third row of one of its tables
//	table.c3.setting    a level of that row, or a setting of the whole table
//	e08.name            any of these in another entry's text
type book map[string]*Text

// value is what a formula of a text comes to.
func (b book) value(t *Text, formula string) (q law.Quantity, err error) {
	f, err := law.ParseFormula(formula, func(name string) (law.Formula, error) {
		p, err := b.find(t, name)
		return law.Always(p.Quantity), err
	})
	if err != nil {
		return q, err
	}
	if q = f(nil); !q.Finite() {
		err = fmt.Errorf("%q is no finite figure: it may divide by zero", formula)
	}
	return q, err
}

func (b book) find(t *Text, name string) (Printed, error) {
	first, rest, dotted := strings.Cut(name, ".")
	if !dotted {
		if f, ok := strict.Find(t.Figures, func(f Figure) bool { return f.ID == name }); ok {
			return f.read()
		}
		return Printed{}, fmt.Errorf("no figure %q in data/texts/%s.toml; %s", name, t.Entry,
			strict.Instead(name, strict.Map(t.Figures, func(f Figure) string { return f.ID })))
	}
	if number, ok := strings.CutPrefix(first, "e"); ok && entry.MatchString(number) {
		other := b[number]
		if other == nil {
			return Printed{}, fmt.Errorf("%q: there is no data/texts/%s.toml", name, number)
		}
		p, err := b.find(other, rest)
		p.Place = "entry " + number + ", " + p.Place
		return p, err
	}
	for _, table := range t.Tables {
		if table.ID == first {
			row, what, _ := strings.Cut(rest, ".")
			return table.cell(row, what)
		}
	}
	return Printed{}, fmt.Errorf("no table %q in data/texts/%s.toml; %s", first, t.Entry,
		strict.Instead(first, strict.Map(t.Tables, func(t Sheet) string { return t.ID })))
}
