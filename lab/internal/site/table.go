package site

import (
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

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
	Unit string   `json:"unit,omitempty"`
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

// results is the table of an evidence's figures of some metrics, a row each condition: all of them, or those that have
// some levels and any of the figures. Row ids begin with a prefix.
func (e *evidence) results(metrics []string, wanted setting.Levels, prefix string) *Table {
	t := &Table{Class: "figures cards", Caption: e.caption()}
	shows := func(c medians.Summary) bool {
		return c.Levels.With(wanted).Key() == c.Levels.Key() &&
			slices.ContainsFunc(metrics, func(name string) bool { _, has := c.Metrics[name]; return has })
	}
	rows := strict.Filter(e.conditions, shows)
	all := setting.Levels{}
	for _, c := range rows {
		all = all.With(c.Levels)
		t.Rows = append(t.Rows, Row{ID: prefix + c.ID})
	}
	keys := e.inOrder(all)
	for k, key := range keys {
		t.Heads = append(t.Heads, Head{Text: setting.Title(key)})
		for i, c := range rows {
			cell := Cell{Head: true}
			if l := c.Levels[key]; !l.IsZero() {
				cell.Text = setting.LevelCell(l)
			}
			if k == 0 {
				cell.To = "#" + t.Rows[i].ID
			}
			t.Rows[i].Cells = append(t.Rows[i].Cells, cell)
		}
	}
	for _, name := range metrics {
		m, _ := metric.Lookup(name)
		if !slices.ContainsFunc(rows, func(c medians.Summary) bool { _, has := c.Metrics[name]; return has }) {
			continue
		}
		head := Head{Text: m.Label, Doc: m.Doc}
		if slices.ContainsFunc(t.Heads, func(h Head) bool { return strings.EqualFold(h.Text, m.Label) }) {
			head.Text += ", counted" // unlike the level of this name, which is the value asked for
		}
		t.Heads = append(t.Heads, head)
		for i, c := range rows {
			said := printFigure(c.Metrics[name], m.Unit)
			t.Rows[i].Cells = append(t.Rows[i].Cells, Cell{Text: said.Text, Note: said.Interval})
		}
	}
	t.Heads = append(t.Heads, Head{Text: "Bound", Word: true})
	if e.published == "" {
		t.Heads = append(t.Heads, Head{Text: "Trials"})
		t.Caption += ". Medians over the blocks, with " + words.Percent(stats.Confidence) + " intervals where they have a width"
	}
	for i, c := range rows {
		cells := &t.Rows[i].Cells
		*cells = append(*cells, Cell{Text: words.Tally(c.Bounds, c.Trials > 1)})
		if e.published == "" {
			*cells = append(*cells, Cell{Text: words.Thousands(c.Trials - c.Invalid), Note: refused(c)})
		}
	}
	return t
}

// refused says how many trials of a condition do not count; empty without any.
func refused(c medians.Summary) string {
	if c.Invalid == 0 {
		return ""
	}
	return words.Thousands(c.Invalid) + " refused"
}
