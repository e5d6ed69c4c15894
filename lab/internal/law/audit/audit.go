// Package audit recomputes what the printed figures of a text imply about each other: deltas, sums, bytes per answer,
// shares of the line rate, Little's law, one quantity printed twice.
//
// It reads figures and holds rows of tables against laws, as linerate judge does with any table. A
// statement that the text's data cannot support is not a disagreement but a claim, and gets a
// verdict.
package audit

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/law"
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
	case strings.HasSuffix(x.Printed, "×"), strings.HasSuffix(x.Printed, "x"): // it was printed as a multiple
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
	metrics := map[string]string{} // by what law calls them
	for name, id := range figures {
		figure, _ := law.FigureOf(id)
		metrics[figure.Name] = name
		if p, ok := r.figures[name]; ok {
			row.Set(figure, p.Quantity)
		} else if n, ok := levels[name].Int(); ok {
			row.Set(figure, law.Exactly(float64(n)))
		}
	}
	_, middle := r.figures["latency_p50_s"] // a tail alone is for a check to hold
	for name, p := range r.figures {
		if q, ok := law.FigureOf(strings.TrimPrefix(strings.TrimSuffix(name, "_s"), "latency_")); ok && middle {
			row.Set(q, p.Quantity)
			metrics[q.Name] = name
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
