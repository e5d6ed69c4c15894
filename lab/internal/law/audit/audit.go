// Package audit recomputes what the printed figures of a text imply about each other: deltas, sums, bytes per answer,
// shares of the line rate, Little's law, one quantity printed twice.
//
// It reads figures and holds rows of tables against laws, as linerate judge does with any table. A
// statement that the text's data cannot support is not a disagreement but a claim, and gets a
// verdict.
package audit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

// judge tells whether a finding agrees, and what is shown.
func (x *Finding) judge() {
	x.Agrees = x.Relation.Holds(x.Stands, x.Recomputed, x.Within)
	x.Stands, x.Recomputed = x.Stands.Rounded(), x.Recomputed.Rounded()
	s := &x.Shown
	s.Printed, s.PrintedProse, s.Stands = x.print(x.Stands)
	s.Recomputed, s.RecomputedProse, _ = x.print(x.Recomputed)
	if x.Printed != "" {
		s.Printed, s.PrintedProse = x.Printed, x.Printed
	}
	if x.Within > 0 {
		s.Within = words.Percent(x.Within)
	}
}

// print gives a quantity to the first digit that its width leaves uncertain, or with five digits, and for prose with
// three, or those of the whole number. Its ends have the digits that tell them apart, if any do.
func (x *Finding) print(q law.Quantity) (table, prose, ends string) {
	in := words.UnitFor(string(x.Unit), q.Value)
	switch {
	case strings.HasSuffix(x.Printed, "×"), strings.HasSuffix(x.Printed, "x"): // printed as a multiple
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
	table = words.Grouped(v, max(at, -9)) + in.Name
	return table, words.Grouped(v, max(at, min(0, words.Exponent(v)-2))) + in.Name, ends
}

// Of audits every text, in place. Experiments and hosts are those that tables may name. An error is of the text with
// that entry.
func Of(texts []*File, experiments []*experiment.Experiment, hosts map[string]*host.Profile) (entry string, err error) {
	b := book{}
	for _, f := range texts {
		b.add(f)
	}
	for _, f := range texts {
		for _, t := range f.Tables {
			if !slices.ContainsFunc(experiments, func(x *experiment.Experiment) bool { return x.Name == t.Experiment }) {
				return f.Entry, fmt.Errorf("tables %q: no experiment %q", t.ID, t.Experiment)
			}
			for _, id := range []string{t.Host, t.ClientHost} {
				if hosts[id] == nil {
					known := slices.Sorted(maps.Keys(hosts))
					return f.Entry, fmt.Errorf("tables %q: no host %q in data/hosts; %s", t.ID, id, strict.Instead(id, known))
				}
			}
		}
		for i := range f.Findings {
			if err := b.check(f, &f.Findings[i]); err != nil {
				return f.Entry, fmt.Errorf("checks %q: %w", f.Findings[i].ID, err)
			}
		}
		for _, t := range f.Tables {
			for i := range t.Rows {
				f.automatic(&t, &t.Rows[i])
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

// add notes the figures of one text.
func (b book) add(f *File) {
	in := "e" + f.Entry + "."
	for id, p := range f.Figures {
		b[in+id] = p
	}
	for _, t := range f.Tables {
		for _, r := range t.Rows {
			for name, level := range t.Settings.With(r.Levels) {
				if n, ok := level.Int(); ok {
					b[in+t.ID+"."+r.ID+"."+name] = Printed{Quantity: law.Exactly(float64(n))}
				}
			}
			for name, p := range r.figures {
				b[in+t.ID+"."+r.ID+"."+name] = p
			}
		}
	}
}

// check recomputes one figure. One whose formula is just the name of a printed figure is shown as printed, with its
// place and unit.
func (b book) check(f *File, x *Finding) (err error) {
	if p, _ := b.find(f, x.Of); p.Printed != "" {
		x.Printed, x.Place, x.Unit = p.Printed, cmp.Or(x.Place, p.Place), cmp.Or(x.Unit, p.Unit)
	}
	if x.Stands, err = b.value(f, x.Of); err != nil {
		return fmt.Errorf("of: %w", err)
	}
	if x.Recomputed, err = b.value(f, x.formula); err != nil {
		return fmt.Errorf("%s: %w", x.Relation, err)
	}
	if x.Place == "" || x.Unit == "" {
		return fmt.Errorf("place or unit: missing; %q is no single figure that has both", x.Of)
	}
	x.judge()
	return nil
}

// value is the result of a text's formula.
func (b book) value(f *File, formula string) (q law.Quantity, err error) {
	come, err := law.ParseFormula(formula, func(name string) (law.Formula, error) {
		p, err := b.find(f, name)
		return func(*law.Row) law.Quantity { return p.Quantity }, err
	})
	if err != nil {
		return q, err
	}
	if q = come(nil); !q.Finite() {
		err = fmt.Errorf("%q is no finite figure: it may divide by zero", formula)
	}
	return q, err
}

func (b book) find(f *File, name string) (p Printed, err error) {
	in := "e" + f.Entry + "."
	if p, ok := b[in+name]; ok {
		return p, nil
	}
	if p, ok := b[name]; ok {
		p.Place = "entry " + name[1:strings.Index(name, ".")] + ", " + p.Place
		return p, nil
	}
	var known []string
	for id := range b {
		known = append(known, strings.TrimPrefix(id, in))
	}
	return p, fmt.Errorf("no figure %q in data/texts/%s.toml; %s", name, f.Entry, strict.Instead(name, known))
}

// figures are those of law, by metric or setting. A metric that was printed counts before a setting.
var figures = map[string]string{"throughput_rps": "rate", "requests": "requests", "duration_s": "duration",
	"latency_mean_s": "mean", "latency_max_s": "max", "transfer_bytes_per_s": "byterate", "line_rate_share": "share",
	"processes": "processes", setting.Workers: "workers", "connections_per_worker": "worker_connections",
	"throughput_per_worker_rps": "worker_rate", setting.Connections: "connections", setting.Pipelining: "depth"}

// automatic makes every check that the figures of a row allow.
func (f *File) automatic(t *Table, r *Row) {
	row, levels := law.Row{}, t.Settings.With(r.Levels)
	metrics := map[string]string{}          // by what law calls them
	_, middle := r.figures["latency_p50_s"] // a tail alone is for a check to hold
	for name, p := range r.figures {
		quantile := strings.TrimPrefix(strings.TrimSuffix(name, "_s"), "latency_")
		if figure, ok := law.FigureOf(cmp.Or(figures[name], quantile)); ok && (middle || figures[name] != "") {
			row.Set(figure, p.Quantity)
			metrics[figure.Name] = name
		}
	}
	for name, level := range levels {
		if figure, ok := law.FigureOf(figures[name]); ok {
			if n, ok := level.Int(); ok {
				row.Set(figure, law.Exactly(float64(n)))
			}
		}
	}
	if t.LineRateBps > 0 {
		row.Set(law.Reach, law.Exactly(t.LineRateBps/8))
	}
	if size, ok := answer(levels); ok {
		row.Set(law.Size, size)
	}
	tell := func(of law.Result) {
		p := r.figures[metrics[of.Of]]
		id := strings.TrimSuffix(strings.Join([]string{t.ID, r.ID, of.Law, metrics[of.Of]}, "-"), "-")
		x := Finding{ID: id, Kind: of.Law, Place: cmp.Or(p.Place, r.place), Printed: p.Printed, Unit: of.Unit,
			Stands: of.Stands, Relation: of.Relation, Recomputed: of.Allowed, Within: math.Ceil(1e3*of.Within) / 1e3, Note: of.Note}
		if x.judge(); x.Note != "" {
			f.Findings = append(f.Findings, x)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.figures)) {
		if p := r.figures[name]; p.Low > 1 && (strings.Contains(name, "_busy") || name == "line_rate_share") {
			metrics[name] = name
			tell(law.Result{Law: law.CPU, Of: name, Stands: p.Quantity, Relation: law.AtMost, Allowed: law.Exactly(1),
				Unit: metric.Ratio, Note: "A share of all that there is."})
		}
	}
	row.Judge(tell, func(string) {})
}

// answer is the size in bytes of an answer, head and body, if the series printed that of the route. The body of /read
// is a mean over products drawn at start; two sets of products differ by less than 2 %. Rates count answers and
// transfers count bytes read: only one of them has what is in transit at the ends of a window, which makes less than 1
// %.
func answer(levels setting.Levels) (law.Quantity, bool) {
	route, ok := catalog.RouteOf(levels[setting.Route].String())
	if stack := levels[setting.Stack]; stack.IsZero() || stack.String() == setting.Fiber {
		whole := route.Printed + float64(route.Head(int(route.Printed)))
		return law.Around(whole, route.Within*whole), ok && route.Printed > 0
	}
	// Another server's head has a status line and an empty line, and is smaller than any plain head.
	head := law.Quantity{Value: 108, Low: 19, High: 256}
	return law.Around(route.Printed, route.Within*route.Printed).Plus(head), ok && route.Printed > 0
}

// A File is one TOML file in data/texts, written by hand from one entry's text: its tables, the
// figures of its sentences, and what they should agree with. The sentences themselves are not in
// it.
type File struct {
	Entry     string    `toml:"entry"`
	Date      string    `toml:"date"` // on which it was published; a text with tables has one
	Tables    []Table   `toml:"tables"`
	Sentences []Printed `toml:"figures"`

	Figures  map[string]Printed `toml:"-"` // of sentences
	Findings []Finding          `toml:"checks"`
}

// A Table is one that a text printed, of one machine or of two. Its rows are single runs, so it decides no claim.
type Table struct {
	ID          string         `toml:"id"` // in formulas and on pages
	Place       string         `toml:"place"`
	Experiment  string         `toml:"experiment"` // the lab's, which repeats what the table shows
	Host        string         `toml:"host"`
	ClientHost  string         `toml:"client"` // in files only if it is another than the server's
	Topology    string         `toml:"topology"`
	LineRateBps float64        `toml:"line_rate_bps"`
	Note        string         `toml:"note"`     // what the text leaves open
	Given       map[string]any `toml:"settings"` // the same in every row
	Rows        []Row          `toml:"rows"`

	Date     string         `toml:"-"`
	Settings setting.Levels `toml:"-"`
}

// A Row is one run of a table: what was set, and the figures as they were printed.
type Row struct {
	Given   map[string]any    `toml:"levels"`
	Printed map[string]string `toml:"printed"`

	ID      string                    `toml:"-"` // c1, c2 and so on
	Levels  setting.Levels            `toml:"-"`
	Figures map[string]medians.Figure `toml:"-"` // by metric
	Bound   gate.Bound                `toml:"-"` // by these figures

	place   string
	figures map[string]Printed
}

// A Printed is a figure as a text prints it, with its range in its base unit.
type Printed struct {
	ID      string      `toml:"id"`
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
	ID         string       `toml:"id"`
	Kind       string       `toml:"kind"`  // the name of a law
	Place      string       `toml:"place"` // in files if it is not that of the figure
	Printed    string       `toml:"-"`     // absent if it is a formula
	Unit       metric.Unit  `toml:"unit"`  // in files if it is not that of the figure
	Stands     law.Quantity `toml:"-"`     // what rounding allows for the figure
	Relation   law.Relation `toml:"-"`
	Recomputed law.Quantity `toml:"-"`
	Within     float64      `toml:"within"` // tolerance beyond rounding, as a share; note says why
	Agrees     bool         `toml:"-"`
	Shown      Shown        `toml:"-"`
	Note       string       `toml:"note"`

	Of      string `toml:"of"` // name of a figure, or a formula
	Equals  string `toml:"equals"`
	AtMost  string `toml:"at_most"`
	AtLeast string `toml:"at_least"`
	formula string // of these three the one that is there
}

// Shown has a finding's quantities as pages print them, in tables and in prose.
type Shown struct {
	Printed, PrintedProse, Recomputed, RecomputedProse string

	Stands string // what rounding allows
	Within string // the tolerance beyond it
}

var (
	word  = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	entry = regexp.MustCompile(`^([0-9]{2}[a-z]?|[a-z]{3,})$`) // its number, or the word of a study
)

// LoadDir reads every text of a directory, sorted by entry; none if there is no such directory. A faulty text does not
// hide the others.
func LoadDir(dir string) (texts []*File, faults map[string]error, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	faults = map[string]error{}
	for _, path := range paths {
		var f *File
		data, err := strict.ReadUpTo(path, strict.MostWritten)
		name, isText := strings.CutSuffix(filepath.Base(path), ".toml")
		if !isText {
			err = errors.New("only texts belong there, one .toml file an entry")
		}
		if err == nil {
			f, err = Parse(name, data)
		}
		if faults[path] = err; err == nil {
			delete(faults, path)
			texts = append(texts, f)
		}
	}
	return texts, faults, err
}

// Parse parses the text of the entry with the given number, and checks everything that needs no formula evaluated.
func Parse(name string, data []byte) (*File, error) {
	f := &File{Figures: map[string]Printed{}}
	if err := strict.DecodeTOML(data, f); err != nil {
		return nil, err
	}
	if f.Entry != name || !entry.MatchString(name) {
		return nil, fmt.Errorf("entry: %q, but the file is called %s.toml; it is called by the entry's number, or by the "+
			"study's word", f.Entry, name)
	}
	var first error
	seen := map[string]bool{}
	part := func(list string, i int, id, space string, err error) {
		switch {
		case !word.MatchString(id):
			err = errors.New("its id must be lower-case letters, digits and _")
		case seen[space+id]:
			err = errors.New("its id is there twice")
		}
		if seen[space+id] = true; err != nil && first == nil {
			first = fmt.Errorf("%s[%d] %q: %w", list, i, id, err)
		}
	}
	for i := range f.Tables {
		t := &f.Tables[i]
		t.Date = f.Date
		part("tables", i, t.ID, "", t.resolve()) // tables and figures share a namespace
	}
	for i, p := range f.Sentences {
		part("figures", i, p.ID, "", p.read())
		f.Figures[p.ID] = p
	}
	for i := range f.Findings {
		part("checks", i, f.Findings[i].ID, "check ", f.Findings[i].resolve())
	}
	if _, err := time.Parse(time.DateOnly, f.Date); err != nil && f.Tables != nil && first == nil {
		first = fmt.Errorf("date: %q; give the day on which the tables were published, as 2026-06-12", f.Date)
	}
	return f, first
}

// units are the base units, and none.
var units = []metric.Unit{metric.Second, metric.PerSecond, metric.BitsPerSecond, metric.BytesPerSecond, metric.Bytes,
	metric.Ratio, metric.Count, ""}

func (c *Finding) resolve() error {
	c.formula = c.Equals + c.AtMost + c.AtLeast
	c.Relation = map[string]law.Relation{c.Equals: law.Equals, c.AtMost: law.AtMost, c.AtLeast: law.AtLeast}[c.formula]
	known := strict.Map(law.All, func(w strict.Word) string { return w.Name })
	switch {
	case !slices.Contains(known, c.Kind):
		return fmt.Errorf("unknown kind %q; %s", c.Kind, strict.Instead(c.Kind, known))
	case c.Of == "" || c.formula == "" || c.Relation == "":
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

// read reads a figure as it was printed. A figure rounded down means all values up to the next.
func (p *Printed) read() error {
	as, ok := law.Read(p.Printed, law.Manner{Digits: p.Exact || p.Cut, Binary: p.Binary})
	unit := as.Unit
	if unit == metric.Count { // no unit in print
		unit = cmp.Or(p.Unit, unit)
	}
	switch v := as.Value; {
	case p.Place == "":
		return errors.New("place is missing: say where it is printed")
	case !ok || p.Exact && p.Cut || (p.Exact || p.Cut) && strings.ContainsAny(p.Printed, "<~-−"):
		return fmt.Errorf(`%q is no printed figure this lab can read (such as "1.32M", "~34µs", "+117%%", "<1ms", `+
			`"6.25 GB/s"), or is exact, cut or a limit at once`, p.Printed)
	case p.Unit != "" && p.Unit != unit || !slices.Contains(units, unit):
		return fmt.Errorf("unit %q, but %q is in %q; use one of %q", p.Unit, p.Printed, unit, units)
	case p.Exact:
		as.Quantity = law.Exactly(v)
	case p.Cut:
		as.Quantity = law.Quantity{Value: v, Low: v, High: v + 2*(as.High-v)}
	}
	p.Unit, p.Quantity = unit, as.Rounded()
	return nil
}

// resolve reads the table's levels and figures.
func (t *Table) resolve() (err error) {
	t.ClientHost = cmp.Or(t.ClientHost, t.Host)
	switch {
	case t.Place == "" || t.Experiment == "" || t.Host == "":
		return errors.New("needs place, experiment and host")
	case !slices.Contains(experiment.Topologies, t.Topology):
		return fmt.Errorf("topology: %q; %s", t.Topology, strict.Instead(t.Topology, experiment.Topologies))
	case len(t.Rows) == 0:
		return errors.New("rows: none; each run that the table shows is one")
	}
	if t.Settings, err = setting.ParseLevels(t.Given); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	for i := range t.Rows {
		if err := t.Rows[i].resolve(t, i); err != nil {
			return fmt.Errorf("rows[%d]: %w", i, err)
		}
	}
	return nil
}

func (r *Row) resolve(t *Table, i int) (err error) {
	if r.Levels, err = setting.ParseLevels(r.Given); err != nil {
		return err
	}
	r.ID, r.place, r.Figures, r.figures = "c"+strconv.Itoa(i+1), t.Place, map[string]medians.Figure{}, map[string]Printed{}
	for _, name := range setting.Names() {
		if l, ok := r.Levels[name]; ok {
			r.place += ", " + strings.ReplaceAll(name, "_", " ") + " " + setting.LevelPhrase(l)
		}
	}
	known := map[string]float64{}
	for _, name := range slices.Sorted(maps.Keys(r.Printed)) {
		p, err := printedFigure(name, r.Printed[name], r.place)
		if err != nil {
			return fmt.Errorf("printed: %s: %w", name, err)
		}
		f := medians.Figure{N: 1, Printed: p.Printed}
		if strings.HasPrefix(p.Printed, "<") {
			f.Below = &p.Value
		} else {
			f.Median, known[name] = &p.Value, p.Value
		}
		r.figures[name], r.Figures[name] = p, f
	}
	r.Bound = gate.WallsOf(known, t.LineRateBps).Bound()
	return nil
}

var whole = regexp.MustCompile(`^[0-9]+ ?ms$`)

// printedFigure reads a metric's figure. Counts are in full. Latencies in whole milliseconds were cut by autocannon.
func printedFigure(name, printed, place string) (p Printed, err error) {
	m, ok := metric.Lookup(name)
	if !ok {
		return p, fmt.Errorf("no such metric; %s", strict.Instead(name, metric.Names()))
	}
	p = Printed{Place: place + ": " + strings.ToLower(m.Label), Printed: printed,
		Cut:   strings.HasPrefix(name, "latency_") && whole.MatchString(printed),
		Exact: m.Unit == metric.Count && !strings.ContainsAny(printed, "~.")}
	if m.Unit == metric.Count || m.Unit == metric.PerSecond || m.Unit == metric.Ratio {
		p.Unit = m.Unit // other units in print
	}
	if err = p.read(); err == nil && p.Unit != m.Unit {
		err = fmt.Errorf("%q is no figure in %s", printed, m.Unit)
	}
	return p, err
}
