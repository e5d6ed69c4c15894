package site

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// rows is a chart of rows with marks on one scale, before it is drawn.
type rows struct {
	caption    string
	head, last string // what the figures are, and the words at the ends of rows if there are any
	all        []row
	scale      scale
	unit       metric.Unit
	rules      []float64 // where each row has a rule
	block      bool      // whether a figure is a block from 0 on
}

// A row has a label, a figure in words, and its marks.
type row struct {
	label, value, interval, word string
	of                           []setting.Levels

	x    float64   // the level, of a point of a line
	at   *float64  // the figure; nil if only its interval is known
	ends []float64 // of the interval
	each []float64 // what a histogram counts
	band []float64 // what a claim wants

	first   *Cell           // instead of the label
	verdict verdict.Verdict // before the word
}

// A Stroke is a path in a space of a hundred units across, which is stretched to its place.
type Stroke struct {
	Class string `json:"class"`
	D     string `json:"d"`
}

// clientBound says that the client was the bottleneck; it is a class of marks, too.
const clientBound = "client-bound"

// row is a condition's figure of a metric; false without it. It says where some trials were refused, and of a figure
// that measures the client, where that was the bottleneck.
func (e *evidence) row(c medians.Summary, name string) (row, bool) {
	m, _ := metric.Lookup(name)
	fig, ok := c.Metrics[name]
	said := fig.Words(name)
	out := row{label: e.name(c.Levels), value: said.Text, interval: said.Interval, at: fig.Median, of: []setting.Levels{c.Levels}}
	switch {
	case fig.Below != nil:
		out.ends = []float64{0, *fig.Below}
	case fig.Low != nil && fig.High != nil:
		out.ends = []float64{*fig.Low, *fig.High}
	}
	if rate := e.newest.Topology.LineRateBps; m.Unit == metric.BitsPerSecond && rate > 0 && fig.Median != nil {
		out.value += fmt.Sprintf(", %.3g %%", 100**fig.Median/rate)
	}
	var says []string
	if m.MeasuresClient && e.published == "" && c.ClientFull() {
		says = append(says, clientBound)
	}
	if c.Invalid > 0 {
		says = append(says, fmt.Sprintf("%d of %s refused", c.Invalid, words.Count(c.Trials, "trial")))
	}
	out.word = strings.Join(says, ", ")
	return out, ok
}

// ratios is the class of tables whose rows lie on a common scale with a rule.
const ratios = "ratios"

// draw makes the table of a kind of chart; nil without rows.
func (r rows) draw(class string) *Table {
	if len(r.all) == 0 {
		return nil
	}
	least, most := reach(r.all, r.rules...)
	if r.scale.high == 0 {
		r.scale.low, r.scale.high = min(least, 0), most
		if r.scale.log { // with room for open ends
			r.scale.low, r.scale.high = least/1.03, most*1.03
		}
	}
	end := func(v float64) string {
		if r.unit == "" || v == 0 {
			return words.Number(words.Significant(v, 3))
		}
		return words.Figure(string(r.unit), v)
	}
	t := &Table{Class: strings.TrimSpace("rows " + class), Caption: r.caption, Heads: []Head{{}, {Text: r.head},
		{Ends: []string{end(r.scale.low), end(r.scale.high)}}}}
	last := slices.ContainsFunc(r.all, func(q row) bool { return q.word != "" || q.verdict != "" })
	if last {
		t.Heads = append(t.Heads, Head{Text: r.last, Word: true})
	}
	for _, q := range r.all {
		cells := []Cell{{Head: true, Text: q.label}, {Text: q.value, Note: q.interval}, {Marks: r.strokes(q)}}
		if q.first != nil {
			cells[0] = *q.first
		}
		if last {
			cells = append(cells, Cell{Text: q.word, Verdict: q.verdict})
		}
		t.Rows = append(t.Rows, Row{Cells: cells, Of: q.of})
	}
	return t
}

// strokes draws a row.
func (r rows) strokes(q row) []Stroke {
	var out []Stroke
	x := func(v float64) float64 { return tenth(min(100, max(0, 100*r.scale.of(v)))) }
	add := func(class, d string, at ...any) { out = append(out, Stroke{class, fmt.Sprintf(d, at...)}) }
	if q.band != nil {
		add("band", "M%v 10H%v", x(q.band[0]), x(q.band[1]))
	}
	var counts [48]float64 // columns, one of which ends at 1 where the scale begins at a power of ten
	for _, v := range q.each {
		counts[min(47, int(48*x(v)/100))]++
	}
	for i, n := range counts {
		if n > 0 {
			from := 100 * float64(i) / 48
			add("column", "M%v 20V%vH%vV20z", tenth(from), min(19, tenth(20-20*n/slices.Max(counts[:]))), tenth(from+100.0/48))
		}
	}
	for _, v := range r.rules {
		add("rule", "M%v 0v20", x(v))
	}
	if q.at != nil && r.block {
		add("block", "M0 10H%v", x(*q.at))
	}
	if q.ends != nil {
		add("bar", "M%v 10H%v", x(q.ends[0]), x(q.ends[1]))
	}
	if q.at != nil {
		add("dot", "M%v 10h0", x(*q.at))
	}
	return out
}

// A scale has the places of figures, from 0 at its low end to 1 at its high end.
type scale struct {
	low, high float64
	log       bool
}

// of is the place of a figure. The only one of a scale is in its middle.
func (s scale) of(v float64) float64 {
	switch {
	case s.low == s.high:
		return 0.5
	case s.log:
		return math.Log(max(0, v)/s.low) / math.Log(s.high/s.low)
	}
	return (v - s.low) / (s.high - s.low)
}

// tenth rounds a place to a tenth of a unit.
func tenth(v float64) float64 { return math.Round(10*v) / 10 }

// reach is from the least to the greatest of all figures that need a place. An open end needs none.
func reach(rows []row, all ...float64) (low, high float64) {
	for _, r := range rows {
		all = append(append(all, r.ends...), r.band...)
		if r.at != nil {
			all = append(all, *r.at)
		}
	}
	if all = strict.Filter(all, func(v float64) bool { return !math.IsInf(v, 0) }); len(all) == 0 {
		return 0, 0
	}
	return slices.Min(all), slices.Max(all)
}

// chart is a table of the evidence; it is none of a text's, or without rows.
func (e *evidence) chart(t *Table, metric string) Chart {
	if t == nil || e.published != "" {
		return Chart{Table: t}
	}
	return Chart{Table: t, Experiment: e.x.Name, Metric: metric}
}

// bars are figures that begin at zero, of the wire against its line rate. Those of servers may be in the order of their
// figures, by the servers' titles.
func (s *Site) bars(f figure, e *evidence) (Chart, error) {
	names := strings.Fields(f.Metric)
	m, _ := metric.Lookup(names[0])
	r := rows{caption: e.caption(), head: m.Label, last: "Trials", unit: m.Unit, block: true}
	for _, c := range e.Conditions {
		for _, name := range names {
			one, ok := e.row(c, name)
			if !ok {
				continue
			}
			if len(names) > 1 {
				of, _ := metric.Lookup(name)
				r.head, one.label = "Figure", one.label+", "+words.LowerFirst(of.Label)
			}
			if f.Servers {
				one.label = cmp.Or(e.x.Server(c.Levels).Title, one.label)
			}
			r.all = append(r.all, one)
		}
	}
	if f.Servers {
		slices.SortStableFunc(r.all, func(a, b row) int {
			return cmp.Compare(*cmp.Or(a.at, new(0.0)), *cmp.Or(b.at, new(0.0)))
		})
	}
	if rate := e.newest.Topology.LineRateBps; m.Unit == metric.BitsPerSecond && rate > 0 {
		r.rules = []float64{rate}
	}
	return e.chart(r.draw("bars"), f.Metric), nil
}

// ratios holds a claim's comparisons against what it wants.
func (s *Site) ratios(f figure, e *evidence) (Chart, error) {
	c, ok := e.x.Claim(f.Claim)
	if !ok || c.Over == "" {
		return Chart{}, fmt.Errorf("lab/experiments/%s.toml has no claim %q that compares levels", f.Exp, f.Claim)
	}
	of, _ := e.Claim(c.ID)
	return e.chart(e.compare(c, of.Effects).draw(ratios), c.Metric), nil
}

// compare has a row for each comparison of a claim.
func (e *evidence) compare(c experiment.Claim, effects []verdict.Effect) rows {
	m, _ := metric.Lookup(c.Metric)
	r := rows{caption: e.caption(), head: m.Label + ", ratio over " + words.LowerFirst(setting.Title(c.Over)),
		last: "Blocks", scale: scale{log: true}, rules: []float64{1}}
	for _, effect := range effects {
		one := ratio(effect)
		one.label = e.name(effect.A) + " over " + setting.LevelCell(effect.B[c.Over])
		if len(effect.At) > 0 {
			one.label += ", " + words.LowerFirst(e.name(effect.At))
		}
		one.word = fmt.Sprintf("%d of %d for, %d against", effect.For, effect.Pairs, effect.Against)
		r.caption = e.caption() + ". Claimed: " + words.Range(effect.BandLow, effect.BandHigh) // alike in all
		r.all = append(r.all, one)
	}
	return r
}

// ratio is a comparison with its interval and what a claim wants. Without an interval it has the range that coarse
// figures allow.
func ratio(e verdict.Effect) row {
	out := row{value: e.Words.Text, interval: cmp.Or(e.Words.Interval, e.Spread),
		of: []setting.Levels{e.At.With(e.A), e.At.With(e.B)}}
	if e.Ratio > 0 {
		out.at = &e.Ratio
	}
	switch {
	case e.HasInterval():
		out.ends = span(e.Low, e.High)
	case e.RatioLow > 0 || e.RatioHigh > 0:
		out.ends = span(e.RatioLow, e.RatioHigh)
	}
	if e.BandLow > 0 || e.BandHigh > 0 {
		out.band = span(e.BandLow, e.BandHigh)
	}
	return out
}

// span is from one ratio to another, of which none is 0: that end is open.
func span(low, high float64) []float64 {
	return []float64{cmp.Or(low, math.Inf(-1)), cmp.Or(high, math.Inf(1))}
}

// A Table is one as the template table.html places it. A chart is a table with a column of marks.
type Table struct {
	Class   string `json:"class,omitempty"`
	Title   string `json:"title,omitempty"`
	Caption string `json:"caption"`
	Heads   []Head `json:"heads"`
	Rows    []Row  `json:"rows"`
}

// A Head is that of a column.
type Head struct {
	Text string   `json:"text"`
	Doc  string   `json:"doc,omitempty"`  // the quantity
	Ends []string `json:"ends,omitempty"` // of the scale of marks
	Word bool     `json:"word,omitempty"` // whether its cells are words
}

// A Row has as many cells as its table has heads. ID is its anchor.
type Row struct {
	ID    string           `json:"id,omitempty"`
	Cells []Cell           `json:"cells"`
	Of    []setting.Levels `json:"of,omitempty"` // what a chart's row shows: a condition, or two that it compares
}

// A Cell is text with a smaller note beside it, such as an interval, and a sentence below.
type Cell struct {
	Head    bool            `json:"head,omitempty"` // of its row
	Text    string          `json:"text,omitempty"`
	Note    string          `json:"note,omitempty"`
	Below   string          `json:"below,omitempty"`
	To      string          `json:"to,omitempty"` // where the text leads: a path of the site, or #anchor
	Verdict verdict.Verdict `json:"verdict,omitempty"`
	Marks   []Stroke        `json:"marks,omitempty"`
	Links   []Link          `json:"links,omitempty"`
}

// A Link is a name with a path of the site.
type Link struct {
	Text string `json:"text"`
	To   string `json:"to"`
}

// names makes heads of words.
func heads(names ...string) []Head {
	return strict.Map(names, func(name string) Head { return Head{Text: name} })
}

// hasAny tells whether a condition has a figure of any of some metrics.
func hasAny(c medians.Summary, metrics ...string) bool {
	return slices.ContainsFunc(metrics, func(name string) bool { _, has := c.Metrics[name]; return has })
}

// results is the table of an evidence's figures of some metrics, a row for each of the conditions that has any of them.
// Row ids begin with a prefix.
func (e *evidence) results(metrics []string, of []medians.Summary, prefix string) *Table {
	t := &Table{Class: "figures cards", Caption: e.caption()}
	rows := strict.Filter(of, func(c medians.Summary) bool { return hasAny(c, metrics...) })
	all := setting.Levels{}
	for _, c := range rows {
		all = all.With(c.Levels)
		t.Rows = append(t.Rows, Row{ID: prefix + c.ID})
	}
	add := func(h Head, cell func(medians.Summary) Cell) {
		t.Heads = append(t.Heads, h)
		for i, c := range rows {
			t.Rows[i].Cells = append(t.Rows[i].Cells, cell(c))
		}
	}
	for k, key := range e.inOrder(all) {
		add(Head{Text: setting.Title(key)}, func(c medians.Summary) Cell {
			cell := Cell{Head: true}
			if l, ok := c.Levels[key]; ok {
				cell.Text = setting.LevelCell(l)
			}
			if k == 0 {
				cell.To = "#" + prefix + c.ID
			}
			return cell
		})
	}
	for _, name := range metrics {
		m, _ := metric.Lookup(name)
		if !slices.ContainsFunc(rows, func(c medians.Summary) bool { return hasAny(c, name) }) {
			continue
		}
		head := Head{Text: m.Label, Doc: m.Doc}
		if slices.ContainsFunc(t.Heads, func(h Head) bool { return strings.EqualFold(h.Text, m.Label) }) {
			head.Text += ", counted" // unlike the level of this name, which is the value asked for
		}
		add(head, func(c medians.Summary) Cell {
			said := c.Metrics[name].Words(name)
			return Cell{Text: said.Text, Note: said.Interval}
		})
	}
	add(Head{Text: "Bound", Word: true}, func(c medians.Summary) Cell {
		return Cell{Text: words.Tally(c.Bounds, c.Trials > 1)}
	})
	if e.published == "" {
		t.Caption += ". Medians over the blocks, with " + words.Percent(stats.Confidence) + " intervals where they have a width"
		add(Head{Text: "Trials"}, func(c medians.Summary) Cell {
			return Cell{Text: words.Thousands(c.Trials - c.Invalid), Note: refused(c.Invalid)}
		})
	}
	return t
}

// refused says how many trials do not count; empty without any.
func refused(trials int) string {
	if trials == 0 {
		return ""
	}
	return words.Thousands(trials) + " refused"
}
