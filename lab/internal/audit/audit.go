// Package audit recomputes what the printed figures of a text imply about each
// other: deltas, bytes per answer, shares of the line rate, Little's law, sums,
// one quantity printed twice.
//
// The laws, and when two figures disagree, are those of package law, which
// linerate judge holds any table against. A statement that the text's data
// cannot support is not a disagreement but a claim, and gets a verdict.
package audit

import (
	"cmp"
	"fmt"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/metric"
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
	Tables        []Sheet            `json:"tables,omitempty"` // as pages show them
	Figures       map[string]Printed `json:"figures"`          // for use in prose
	Findings      []Finding          `json:"findings"`
}

// A Printed is a figure as a text prints it, with its range.
type Printed struct {
	Place   string      `json:"place"`
	Printed string      `json:"printed"`
	Unit    metric.Unit `json:"unit"`
	Value   float64     `json:"value"`
	Low     float64     `json:"low"`
	High    float64     `json:"high"`
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

func (f *Finding) judge() {
	f.Verdict = Disagrees
	if f.Relation.Holds(f.Stands, f.Recomputed, f.Within) {
		f.Verdict = Agrees
	}
	f.Stands, f.Recomputed = f.Stands.Rounded(), f.Recomputed.Rounded()
	f.show()
}

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
		if err := b.read(t, f); err != nil {
			return nil, &Fault{t.Entry, err}
		}
		for i := range t.Tables {
			f.Findings = append(f.Findings, t.Tables[i].automatic()...)
		}
		files = append(files, f)
	}
	return files, nil
}

// A Fault is an error in one entry's text.
type Fault struct {
	Text string // number of the entry
	Err  error
}

func (f *Fault) Error() string { return f.Err.Error() }

// read derives the findings of one text.
func (b book) read(t *Text, f *File) error {
	for _, fig := range t.Figures {
		p, err := fig.parse()
		if err != nil {
			return fmt.Errorf("figures %q: %w", fig.ID, err)
		}
		q := p.Quantity.Rounded()
		f.Figures[fig.ID] = Printed{fig.Place, fig.Printed, p.Unit, q.Value, q.Low, q.High}
	}
	for _, c := range t.Checks {
		found, err := b.check(t, c)
		if err != nil {
			return fmt.Errorf("checks %q: %w", c.ID, err)
		}
		f.Findings = append(f.Findings, found)
	}
	return nil
}

// check recomputes one figure.
func (b book) check(t *Text, c Check) (Finding, error) {
	stands, err := b.eval(t, c.Of)
	f := Finding{ID: c.ID, Kind: c.Kind, Place: c.Place, Unit: c.Unit, Stands: stands, Within: c.Within, Note: c.Note}
	if err != nil {
		return f, fmt.Errorf("of: %w", err)
	}
	// A formula that is just a name is a printed figure, or a level. The first is shown as
	// printed, with its place and unit.
	if p, _ := b.find(t, lone(c.Of)); p.Printed != "" {
		f.Printed, f.Place, f.Unit = p.Printed, cmp.Or(f.Place, p.Place), cmp.Or(f.Unit, p.Unit)
	}
	switch {
	case f.Place == "":
		return f, fmt.Errorf("place: missing; %q is no single figure that has one", c.Of)
	case f.Unit == "":
		return f, fmt.Errorf("unit: missing; %q is no single figure that has one", c.Of)
	}
	var formula string
	f.Relation, formula = c.relation()
	if f.Recomputed, err = b.eval(t, formula); err != nil {
		return f, fmt.Errorf("%s: %w", f.Relation, err)
	}
	f.judge()
	return f, nil
}
