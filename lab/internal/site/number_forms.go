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
	"ratio":    {figured, "a metric, and levels, one of them as NAME=A/B: A over B", 1, 1, query.ratio},
	"change":   {figured, "what ratio takes: the same in percent, with its sign", 1, 1, query.ratio},
	"rise":     {figured, "what ratio takes: in percent, and an error if it fell", 1, 1, query.ratio},
	"fall":     {figured, "what ratio takes: in percent, and an error if it rose", 1, 1, query.ratio},
	"interval": {anExperiment, "what ratio takes: the interval of the ratio", 1, 1, query.ratio},
	"set":      {figured, "a setting, line_rate_bps or slot_s: its level, or levels", 1, 1, query.set},
	"results":  {figured, "a name, metrics, and levels: a table, a row a condition", 2, 99, query.results},
	"edge":     {anExperiment, "a claim: its margin or its bar", 1, 1, query.claim},
	"verdict":  {anExperiment, "a claim: a badge", 1, 1, query.claim},
	"claim":    {anExperiment, "a claim: a link", 1, 1, query.claim},
	"headline": {anExperiment, "a claim, for the home page", 1, 1, query.headline},
	"outcomes": {anExperiment, "claims: a list of them with badges", 1, 99, query.outcomes},
	"printed":  {aText, "a figure, or a check of one", 1, 1, query.printed},
	"implied":  {aText, "a check of a figure: what it is by other figures", 1, 1, query.printed},
}

// unmeasured is a figure that the evidence does not have, which is a state of the journal and no
// fault.
var unmeasured = Number{Text: "not measured yet"}

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
	if q.kind == aTable {
		design = strict.Map(q.e.Conditions, func(c medians.Summary) setting.Levels { return c.Levels })
	}
	if q.e != nil {
		found = strict.Filter(q.e.Conditions, func(c medians.Summary) bool { return has(c.Levels, wanted) })
	}
	if found != nil || slices.ContainsFunc(design, func(levels setting.Levels) bool { return has(levels, wanted) }) {
		return found, nil
	}
	var there []string
	for _, levels := range design {
		for name, l := range levels {
			there = append(there, name+"="+l.String())
		}
	}
	slices.Sort(there)
	for name, l := range wanted {
		if at := name + "=" + l; !slices.Contains(there, at) {
			return nil, fmt.Errorf("no condition of %s has %s\n  %s", q.subject, at, strict.Instead(at, slices.Compact(there)))
		}
	}
	return nil, fmt.Errorf("no condition of %s has all these levels", q.subject)
}

// checkMetric says that a metric is unknown.
func checkMetric(name string) error {
	if _, known := metric.Lookup(name); !known {
		return fmt.Errorf("there is no metric %q\n  %s", name, strict.Instead(name, metric.Names()))
	}
	return nil
}

// figure is that of a metric in the one condition with some levels; nil where it was not measured yet.
func (q query) figure(name string, wanted map[string]string) (*medians.Figure, error) {
	if err := checkMetric(name); err != nil {
		return nil, err
	}
	conditions, err := q.conditions(wanted)
	if len(conditions) == 0 {
		return nil, err
	}
	with := strict.Filter(conditions, func(c medians.Summary) bool { return hasAny(c, name) })
	if len(with) == 0 {
		return nil, fmt.Errorf("%s has no %s there\n  %s", q.subject, name,
			strict.Instead(name, slices.Sorted(maps.Keys(conditions[0].Metrics))))
	} else if len(with) > 1 {
		return nil, fmt.Errorf("%d conditions of %s have these levels; add those that tell them apart", len(with), q.subject)
	}
	f := with[0].Metrics[name]
	return &f, nil
}

func (q query) value() (Number, error) {
	f, err := q.figure(q.names[0], q.levels)
	if f == nil {
		return unmeasured, err
	}
	return Number{Text: printFigure(*f, q.names[0]).Text, Value: cmp.Or(f.Median, f.Below)}, nil
}

// results is a table of figures, a row a condition.
func (q query) results() (Number, error) {
	for _, name := range q.names[1:] {
		if err := checkMetric(name); err != nil {
			return Number{}, err
		}
	}
	rows, err := q.conditions(q.levels)
	if len(rows) == 0 {
		return Number{Text: q.x.Name}, err
	}
	return Number{Table: q.e.results(q.names[1:], rows, q.names[0]+"-")}, nil
}

// ratio compares two figures. Of the evidence it is a comparison that claims make, the median of the blocks' ratios,
// since that of two medians is another figure; of a text's table it is the quotient of two figures.
func (q query) ratio() (Number, error) {
	e, err := q.effect()
	if e == nil {
		return unmeasured, err
	}
	n := Number{Text: e.Text, Value: &e.Ratio}
	switch q.form {
	case "interval":
		return Number{Text: cmp.Or(e.Interval, e.Spread, "one block")}, nil
	case "change":
		n.Text = words.Change(e.Ratio) + " %"
	case "rise", "fall":
		if n.Text = strings.TrimLeft(words.Change(e.Ratio), "+−") + " %"; (q.form == "rise") != (e.Ratio > 1) {
			err = fmt.Errorf("the ratio is %s, which is no %s", e.Text, q.form)
		}
	}
	return n, err
}

// effect is the comparison that a reference asks for; nil where it was not measured yet.
func (q query) effect() (found *verdict.Effect, err error) {
	if maps.Equal(q.levels, q.base) {
		return nil, errors.New("it compares nothing; write a level as NAME=A/B")
	}
	if q.kind == aTable {
		a, err := q.figure(q.names[0], q.levels)
		b, other := q.figure(q.names[0], q.base)
		if err = cmp.Or(err, other); err != nil || a.Median == nil || b.Median == nil {
			return nil, cmp.Or(err, errors.New("of one of the two only a limit is known"))
		}
		r := *a.Median / *b.Median
		return &verdict.Effect{Ratio: r, Words: words.Ratio(r, 0, 0)}, nil
	}
	for _, levels := range []map[string]string{q.levels, q.base} {
		if _, err := q.conditions(levels); err != nil {
			return nil, err
		}
	}
	if q.e == nil {
		return nil, nil
	}
	open := false
	for _, c := range q.e.Claims {
		asks, _ := q.x.Claim(c.ID)
		open = open || len(c.Effects) == 0 && asks.Over != "" && asks.Metric == q.names[0]
		for _, e := range c.Effects {
			switch a, b := e.At.With(e.A), e.At.With(e.B); {
			case e.B == nil || e.Ratio == 0 || e.Metric != q.names[0] || !has(a, q.levels) || !has(b, q.base):
			case found != nil && found.Ratio != e.Ratio:
				return nil, fmt.Errorf("claims of %s compare this in several ways; name all levels", q.subject)
			default:
				found = &e
			}
		}
	}
	if found == nil && !open {
		err = fmt.Errorf("no claim of %s compares this, and the evidence has no other ratios\n  "+
			"lab/experiments/%s.toml has the claims", q.subject, q.subject)
	}
	return found, err
}

func (q query) set() (Number, error) {
	all, fixed, line := map[string]string{}, q.x.Fixed(), q.x.Topology.LineRateBps
	if q.kind == aTable {
		fixed, line = q.e.newest.Settings, q.e.newest.Topology.LineRateBps
	} else {
		all["slot_s"] = amount("slot_s", q.x.Block.SlotS)
		for _, f := range q.x.Factors {
			all[f.Name] = words.List(strict.Map(f.All, setting.LevelCell))
		}
	}
	all["line_rate_bps"] = amount("line_rate_bps", line)
	for name, l := range fixed {
		all[name] = setting.LevelCell(l)
		if n, number := l.Int(); number {
			all[name] = amount(name, float64(n))
		}
	}
	if text := all[q.names[0]]; text != "" {
		return Number{Text: text}, nil
	}
	return unmeasured, fmt.Errorf("%s sets no %q\n  %s", q.subject, q.names[0],
		strict.Instead(q.names[0], slices.Sorted(maps.Keys(all))))
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
			strict.Instead(q.names[0], ids))
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

// headline is a badge with how the comparison that decides changed its metric: the change, and the ratio with its
// interval.
func (q query) headline() (Number, error) {
	n, err := q.claim()
	if err != nil || q.e == nil {
		return n, err
	}
	c, _ := q.e.Claim(q.names[0])
	if e := deciding(c); e.Ratio != 0 {
		n.List = []Number{{Text: e.Change, Value: &e.Ratio}, {Text: e.Text, Title: e.Interval}}
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
	return unmeasured, fmt.Errorf("data/texts/%s.toml has no %q\n  %s", q.text.Entry, id, strict.Instead(id, ids))
}
