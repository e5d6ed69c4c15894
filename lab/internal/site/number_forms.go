package site

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A form is a way to ask a subject for something.
type form struct {
	of          string // the kinds of subject that have it
	takes       string // what follows it, and what it gives
	least, most int    // how many names
	give        func(query) (Number, error)
}

// Kinds of subject.
const (
	anExperiment = "experiment"
	aTable       = "table"
	aText        = "text"
	figured      = anExperiment + " or " + aTable
)

// forms are all that there are.
var forms = map[string]form{
	"value":    {figured, "a metric, and the levels of one condition", 1, 1, query.value},
	"per":      {figured, "two metrics, and the levels of one condition: the first over the second", 2, 2, query.per},
	"ratio":    {figured, "a metric, and levels, one of them as NAME=A/B: A over B", 0, 1, query.ratio},
	"change":   {figured, "what ratio takes: the same in percent, with its sign", 0, 1, query.ratio},
	"rise":     {figured, "what ratio takes: in percent, and an error if it fell", 0, 1, query.ratio},
	"fall":     {figured, "what ratio takes: in percent, and an error if it rose", 0, 1, query.ratio},
	"interval": {anExperiment, "what ratio takes: the interval of the ratio", 0, 1, query.ratio},
	"span":     {figured, "a factor: its largest level over its smallest", 1, 1, query.span},
	"set":      {figured, "a setting, line_rate_bps or slot_s: its level, or levels", 1, 1, query.set},
	"results":  {figured, "a name, metrics, and levels: a table, a row a condition", 2, 99, query.results},
	"edge":     {anExperiment, "a claim: its margin or its bar", 1, 1, query.claim},
	"verdict":  {anExperiment, "a claim: a badge", 1, 1, query.claim},
	"claim":    {anExperiment, "a claim: a link", 1, 1, query.claim},
	"headline": {anExperiment, "a claim, for the home page", 1, 1, query.headline},
	"outcomes": {anExperiment, "claims: a list of them with badges", 1, 99, query.outcomes},
	"servers":  {anExperiment, "nothing: a list of its servers, as each is set up", 0, 0, query.servers},
	"printed":  {aText, "a figure, or a check of one", 1, 1, query.printed},
	"implied":  {aText, "a check of a figure: what it is by other figures", 1, 1, query.printed},
}

// unmeasured is a figure that the evidence does not have, which is a state of the journal and no
// fault.
var unmeasured = Number{Text: "not measured yet"}

// instead says what the author may have meant. Texts have more figures than would fit on a screen.
func instead(name string, known []string) string {
	if len(known) > 40 && len(strict.Near(name, known)) == 0 {
		return fmt.Sprintf("it is none of %d", len(known))
	}
	return strict.Instead(name, known)
}

// has tells whether levels are among others.
func has(levels setting.Levels, wanted map[string]string) bool {
	for name, v := range wanted {
		if l, ok := levels[name]; !ok || l.String() != v {
			return false
		}
	}
	return true
}

// conditions are those with some levels; none where they were not measured yet.
func (q query) conditions(wanted map[string]string) (found []medians.Summary, err error) {
	design := q.x.Conditions()
	if q.e != nil {
		if q.kind == aTable {
			design = strict.Map(q.e.conditions, func(c medians.Summary) setting.Levels { return c.Levels })
		}
		found = strict.Filter(q.e.conditions, func(c medians.Summary) bool { return has(c.Levels, wanted) })
	}
	if found != nil || slices.ContainsFunc(design, func(levels setting.Levels) bool { return has(levels, wanted) }) {
		return found, nil
	}
	known := map[string][]string{}
	for _, levels := range design {
		for name, l := range levels {
			known[name] = append(known[name], l.String())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		at := slices.Compact(slices.Sorted(slices.Values(known[name])))
		if !slices.Contains(at, wanted[name]) {
			err = fmt.Errorf("no condition of %s has %s=%s\n  %s", q.subject, name, wanted[name], instead(wanted[name], at))
		}
		if at == nil {
			err = fmt.Errorf("conditions of %s do not differ in %q\n  %s", q.subject, name,
				instead(name, slices.Sorted(maps.Keys(known))))
		}
	}
	return nil, cmp.Or(err, fmt.Errorf("no condition of %s has all these levels", q.subject))
}

// figure is that of a metric in the one condition with some levels; nil where it was not measured yet.
func (q query) figure(name string, wanted map[string]string) (*medians.Figure, metric.Unit, error) {
	m, known := metric.Lookup(name)
	if !known {
		return nil, "", fmt.Errorf("there is no metric %q\n  %s", name, instead(name, metric.Names()))
	}
	conditions, err := q.conditions(wanted)
	if len(conditions) == 0 {
		return nil, "", err
	}
	with := strict.Filter(conditions, func(c medians.Summary) bool { _, there := c.Metrics[name]; return there })
	if len(with) == 0 {
		return nil, "", fmt.Errorf("%s has no %s there\n  %s", q.subject, name,
			instead(name, slices.Sorted(maps.Keys(conditions[0].Metrics))))
	} else if len(with) > 1 {
		return nil, "", fmt.Errorf("%d conditions of %s have these levels; add those that tell them apart", len(with),
			q.subject)
	}
	f := with[0].Metrics[name]
	return &f, m.Unit, nil
}

func (q query) value() (Number, error) {
	f, unit, err := q.figure(q.names[0], q.levels)
	if f == nil {
		return unmeasured, err
	}
	return Number{Text: printFigure(*f, unit).Text, Value: cmp.Or(f.Median, f.Below)}, nil
}

// results is a table of figures, a row a condition.
func (q query) results() (Number, error) {
	of := q.names[1:]
	for _, name := range of {
		if _, known := metric.Lookup(name); !known {
			return Number{}, fmt.Errorf("there is no metric %q\n  %s", name, instead(name, metric.Names()))
		}
	}
	rows, err := q.conditions(q.levels)
	if len(rows) == 0 {
		return Number{Text: q.x.Name}, err
	}
	wanted := setting.Levels{}
	for name := range q.levels {
		wanted[name] = rows[0].Levels[name]
	}
	return Number{Table: q.e.results(of, wanted, q.names[0]+"-")}, nil
}

// per divides a count by the second, or busy cores, by a rate.
func (q query) per() (Number, error) {
	of, unit, err := q.figure(q.names[0], q.levels)
	rate, by, other := q.figure(q.names[1], q.levels)
	if err = cmp.Or(err, other); of == nil || rate == nil {
		return unmeasured, err
	}
	in := map[metric.Unit]metric.Unit{metric.BytesPerSecond: metric.Bytes, metric.PerSecond: metric.Count,
		metric.Ratio: metric.Second}[unit]
	if in == "" || by != metric.PerSecond || of.Median == nil || rate.Median == nil {
		return unmeasured, fmt.Errorf("only cores, or what is counted by the second, can be divided, and by a rate; "+
			"these are in %s and %s", unit, by)
	}
	v := *of.Median / *rate.Median
	return Number{Text: words.Figure(string(in), v), Value: &v}, nil
}

// ratio compares two figures. Of the evidence it is a comparison that claims make, the median of the blocks' ratios,
// since that of two medians is another figure; of a text's table it is the quotient of two figures.
func (q query) ratio() (Number, error) {
	e, err := q.effect()
	if e == nil {
		return unmeasured, err
	}
	change := words.Change(e.Ratio)
	n := Number{Text: change + " %", Value: &e.Ratio}
	switch {
	case q.form == "interval":
		return Number{Text: cmp.Or(e.Interval, e.Spread, "one block")}, nil
	case q.form == "ratio":
		n.Text = e.Text
	case q.form == "change":
	case (q.form == "rise") != (e.Ratio > 1):
		return unmeasured, fmt.Errorf("the ratio is %s, which is no %s", e.Text, q.form)
	default:
		n.Text = strings.TrimLeft(n.Text, "+−")
	}
	return n, nil
}

// effect is the comparison that a reference asks for; nil where it was not measured yet.
func (q query) effect() (found *verdict.Effect, err error) {
	if maps.Equal(q.levels, q.base) {
		return nil, errors.New("it compares nothing; write a level as NAME=A/B")
	}
	name := strings.Join(q.names, "")
	if q.kind == aTable {
		a, _, err := q.figure(name, q.levels)
		b, _, other := q.figure(name, q.base)
		if err = cmp.Or(err, other); err != nil || a.Median == nil || b.Median == nil {
			return nil, cmp.Or(err, errors.New("of one of the two only a limit is known"))
		}
		r := *a.Median / *b.Median
		return &verdict.Effect{Ratio: r, Words: words.Words{Text: times(r)}}, nil
	}
	for _, levels := range []map[string]string{q.levels, q.base} {
		if _, err := q.conditions(levels); err != nil {
			return nil, err
		}
	}
	if q.e == nil {
		return nil, nil
	}
	open, all := false, []string{}
	for _, c := range q.e.Claims {
		x, _ := q.x.Claim(c.ID)
		open = open || len(c.Effects) == 0 && x.Form() == experiment.RatioForm && (x.Metric == name || name == "")
		for _, e := range c.Effects {
			a, b := e.At.With(e.A), e.At.With(e.B)
			if e.B == nil || e.Ratio == 0 {
				continue
			}
			all = append(all, e.Metric+" "+pair(a, b))
			switch {
			case name != "" && name != e.Metric || !has(a, q.levels) || !has(b, q.base):
			case found != nil && (found.Ratio != e.Ratio || found.Metric != e.Metric):
				return nil, fmt.Errorf("claims of %s compare this in several ways; name the metric, and all levels", q.subject)
			default:
				found = &e
			}
		}
	}
	if found == nil && !open {
		slices.Sort(all)
		err = fmt.Errorf("no claim of %s compares this, and the evidence has no other ratios\n  %s", q.subject,
			instead(q.tail, slices.Compact(all)))
	}
	return found, err
}

// pair writes a comparison as a reference does.
func pair(a, b setting.Levels) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		out = append(out, name+"="+a[name].String())
		if a[name] != b[name] {
			out[len(out)-1] += "/" + b[name].String()
		}
	}
	return strings.Join(out, " ")
}

// times prints a multiple, with few digits, since the words around it say "about".
func times(v float64) string {
	if v >= 20 || v == math.Floor(v) {
		return words.Grouped(v, 0)
	}
	return words.Grouped(v, -1)
}

func (q query) span() (Number, error) {
	conditions, err := q.conditions(q.levels)
	low, high := math.Inf(1), 0.0
	for _, c := range conditions {
		l := c.Levels[q.names[0]]
		n, number := l.Int()
		if !number || n <= 0 {
			return unmeasured, fmt.Errorf("a level of %q is %s; only numbers above zero have a span", q.names[0], l)
		}
		low, high = min(low, float64(n)), max(high, float64(n))
	}
	if len(conditions) == 0 {
		return unmeasured, err
	}
	v := high / low
	return Number{Text: times(v), Value: &v}, nil
}

func (q query) set() (Number, error) {
	fixed, chosen := q.x.Fixed(), map[string]float64{"line_rate_bps": q.x.Topology.LineRateBps, "slot_s": q.x.Block.SlotS}
	all := map[string]string{}
	if q.kind == aTable {
		fixed, chosen = q.e.newest().Settings, map[string]float64{"line_rate_bps": q.e.newest().Topology.LineRateBps}
	} else {
		for _, f := range q.x.Factors {
			all[f.Name] = words.List(strict.Map(f.All, setting.LevelCell))
		}
	}
	for name, l := range fixed {
		if n, number := l.Int(); number {
			chosen[name] = float64(n)
		} else {
			all[name] = setting.LevelCell(l)
		}
	}
	for name, v := range chosen {
		all[name] = amount(name, v)
	}
	if text := all[q.names[0]]; text != "" {
		return Number{Text: text}, nil
	}
	return unmeasured, fmt.Errorf("%s sets no %q\n  %s", q.subject, q.names[0],
		instead(q.names[0], slices.Sorted(maps.Keys(all))))
}

// amount is a chosen number whose name ends with its unit, in the unit that suits it: 500 Mbit/s of a line_rate_bps. It
// is empty without one.
func amount(name string, v float64) string {
	for end, unit := range map[string]string{"_bps": "bit/s", "_bytes": "B", "_s": "s"} {
		if strings.HasSuffix(name, end) && v > 0 {
			return words.Figure(unit, v)
		}
	}
	if v == math.Floor(v) {
		return words.Grouped(v, 0)
	}
	return words.Number(v)
}

func (q query) claim() (Number, error) {
	c, known := q.x.Claim(q.names[0])
	n := Number{Text: c.Text, To: "claims/" + q.x.Name + "/#" + q.names[0]}
	for _, w := range q.x.Withdrawn {
		if w.ID == q.names[0] && q.form == "claim" {
			known, n.Text = true, cmp.Or(w.Text, w.ID)
		}
	}
	switch {
	case !known:
		ids := strict.Map(q.x.Claims, func(c experiment.Claim) string { return c.ID })
		return n, fmt.Errorf("lab/experiments/%s.toml has no claim %q\n  %s", q.x.Name, q.names[0],
			instead(q.names[0], ids))
	case q.form == "edge":
		at := cmp.Or(c.Margin, c.AtLeast, c.AtMost)
		if at == nil {
			return n, fmt.Errorf("the claim %s has neither a margin nor a bar", c.ID)
		}
		n = Number{Text: words.Number(*at)}
		if c.Margin != nil || c.Kind == experiment.Share {
			n.Text = words.Percent(*at)
		}
	case q.form != "claim":
		n.Title, n.Text = n.Text, ""
		if q.e != nil {
			of, _ := q.e.Claim(c.ID)
			n.Verdict = of.Verdict
		}
	}
	return n, nil
}

func (q query) outcomes() (n Number, err error) {
	for _, id := range q.names {
		one := q
		one.names = []string{id}
		claim, other := one.claim()
		n.List, err = append(n.List, claim), cmp.Or(err, other)
	}
	return n, err
}

// headline is a badge, with a list of how the claim's last level changed its metric from the first: the change, the
// ratio with its interval, and both levels.
func (q query) headline() (Number, error) {
	n, err := q.claim()
	if err != nil || q.e == nil {
		return n, err
	}
	x, _ := q.x.Claim(q.names[0])
	c, _ := q.e.Claim(x.ID)
	for _, e := range c.Effects {
		if e.Ratio != 0 && e.B[x.Over] == c.Effects[0].B[x.Over] {
			n.List = []Number{{Text: e.Change, Value: &e.Ratio}, {Text: e.Text, Title: e.Interval},
				{Text: setting.LevelCell(e.A[x.Over])}, {Text: setting.LevelCell(e.B[x.Over])}}
		}
	}
	return n, nil
}

func (q query) servers() (n Number, err error) {
	for _, s := range q.x.Loaded() {
		about := strings.TrimSuffix(s.About, ".") + "."
		if len(s.Needs) > 0 {
			about += " Needs " + words.List(s.Needs) + "."
		}
		n.List = append(n.List, Number{Text: cmp.Or(s.Title, s.Name), Title: about})
	}
	return n, nil
}

func (q query) printed() (Number, error) {
	id, ids := q.names[0], []string{}
	if f, ok := q.text.Figures[id]; ok && q.form == "printed" {
		return Number{Text: f.Printed, Value: &f.Value}, nil
	}
	for _, f := range q.text.Findings {
		switch {
		case f.ID != id:
			ids = append(ids, f.ID)
		case q.form == "printed":
			return Number{Text: f.Shown.PrintedProse, Value: &f.Stands.Value}, nil
		default:
			return Number{Text: f.Shown.RecomputedProse, Value: &f.Recomputed.Value}, nil
		}
	}
	if q.form == "printed" {
		ids = slices.AppendSeq(ids, maps.Keys(q.text.Figures))
	}
	slices.Sort(ids)
	return unmeasured, fmt.Errorf("data/texts/%s.toml has no %q\n  %s", q.text.Entry, id, instead(id, ids))
}
