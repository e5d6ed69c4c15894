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
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
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

// A Printed is a figure as a text prints it, with its range.
type Printed struct {
	Place   string      `json:"place"`
	Printed string      `json:"printed"`
	Unit    metric.Unit `json:"unit"`
	law.Quantity
}

// A Finding compares one figure with its value computed from others.
type Finding struct {
	ID    string `json:"id"`
	Kind  Kind   `json:"kind"`
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

func (f Finding) judged() Finding {
	f.Verdict = Disagrees
	if f.Relation.Holds(f.Stands, f.Recomputed, f.Within) {
		f.Verdict = Agrees
	}
	f.Stands, f.Recomputed = f.Stands.Rounded(), f.Recomputed.Rounded()
	f.Shown = f.show()
	return f
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
		for i := range t.Tables {
			sheet, err := t.Tables[i].sheet(t.Date, experiments, hosts)
			if err != nil {
				return nil, &Fault{t.Entry, fmt.Errorf("tables %q: %w", t.Tables[i].ID, err)}
			}
			f.Tables = append(f.Tables, sheet)
		}
		for _, fig := range t.Figures {
			p, _ := fig.read() // as it was read before
			f.Figures[fig.ID] = Printed{fig.Place, fig.Printed, p.Unit, p.Rounded()}
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
func (b book) check(t *Text, c Check) (Finding, error) {
	figure := func(name string) (law.Quantity, error) {
		n, err := b.find(t, name)
		return n.Quantity, err
	}
	f := Finding{ID: c.ID, Kind: c.Kind, Place: c.Place, Unit: c.Unit, Within: c.Within, Note: c.Note}
	var err error
	if f.Stands, err = evaluate(c.Of, figure); err != nil {
		return f, fmt.Errorf("of: %w", err)
	}
	// A formula that is just a name is a printed figure, or a level. The first is shown as
	// printed, with its place and unit.
	if p, _ := b.find(t, c.Of); p.Printed != "" {
		f.Printed, f.Place, f.Unit = p.Printed, cmp.Or(f.Place, p.Place), cmp.Or(f.Unit, p.Unit)
	}
	switch {
	case f.Place == "":
		return f, fmt.Errorf("place: missing; %q is no single figure that has one", c.Of)
	case f.Unit == "":
		return f, fmt.Errorf("unit: missing; %q is no single figure that has one", c.Of)
	}
	var formula string
	f.Relation, formula = c.sides()
	if f.Recomputed, err = evaluate(formula, figure); err != nil {
		return f, fmt.Errorf("%s: %w", f.Relation, err)
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

func (b book) find(t *Text, name string) (named, error) {
	first, rest, dotted := strings.Cut(name, ".")
	if !dotted {
		if f, ok := strict.Find(t.Figures, func(f Figure) bool { return f.ID == name }); ok {
			return f.read()
		}
		return named{}, fmt.Errorf("no figure %q in data/texts/%s.toml; %s", name, t.Entry,
			strict.Instead(name, strict.Map(t.Figures, func(f Figure) string { return f.ID })))
	}
	if number, ok := strings.CutPrefix(first, "e"); ok && entry.MatchString(number) {
		other := b[number]
		if other == nil {
			return named{}, fmt.Errorf("%q: there is no data/texts/%s.toml", name, number)
		}
		n, err := b.find(other, rest)
		n.Place = "entry " + number + ", " + n.Place
		return n, err
	}
	for _, table := range t.Tables {
		if table.ID == first {
			row, what, _ := strings.Cut(rest, ".")
			return table.cell(row, what)
		}
	}
	return named{}, fmt.Errorf("no table %q in data/texts/%s.toml; %s", first, t.Entry,
		strict.Instead(first, strict.Map(t.Tables, func(t Table) string { return t.ID })))
}
