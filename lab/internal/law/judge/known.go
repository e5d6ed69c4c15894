package judge

import (
	"cmp"
	_ "embed" // tools.toml
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A tool is a load generator whose output is read as it prints it; tools.toml says what its fields mean.
type tool struct {
	Name, Mark, Begins, Joins string
	Alone, Binary             bool
	Units                     map[string]string
	Row                       law.Row
	Lines                     []string
	mark, joins               *regexp.Regexp
	lines                     []*regexp.Regexp
}

// abbreviations are what patterns have for what is long.
var abbreviations = strings.NewReplacer("#", `[<~]?\d[\d.,:]*(?:e[+-]?\d+)?(?: ?[a-zA-Zµμ/]+)?(?:\d[\dhmsµ.]*)?`,
	"  ", `\s+`, "¦", `\s*[│|]\s*`)

//go:embed tools.toml
var toolsText []byte

// A file is tools.toml.
type file struct {
	Tools    []*tool
	Settings []string
	Heads    []*head
	settings []*regexp.Regexp
	begins   *regexp.Regexp
}

// A head is a way to name a figure in a table's head; tools.toml has all.
type head struct {
	Figure, Called, Doubt string
	called                *regexp.Regexp
}

// tools has its patterns compiled. That takes milliseconds, which only who judges pays.
var tools = sync.OnceValue(func() file {
	const never = "a^" // matches nothing
	of := strict.Embedded[file](toolsText)
	pattern := func(text string) *regexp.Regexp { return regexp.MustCompile(abbreviations.Replace(text)) }
	var begins []string
	for i := len(of.Tools) - 1; i >= 0; i-- {
		t := of.Tools[i]
		if t.Lines == nil && i+1 < len(of.Tools) {
			t.Lines = of.Tools[i+1].Lines
		}
		if t.Alone {
			t.Row.Set(law.Depth, law.Exactly(1))
		}
		t.mark, t.joins = regexp.MustCompile("(?m)"+cmp.Or(t.Mark, never)), regexp.MustCompile(cmp.Or(t.Joins, never))
		t.lines, begins = strict.Map(t.Lines, pattern), append(begins, cmp.Or(t.Begins, never))
	}
	of.begins, of.settings = regexp.MustCompile(strings.Join(begins, "|")), strict.Map(of.Settings, pattern)
	for _, h := range of.Heads {
		h.called = regexp.MustCompile("^(?:" + h.Called + ")$")
	}
	return of
})

// madeBy notes which tool made the rows; empty: nobody knows.
func (j *judge) madeBy(name string) error {
	var known []string
	for _, t := range tools().Tools {
		names := strings.Split(strings.ToLower(t.Name), " or ")
		if known = append(known, names...); slices.Contains(names, strings.ToLower(name)) {
			j.maker = t
			return nil
		}
	}
	if name == "" {
		return nil
	}
	return fmt.Errorf("--made-by %s: %s", name, strict.Instead(name, known))
}

// surroundings are what the text says of the rows below it.
type surroundings struct {
	row   law.Row
	line  int    // that has its figures
	level int    // of the heading above that line
	title string // what stands right above
	added string // why latencies may not be those of the requests alone
}

var heading = later(`^(#+) `)

// line takes a line that is in no table: a tool's, or what is said of the rows below it.
func (j *judge) line(n int, text string) {
	if strings.HasPrefix(text, fence) || tools().begins.MatchString(text) {
		j.output()
	}
	if j.pending == nil {
		j.from = n
	}
	j.pending = append(j.pending, text)
	if m := heading().FindStringSubmatch(text); m != nil {
		if j.level = len(m[1]); j.level <= j.around.level {
			j.flush()
			j.around.row = law.Row{}
		}
	}
	j.around.title = cmp.Or(strings.Trim(text, " #*_:"), j.around.title)
	j.mentions(text)
	for _, pattern := range tools().settings {
		if m := pattern.FindStringSubmatch(text); m != nil {
			said := law.Row{}
			j.groups(&said, pattern.SubexpNames(), m, nil)
			said.Default(&j.around.row)
			j.around.row, j.around.line, j.around.level = said, n, j.level
		}
	}
}

// mentions notes a tool that adds latencies, where a text names it.
func (j *judge) mentions(text string) {
	for _, t := range tools().Tools {
		if t.Row.Added != "" && strings.Contains(text, t.Name) {
			j.around.added = t.Row.Added
		}
	}
}

// output judges the runs in the lines of a tool. A figure that comes again begins another one.
func (j *judge) output() {
	lines, text := j.pending, strings.Join(j.pending, "\n")
	j.pending = nil
	t, ok := strict.Find(tools().Tools, func(t *tool) bool { return t.mark.MatchString(text) })
	if !ok {
		return
	}
	defer func(was *tool) { j.maker, j.printed = was, false }(j.maker)
	j.maker, j.printed, j.comma, j.unsure, j.sum, j.summed = t, true, false, "", law.Quantity{}, 0
	at := j.from
	finish := func() {
		if j.row.Rated() || j.row.Timed() {
			j.end(at, t.Name)
		}
		j.begin()
	}
	again := func(name string) bool {
		f, ok := law.FigureOf(name)
		return ok && f != law.Depth && j.row.Has(f) && !f.Adds()
	}
	j.begin()
	for i, line := range lines {
		if line = strings.TrimRight(line, " "); t.joins.MatchString(line) && i+1 < len(lines) {
			lines[i+1] = line + " " + lines[i+1]
			continue
		}
		for _, pattern := range t.lines {
			m, names := pattern.FindStringSubmatch(line), pattern.SubexpNames()
			if m != nil && slices.ContainsFunc(names, again) {
				finish()
				at = j.from + i
			}
			if m != nil {
				j.groups(&j.row, names, m, t.Units)
			}
		}
	}
	finish()
}

// groups notes what the groups of a pattern have, by the names of figures, perhaps with 2 or 3 behind where several add
// up. q is a quantile in percent, and at its value; p97_5 is a quantile; clients are connections, of a thread each.
func (j *judge) groups(row *law.Row, names, texts []string, units map[string]string) {
	q := ""
	for i, name := range names {
		f, ok := law.FigureOf(strings.TrimRight(name, "23"))
		if name == "at" {
			f, ok = law.FigureOf("p" + q)
		}
		switch text := texts[i]; {
		case text == "":
		case name == "q":
			q = text
		case name == "name":
			j.name = text
		case name == "clients":
			n, _ := strconv.Atoi(text)
			row.Add(law.Connections, law.Exactly(float64(n)))
		case ok:
			j.cell(row, &column{head: name, figure: f, unit: units[name]}, text)
		}
	}
}

// A column is what a table's column has, as far as its head says.
type column struct {
	head    string
	figure  law.Figure
	unit    string // that the head gives; empty: none
	doubt   string // why it may be another figure; empty: its head says which it is
	guessed bool   // its cells have no unit
	unread  int    // cells that are no such figure
}

// What a column has that is no figure.
const (
	unused law.Figure = -1 - iota
	names             // of rows
	due               // a rate that is kept, so that latencies begin when a request was due
)

// known tells whether a column has a figure.
func (c *column) known() bool { return c.figure >= 0 }

func (c *column) latency() bool { return c.figure.Unit() == metric.Second && c.figure != law.Duration }

// later compiles a pattern when it is first needed: every call of linerate and the lab would pay for it else.
func later(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

var (
	inside = later(`[\[(]([^\])]*)[\])]`)
	better = later(`(?i)(higher|lower|more|less) is better|[↑↓*]`)
	// needed is what looks like a unit at the end, and is none: "requests per s", "99 %", "latency min".
	needed  = later(`((per|requests|/) \S+|\d %| min)$`)
	decimal = later(`(\d)_(\d)`)
	camel   = later(`(\p{Ll})(\p{Lu})`)
	joint   = later("(^|\\D)\\.|[_:,\\-`#]")
)

// columnOf reads a head: "p99 latency (ms)", "Latency (avg, ms)", "latency_p99_us", "Req/s", "totalRequests".
func columnOf(text string) column {
	c := column{head: text}
	text = inside().ReplaceAllStringFunc(better().ReplaceAllString(text, ""), func(within string) string {
		rest := " "
		for part := range strings.SplitSeq(within[1:len(within)-1], ",") {
			part = strings.ToLower(strings.TrimSpace(part))
			if _, ok := law.UnitOf(part); ok && c.unit == "" {
				c.unit = part
			} else {
				rest += part + " "
			}
		}
		return rest
	})
	text = camel().ReplaceAllString(decimal().ReplaceAllString(text, "$1.$2"), "$1 $2")
	text = strings.ToLower(strings.Join(strings.Fields(joint().ReplaceAllString(text, "$1 ")), " "))
	at := strings.LastIndexByte(text, ' ')
	switch u, ok := law.UnitOf(text[at+1:]); {
	case c.unit != "" || !ok:
	case at < 0 && (u.Of == metric.BytesPerSecond || u.Of == metric.BitsPerSecond):
		c.unit, text = text, "transfer"
	case at > 0 && u.Of != metric.Count && u.Of != metric.PerSecond && !needed().MatchString(text):
		c.unit, text = text[at+1:], text[:at]
	}
	unit, _ := law.UnitOf(c.unit)
	for _, h := range tools().Heads {
		m := h.called.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		switch c.figure, _ = law.FigureOf(h.Figure); h.Figure {
		case "due":
			c.figure = due
		case "quantile":
			c.figure, _ = law.FigureOf("p" + cmp.Or(strings.Join(m[1:], ""), "50"))
		}
		if c.figure == due || c.unit == "" || fits(unit.Of, c.figure) > 0 {
			if h.Doubt != "" {
				c.doubt = c.head + " " + h.Doubt
			}
			return c
		}
	}
	return column{head: c.head, figure: unused}
}

// columnsOf reads a table's heads. Of two columns that would have the same figure, the first has it whose head leaves
// no doubt, unless they add up. What stands before the first figure names the rows.
func columnsOf(heads []string) []column {
	all := strict.Map(heads, columnOf)
	for i := range all {
		c := &all[i]
		before := slices.IndexFunc(all[:i], func(b column) bool { return c.known() && b.figure == c.figure && !b.figure.Adds() })
		if before >= 0 && (all[before].doubt == "" || c.doubt != "") {
			c.figure = unused
		} else if before >= 0 {
			all[before].figure = unused
		}
	}
	for i := 0; i < len(all) && all[i].figure == unused; i++ {
		all[i].figure = names
	}
	return all
}

// figures is how many columns have one.
func figures(columns []column) int {
	return strict.Count(columns, func(c column) bool { return c.known() })
}

// fits tells how many of a figure's base unit one of another is; 0 if it cannot be printed in it.
func fits(of metric.Unit, in law.Figure) float64 {
	want := in.Unit()
	switch {
	case of == want,
		of == metric.Ratio && in == law.Busy, // a share is one of a core
		of == metric.Count && (want == metric.PerSecond || want == metric.BytesPerSecond || want == metric.Bytes), // "12k"
		of == metric.Bytes && want == metric.BytesPerSecond:                                                       // of "transfer/s"
		return 1
	case of == metric.BitsPerSecond && want == metric.BytesPerSecond:
		return 1.0 / 8
	}
	return 0
}
