package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A book finds the figures that names in formulas refer to:
//
//	name                a figure of this text
//	table.c3.metric     a figure of a published run: its condition, its metric
//	table.c3.setting    a level of that condition, or a setting of that run
//	e08.name            any of these in another entry's text
type book struct {
	texts map[string]*Text
	runs  []*results.File
}

// A named figure is the figure behind a name, and where it is printed.
type named struct {
	Quantity
	Place, Printed string
	Unit           metric.Unit
}

func (b *book) eval(t *Text, formula string) (Quantity, error) {
	return evaluate(formula, func(name string) (Quantity, error) {
		n, err := b.find(t, name)
		return n.Quantity, err
	})
}

// lone gives the printed figure if a formula is just its name.
func (b *book) lone(t *Text, formula string) (named, bool, error) {
	if !lone(formula) {
		return named{}, false, nil
	}
	n, err := b.find(t, strings.TrimSpace(formula))
	return n, err == nil && n.Printed != "", err
}

func (t *Text) figureNames() (ids []string) {
	for _, f := range t.Figures {
		ids = append(ids, f.ID)
	}
	return ids
}

func (t *Text) tableNames() (ids []string) {
	for _, table := range t.Tables {
		ids = append(ids, table.ID)
	}
	return ids
}

func (b *book) find(t *Text, name string) (named, error) {
	first, rest, dotted := strings.Cut(name, ".")
	if !dotted {
		for _, f := range t.Figures {
			if f.ID == name {
				r, err := f.parse()
				return named{r.Quantity, f.Place, f.Printed, r.Unit}, err
			}
		}
		return named{}, fmt.Errorf("no figure %q in data/texts/%s.toml; %s", name, t.Entry, strict.Instead(name, t.figureNames()))
	}
	if number, ok := strings.CutPrefix(first, "e"); ok && entry.MatchString(number) {
		other := b.texts[number]
		if other == nil {
			return named{}, fmt.Errorf("%q: there is no data/texts/%s.toml", name, number)
		}
		n, err := b.find(other, rest)
		n.Place = "entry " + number + ", " + n.Place
		return n, err
	}
	for _, table := range t.Tables {
		if table.ID == first {
			cond, what, _ := strings.Cut(rest, ".")
			return b.cell(table, cond, what)
		}
	}
	return named{}, fmt.Errorf("no table %q in data/texts/%s.toml; %s", first, t.Entry, strict.Instead(first, t.tableNames()))
}

// run finds the published run that a table is.
func (b *book) run(table Table) (*results.File, error) {
	i := slices.IndexFunc(b.runs, func(r *results.File) bool { return r.Experiment == table.Experiment && r.Run == table.Run })
	switch {
	case i < 0:
		return nil, fmt.Errorf("table %q: there is no data/results/%s/%s.json", table.ID, table.Experiment, table.Run)
	case b.runs[i].Source != results.Published:
		return nil, fmt.Errorf("table %q: %s was measured, not published", table.ID, table.Run)
	}
	return b.runs[i], nil
}

// cell finds one figure of a published run.
func (b *book) cell(table Table, cond, what string) (named, error) {
	r, err := b.run(table)
	if err != nil {
		return named{}, err
	}
	c, t, ok := trial(r, cond)
	if !ok {
		return named{}, fmt.Errorf("table %q: no trial of a condition %q in %s; %s", table.ID, cond, r.Run, strict.Instead(cond, conditions(r)))
	}
	place := placed(table.Place, c)
	if l, ok := r.Settings.With(c.Levels)[what]; ok {
		v, ok := l.Int()
		if !ok {
			return named{}, fmt.Errorf("%s is %s, no number", what, l)
		}
		return named{Quantity: Exactly(float64(v)), Place: place, Unit: metric.Count}, nil
	}
	m, ok := metric.Lookup(what)
	if !ok {
		return named{}, fmt.Errorf("%q is neither a setting nor a metric; %s", what, strict.Instead(what, append(setting.Names(), metric.Names()...)))
	}
	q, ok, err := figure(t, what)
	if err == nil && !ok {
		err = fmt.Errorf("table %q: %s has no %s at %s", table.ID, r.Run, what, cond)
	}
	return named{q, place + ": " + strings.ToLower(m.Label), t.Printed[what], m.Unit}, err
}

func conditions(r *results.File) (ids []string) {
	for _, c := range r.Conditions {
		ids = append(ids, c.ID)
	}
	return ids
}

// trial finds a published run's single trial of a condition.
func trial(r *results.File, cond string) (results.Condition, results.Trial, bool) {
	for _, c := range r.Conditions {
		for _, t := range r.Trials {
			if c.ID == cond && t.Condition == cond {
				return c, t, true
			}
		}
	}
	return results.Condition{}, results.Trial{}, false
}

// figure gives the range of a published trial's figure. Latencies in whole
// milliseconds were cut by autocannon.
func figure(t results.Trial, name string) (Quantity, bool, error) {
	printed, ok := t.Printed[name]
	if !ok {
		return Quantity{}, false, nil
	}
	m := manner{cut: strings.HasPrefix(name, "latency_") && whole.MatchString(printed), exact: counted[name] && !strings.HasPrefix(printed, "~")}
	r, err := parse(printed, m)
	if err != nil {
		return Quantity{}, false, fmt.Errorf("printed %s: %w", name, err)
	}
	// Nothing has checked the file's own value so far.
	value, known := t.Metrics[name]
	if below, ok := t.Below[name]; ok && !known {
		value = below
	}
	if !Equals.holds(Exactly(value), r.Quantity, 0) {
		return Quantity{}, false, fmt.Errorf("%s is %v, but printed as %q", name, value, printed)
	}
	return r.Quantity, true, nil
}

// placed names a condition's row.
func placed(table string, c results.Condition) string {
	place := table
	for _, name := range setting.Names() {
		if l, ok := c.Levels[name]; ok {
			place += fmt.Sprintf(", %s %s", strings.ReplaceAll(name, "_", " "), level(l))
		}
	}
	return place
}

func level(l setting.Level) string {
	if b, ok := l.Bool(); ok {
		if b {
			return "on"
		}
		return "off"
	}
	return l.String()
}
