package audit

import (
	"fmt"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A book finds the figures that names in formulas refer to:
//
//	name                a figure of this text
//	table.c3.metric     a figure of the third row of one of its tables
//	table.c3.setting    a level of that row, or a setting of the whole table
//	e08.name            any of these in another entry's text
type book map[string]*Text

// A named figure is the figure behind a name, and where it is printed.
type named struct {
	law.Quantity
	Place, Printed string
	Unit           metric.Unit
}

func (b book) eval(t *Text, formula string) (law.Quantity, error) {
	return evaluate(formula, func(name string) (law.Quantity, error) {
		n, err := b.find(t, name)
		return n.Quantity, err
	})
}

func (b book) find(t *Text, name string) (named, error) {
	first, rest, dotted := strings.Cut(name, ".")
	if !dotted {
		for _, f := range t.Figures {
			if f.ID == name {
				r, err := f.parse()
				return named{r.Quantity, f.Place, f.Printed, r.Unit}, err
			}
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
