// Package audit recomputes what the printed figures of a text imply about each other: deltas, sums, bytes per answer,
// shares of the line rate, Little's law, one quantity printed twice.
//
// It reads figures and holds rows of tables against laws, as linerate judge does with any table. A statement that the
// text's data cannot support is not a disagreement but a claim, and gets a verdict.
package audit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/server/catalog"
	"github.com/pelletier/go-toml/v2"
)

// A File is one TOML file in data/texts, written by hand from one entry's text: its tables, the figures of its
// sentences, and what they should agree with. The sentences themselves are not in it.
type File struct {
	Entry    string              `toml:"-"`    // its number, or the word of a study
	Date     toml.LocalDate      `toml:"date"` // on which it was published
	Tables   []Table             `toml:"tables"`
	Figures  map[string]*Printed `toml:"figures"` // of sentences, then also of tables, by what its formulas call them
	Findings []Finding           `toml:"checks"`
}

// A Table is one that a text printed. Its rows are single runs, so it decides no claim.
type Table struct {
	ID          string         `toml:"id"` // in formulas and on pages
	Place       string         `toml:"place"`
	Experiment  string         `toml:"experiment"` // the lab's, which repeats what the table shows
	Host        string         `toml:"host"`
	LineRateBps float64        `toml:"line_rate_bps"`
	Given       map[string]any `toml:"settings"` // the same in every row
	Rows        []Row          `toml:"rows"`

	Run results.File `toml:"-"` // with a trial for each row
}

// A Row is one run of a table: what was set, and the figures as they were printed.
type Row struct {
	Given   map[string]any    `toml:"levels"`
	Printed map[string]string `toml:"printed"`
}

// A Printed is a figure as a text prints it, with its range in its base unit.
type Printed struct {
	Place   string      `toml:"place"`
	Printed string      `toml:"printed"`
	Unit    metric.Unit `toml:"unit"`   // for figures without one in print; a count by default
	Exact   bool        `toml:"exact"`  // a setting or a count, not rounded
	Cut     bool        `toml:"cut"`    // rounded down
	Binary  bool        `toml:"binary"` // by a tool whose kilo is 1,024

	law.Quantity `toml:"-"`
}

// A Finding compares one figure with its value computed from others, by a formula that a text gives, or by a law.
type Finding struct {
	law.Result        // in files without place and unit if they are those of the figure
	ID         string `toml:"id"`
	Place      string `toml:"place"`
	Printed    string `toml:"-"` // absent if it is a formula
}

// Print gives a quantity to the first digit that its width leaves uncertain, or with five digits, and for prose with
// three, or those of the whole number. Its ends have the digits that tell them apart, if any do.
func (x *Finding) Print(q law.Quantity) (table, prose, ends string) {
	in := words.UnitFor(string(x.Unit), q.Value)
	switch {
	case strings.HasSuffix(x.Printed, "×"), strings.HasSuffix(x.Printed, "x"): // a multiple, in print
		in = words.Unit{Factor: 1, Name: "×"}
	case strings.HasSuffix(x.Printed, "/min"):
		in = words.Unit{Factor: 60, Name: "/min"}
	case x.Unit == metric.PerSecond:
		in.Name = ""
	case in.Name != "":
		in.Name = " " + in.Name
	}
	v, half := q.Value*in.Factor, (q.High-q.Low)/2*in.Factor
	at := words.Exponent(v) - 4
	if half > 0 {
		least := words.Exponent(half)
		ends = words.Grouped(q.Low*in.Factor, least) + " to " + words.Grouped(q.High*in.Factor, least) + in.Name
		at = max(min(at, 0), least)
	} else if v == math.Floor(v) {
		at = 0
	}
	return words.Grouped(v, max(at, -9)) + in.Name, words.Grouped(v, max(at, min(0, words.Exponent(v)-2))) + in.Name, ends
}

var word = regexp.MustCompile(`^(check )?[a-z][a-z0-9_]*$`)

// Parse parses the text of an entry, and checks everything that needs no formula evaluated.
func Parse(entry string, data []byte) (*File, error) {
	f := &File{Entry: entry, Figures: map[string]*Printed{}}
	if err := strict.DecodeTOML(data, f); err != nil {
		return nil, err
	}
	if f.Date.Year == 0 {
		return nil, errors.New("date: give the day on which it was published, as 2026-06-12")
	}
	for id, p := range f.Figures {
		if err := p.read(); err != nil {
			return nil, fmt.Errorf("figures %q: %w", id, err)
		}
	}
	ids := strict.Map(f.Findings, func(x Finding) string { return "check " + x.ID })
	for i := range f.Tables {
		t := &f.Tables[i]
		ids = append(ids, t.ID)
		levels, err := setting.ParseLevels(t.Given)
		if err != nil {
			return nil, fmt.Errorf("tables %q: settings: %w", t.ID, err)
		}
		t.Run.Settings, t.Run.Topology.LineRateBps = levels, t.LineRateBps
		for k, r := range t.Rows {
			if err := f.row(t, r, fmt.Sprintf("c%d", k+1)); err != nil {
				return nil, fmt.Errorf("tables %q: rows[%d]: %w", t.ID, k, err)
			}
		}
	}
	for i, id := range ids {
		if !word.MatchString(id) || slices.Contains(ids[:i], id) {
			return nil, fmt.Errorf("%q: an id is of lower-case letters, digits and _, and is there once", id)
		}
	}
	return f, nil
}

// row makes a trial of a row, and every check that its figures allow. Rows of the same levels are of one condition.
func (f *File) row(t *Table, r Row, id string) error {
	levels, err := setting.ParseLevels(r.Given)
	if err != nil {
		return err
	}
	of, known := strict.Find(t.Run.Conditions, func(c results.Condition) bool { return c.Levels.Key() == levels.Key() })
	if !known {
		of = results.Condition{ID: id, Levels: levels}
		t.Run.Conditions = append(t.Run.Conditions, of)
	}
	trial := results.Trial{Block: len(t.Run.Trials), Condition: of.ID, Valid: true, Printed: r.Printed,
		Metrics: map[string]float64{}, Below: map[string]float64{}}
	place, figures := t.Place, map[string]Printed{} // by metric, and levels that are numbers
	for _, name := range setting.Names() {
		if l, ok := levels[name]; ok {
			place += ", " + strings.ReplaceAll(name, "_", " ") + " " + setting.LevelPhrase(l)
		}
	}
	levels = t.Run.Settings.With(levels)
	for name, level := range levels {
		if n, ok := level.Int(); ok {
			figures[name] = Printed{Printed: setting.LevelPhrase(level), Quantity: law.Exactly(float64(n))}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Printed)) {
		p, err := printedFigure(name, r.Printed[name], place)
		if err != nil {
			return fmt.Errorf("printed: %s: %w", name, err)
		}
		if figures[name] = p; strings.HasPrefix(p.Printed, "<") {
			trial.Below[name] = p.Value
		} else {
			trial.Metrics[name] = p.Value
		}
	}
	t.Run.Trials = append(t.Run.Trials, trial)

	row, metrics := law.Row{}, map[string]string{} // by what law calls them
	_, middle := figures["latency_p50_s"]          // a tail alone is for a check to hold
	for name, p := range figures {
		f.Figures[t.ID+"."+id+"."+name] = &p
		figure, ok := law.FigureOf(name)
		if ok && (middle || figure.ID != "") && name != setting.Rate { // which was asked for
			row.Set(figure, p.Quantity)
			metrics[figure.Name] = name
		}
	}
	if t.LineRateBps > 0 {
		row.Set(law.Reach, law.Exactly(t.LineRateBps/8))
	}
	if size, ok := answer(levels); ok {
		row.Set(law.Size, size)
	}
	row.Follow()
	row.Judge(func(of law.Result) {
		name := metrics[of.Of]
		p := figures[name]
		of.Within, of.Stands, of.Allowed = math.Ceil(1e3*of.Within)/1e3, of.Stands.Rounded(), of.Allowed.Rounded()
		if (of.Note != "" || !of.Holds && of.Law == "cpu-sum") && of.Stands.Value > 0 { // none under way say nothing
			id := strings.TrimSuffix(strings.Join([]string{t.ID, id, of.Law, name}, "-"), "-")
			f.Findings = append(f.Findings, Finding{of, id, cmp.Or(p.Place, place), p.Printed})
		}
	})
	return nil
}

// printedFigure reads a metric's figure. Counts are in full. Latencies in whole milliseconds were cut by autocannon.
func printedFigure(name, printed, place string) (p Printed, err error) {
	m, ok := metric.Lookup(name)
	if !ok {
		return p, fmt.Errorf("no such metric; %s", strict.Instead(name, metric.Names()))
	}
	p = Printed{Place: place + ": " + strings.ToLower(m.Label), Printed: printed,
		Cut:   strings.HasPrefix(name, "latency_") && strings.TrimLeft(printed, "0123456789 ") == "ms",
		Exact: m.Unit == metric.Count && !strings.ContainsAny(printed, "~.")}
	if m.Unit == metric.Count || m.Unit == metric.PerSecond || m.Unit == metric.Ratio {
		p.Unit = m.Unit // other units in print
	}
	if err = p.read(); err == nil && p.Unit != m.Unit {
		err = fmt.Errorf("%q is no figure in %s", printed, m.Unit)
	}
	return p, err
}

// units are the base units.
var units = []metric.Unit{metric.Second, metric.PerSecond, metric.BitsPerSecond, metric.BytesPerSecond, metric.Bytes,
	metric.Ratio, metric.Count}

// read reads a figure as it was printed. A figure rounded down means all values up to the next.
func (p *Printed) read() error {
	as, ok := law.Read(p.Printed, law.Manner{Digits: p.Exact || p.Cut, Binary: p.Binary})
	if as.Unit == metric.Count { // no unit in print
		as.Unit = cmp.Or(p.Unit, as.Unit)
	}
	switch v := as.Value; {
	case !ok || p.Exact && p.Cut || (p.Exact || p.Cut) && strings.ContainsAny(p.Printed, "<~-−"):
		return fmt.Errorf(`%q is no printed figure this lab can read (such as "1.32M", "~34µs", "+117%%", "<1ms", `+
			`"6.25 GB/s"), or is exact, cut or a limit at once`, p.Printed)
	case p.Unit != "" && p.Unit != as.Unit || !slices.Contains(units, as.Unit):
		return fmt.Errorf("unit %q, but %q is in %q; use one of %q", p.Unit, p.Printed, as.Unit, units)
	case p.Exact:
		as.Quantity = law.Exactly(v)
	case p.Cut:
		as.Quantity = law.Quantity{Value: v, Low: v, High: v + 2*(as.High-v)}
	}
	p.Unit, p.Quantity = as.Unit, as.Rounded()
	return nil
}

// Of audits every text, in place. An error is of the text with that entry.
func Of(texts []*File) (entry string, err error) {
	b := book{}
	for _, f := range texts {
		for id, p := range f.Figures {
			b["e"+f.Entry+"."+id] = *p
		}
	}
	for _, f := range texts {
		for i, x := range f.Findings {
			if x.Stands == (law.Quantity{}) { // no law's
				if err := b.check(f, &f.Findings[i]); err != nil {
					return f.Entry, fmt.Errorf("checks %q: %w", x.ID, err)
				}
			}
		}
	}
	return "", nil
}

// A book has all figures of texts, by what formulas call them:
//
//	e08.name            a figure of a text, also without e08 in this text's own formulas
//	e08.table.c3.metric a figure of the third row of one of its tables, or a setting of that row
type book map[string]Printed

// check recomputes one figure. One whose formula is just the name of a printed figure is shown as printed, with its
// place and unit.
func (b book) check(f *File, x *Finding) error {
	p, err := b.value(f, x.Of)
	to, other := b.value(f, x.To)
	if p.Printed != "" {
		x.Printed, x.Place, x.Unit = p.Printed, cmp.Or(x.Place, p.Place), cmp.Or(x.Unit, p.Unit)
	}
	known := strict.Map(law.All, func(w strict.Word) string { return w.Name })
	switch {
	case err != nil || other != nil:
		return cmp.Or(err, other)
	case !slices.Contains(known, x.Law):
		return fmt.Errorf("unknown law %q; %s", x.Law, strict.Instead(x.Law, known))
	case !slices.Contains([]law.Relation{law.Equals, law.AtMost, law.AtLeast}, x.Relation):
		return fmt.Errorf("relation %q: it is one of equals, at most and at least", x.Relation)
	case x.Law == law.Answer && x.Relation != law.Equals:
		return errors.New("a size needs equals, since a limit on one side would agree with nearly everything")
	case !(x.Within >= 0 && x.Within < 1) || x.Within > 0 && x.Note == "":
		return errors.New("within must be a share from 0 to 1, and note must say why it allows more than rounding does")
	case x.Place == "" || !slices.Contains(units, x.Unit):
		return fmt.Errorf("place or unit: missing; %q is no single figure that has both; units are %q", x.Of, units)
	}
	x.Holds = x.Relation.Holds(p.Quantity, to.Quantity, x.Within)
	x.Stands, x.Allowed = p.Rounded(), to.Rounded()
	return nil
}

// value is the result of a text's formula, or the figure that it names.
func (b book) value(f *File, formula string) (p Printed, err error) {
	in := "e" + f.Entry + "."
	come, err := law.ParseFormula(formula, func(name string) (law.Formula, error) {
		own, there := b[in+name]
		if !there {
			if own, there = b[name]; !there {
				known := strict.Map(slices.Sorted(maps.Keys(b)), func(id string) string { return strings.TrimPrefix(id, in) })
				return nil, fmt.Errorf("no figure %q in data/texts/%s.toml; %s", name, f.Entry, strict.Instead(name, known))
			}
			own.Place = "entry " + name[1:strings.Index(name, ".")] + ", " + own.Place
		}
		if name == formula {
			p = own
		}
		return func(*law.Row) law.Quantity { return own.Quantity }, nil
	})
	if err != nil {
		return p, err
	}
	if p.Quantity = come(nil); !p.Finite() {
		err = fmt.Errorf("%q is no finite figure: it may divide by zero", formula)
	}
	return p, err
}

// answer is the size in bytes of an answer, head and body, if the series printed that of the route. The body of /read
// is a mean over products drawn at start; two sets of products differ by less than 2 %. Rates count answers and
// transfers count bytes read: only one of them has what is in transit at the ends of a window, which makes less than 1
// %.
func answer(levels setting.Levels) (law.Quantity, bool) {
	route, ok := catalog.RouteOf(levels[setting.Route].String())
	// Another server's head has a status line and an empty line, and is smaller than any plain head.
	head := law.Quantity{Value: 108, Low: 19, High: 256}
	if stack := levels[setting.Stack]; stack.IsZero() || stack.String() == setting.Fiber {
		of := float64(route.Head(int(route.Printed)))
		head = law.Around(of, route.Within*of)
	}
	return law.Around(route.Printed, route.Within*route.Printed).Plus(head), ok && route.Printed > 0
}
