package law

import (
	"cmp"
	_ "embed" // tools.toml
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

//go:embed tools.toml
var toolsText []byte

// knowledge is tools.toml, which says what the fields mean. Compiling its patterns takes milliseconds, which only who
// judges pays.
type knowledge struct {
	Tools    []*tool
	Settings []pattern
	Heads    []*struct {
		Figure, Called, Doubt string
		called                *regexp.Regexp
	}
}

// A tool is a load generator whose output is read as it prints it.
type tool struct {
	Name                string
	Mark, Begins, Joins pattern
	Alone, Binary       bool
	Units               map[string]string
	Row                 Row
	Lines               []pattern
}

var known = sync.OnceValue(func() knowledge {
	all := strict.Embedded[knowledge](toolsText)
	for i, t := range all.Tools {
		if t.Lines == nil && i+1 < len(all.Tools) {
			t.Lines = all.Tools[i+1].Lines
		}
		if t.Alone {
			t.Row.Set(Depth, Exactly(1))
		}
	}
	for _, h := range all.Heads {
		const between, better = "[\\s\\x{a0}_:,.()\\[\\]#`*↑↓-]*", "(?:(?:higher|lower|more|less) is better)?"
		h.called = regexp.MustCompile(strings.ReplaceAll("^ (?:"+h.Called+") ([a-zµμ%×/]+)? "+better+" $", " ", between))
	}
	return all
})

// A pattern has a column for each of its groups.
type pattern struct {
	*regexp.Regexp
	columns []column
}

// abbreviations are what patterns have for what is long.
var abbreviations = strings.NewReplacer("#", `[<~]?\d[\d.,:]*(?:e[+-]?\d+)?(?: ?[a-zA-Zµμ/]+)?(?:\d[\dhmsµ.]*)?`,
	"  ", `\s+`, "¦", `\s*[│|]\s*`)

// UnmarshalText compiles a pattern.
func (p *pattern) UnmarshalText(text []byte) (err error) {
	if p.Regexp, err = regexp.Compile("(?m)" + abbreviations.Replace(string(text))); err != nil {
		return err
	}
	for _, name := range p.SubexpNames() {
		c := column{head: name}
		if f, ok := FigureOf(strings.TrimRight(name, "23")); ok {
			c.figure = f
		} else if name == "name" {
			c.figure = names
		}
		p.columns = append(p.columns, c)
	}
	return nil
}

// in tells whether a text matches; no pattern matches nothing.
func (p pattern) in(text string) bool { return p.Regexp != nil && p.MatchString(text) }

// groups notes what the groups of a pattern have: q is a quantile in percent, and at its value.
func (j *judge) groups(row *Row, p pattern, text string, units map[string]string) bool {
	m, q := p.FindStringSubmatch(text), ""
	for i := range m {
		c := p.columns[i]
		switch c.unit = units[c.head]; {
		case c.head == "q":
			q = m[i]
		case c.head == "at":
			c.figure, _ = FigureOf("p" + q)
		}
		if m[i] != "" {
			j.take(row, &c, m[i])
		}
	}
	return m != nil
}

var heading = later(`^(#+) `)

// line takes a line that is in no table: a tool's, or one about the rows below.
func (j *judge) line(n int, text string) {
	begins := func(t *tool) bool { return t.Begins.in(text) }
	if strings.HasPrefix(text, fence) || slices.ContainsFunc(known().Tools, begins) {
		j.output()
	}
	if j.pending == nil {
		j.from = n
	}
	j.pending = append(j.pending, text)
	if m := heading().FindStringSubmatch(text); m != nil {
		if j.level = len(m[1]); j.level <= j.under {
			j.flush()
			j.around = Row{}
		}
	}
	j.title = cmp.Or(strings.Trim(text, " #*_:"), j.title)
	j.mentions(text)
	for _, p := range known().Settings {
		said := Row{}
		if j.groups(&said, p, text, nil) {
			said.Default(&j.around)
			j.around, j.said, j.under = said, n, j.level
		}
	}
}

// mentions notes a tool that adds latencies, where a text names it.
func (j *judge) mentions(text string) {
	for _, t := range known().Tools {
		if t.Row.Added != "" && strings.Contains(text, t.Name) {
			j.added = t.Row.Added
		}
	}
}

// output judges the runs in the lines of a tool. A figure that comes again begins another one.
func (j *judge) output() {
	lines, text := j.pending, strings.Join(j.pending, "\n")
	j.pending = nil
	t, ok := strict.Find(known().Tools, func(t *tool) bool { return t.Mark.in(text) })
	if !ok {
		return
	}
	defer func(was *tool) { j.maker, j.printed = was, false }(j.maker)
	j.maker, j.printed = t, true
	j.decimals(nil)
	at := j.from
	finish := func() {
		if clients := j.row.Get(Clients); clients.Value > 0 {
			j.row.Set(Connections, clients)
		}
		if j.row.Rated() || j.row.Timed() {
			j.end(at, t.Name)
		}
		j.begin()
	}
	again := func(c column) bool {
		return c.known() && c.figure != Depth && !c.figure.Adds && j.row.Has(c.figure)
	}
	j.begin()
	for i, line := range lines {
		if line = strings.TrimRight(line, " "); t.Joins.in(line) && i+1 < len(lines) {
			lines[i+1] = line + " " + lines[i+1]
			continue
		}
		for _, p := range t.Lines {
			if p.in(line) && slices.ContainsFunc(p.columns, again) {
				finish()
				at = j.from + i
			}
			j.groups(&j.row, p, line, t.Units)
		}
	}
	finish()
}

// A column is what a table's column has, as far as its head says.
type column struct {
	head    string
	figure  Figure
	unit    string // that the head gives; empty: none
	doubt   string // why it may be another figure; empty: its head says which it is
	guessed bool   // its cells have no unit
	unread  int    // cells that are no such figure
}

// What a column has that is no figure.
var (
	unused Figure
	names  = Figure{Name: "names"} // of rows
	due    = Figure{Name: "due"}   // a rate that is kept, so that latencies begin when a request was due
)

// known tells whether a column has a figure.
func (c column) known() bool { return c.figure.Unit != "" }

// figures is how many columns have one.
func figures(columns []column) int { return strict.Count(columns, column.known) }

// later compiles a pattern when it is first needed: every call of linerate and the lab would pay for it else.
func later(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

var inside = later(`[\[(][^\])]*[\])]`)

// columnOf reads a head: "p99 latency (ms)", "Latency (avg, ms)", "latency_p99_us", "Req/s", "totalRequests".
func columnOf(head string) column {
	text := strings.ToLower(head)
	if strings.Count(text, "(")+strings.Count(text, "[") != strings.Count(text, ")")+strings.Count(text, "]") {
		return column{head: head} // a part of something
	}
	for _, in := range inside().FindAllString(text, -1) {
		if _, ok := UnitOf(strings.Trim(in, "[( )]")); ok {
			text = strings.Replace(text, in, " ", 1) + in
		}
	}
	if u, _ := UnitOf(text); u.Of == metric.BytesPerSecond || u.Of == metric.BitsPerSecond {
		text = "transfer " + text
	}
	for _, h := range known().Heads {
		m := h.called.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		last := len(m) - 1
		c, id := column{head: head, unit: m[last]}, h.Figure
		if id == "due" {
			c.figure = due
			return c
		} else if id == "quantile" {
			id = "p" + cmp.Or(strings.Join(m[1:last], ""), "50")
		}
		c.figure, _ = FigureOf(id)
		if unit, ok := UnitOf(c.unit); c.unit == "" || ok && fits(unit.Of, c.figure) > 0 {
			if h.Doubt != "" {
				c.doubt = head + " " + h.Doubt
			}
			return c
		}
	}
	return column{head: head}
}

// columnsOf reads a table's heads. Of two columns that would have the same figure, the first has it
// whose head leaves no doubt, unless they add up. The text before the first figure names the rows.
func columnsOf(heads []string) []column {
	all := strict.Map(heads, columnOf)
	for i, c := range all {
		before := slices.IndexFunc(all[:i], func(b column) bool { return c.known() && b.figure == c.figure })
		if before < 0 || c.figure.Adds {
			continue
		}
		if all[before].doubt != "" && c.doubt == "" {
			i = before
		}
		all[i].figure = unused
	}
	for i := 0; i < len(all) && all[i].figure == unused; i++ {
		all[i].figure = names
	}
	return all
}

// fits tells how many of a figure's base unit one of another is; 0 if it cannot be printed in it.
func fits(of metric.Unit, in Figure) float64 {
	if of == in.Unit || of == metric.Ratio && in == Busy { // a share is one of a core
		return 1
	}
	return conversions[[2]metric.Unit{of, in.Unit}]
}

var conversions = map[[2]metric.Unit]float64{{metric.BitsPerSecond, metric.BytesPerSecond}: 1.0 / 8,
	{metric.Bytes, metric.BytesPerSecond}: 1,                                                                            // of a head as "transfer/s"
	{metric.Count, metric.PerSecond}:      1, {metric.Count, metric.BytesPerSecond}: 1, {metric.Count, metric.Bytes}: 1} // "12k"
