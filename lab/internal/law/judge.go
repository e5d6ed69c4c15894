package law

import (
	"cmp"
	_ "embed" // tools.toml
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Finding is a law that a row breaks, or a remark on it.
type Finding struct {
	Line    int     `json:"line,omitempty"` // of the file, where rows are lines
	Row     string  `json:"row"`
	Law     string  `json:"law,omitempty"`
	Verdict Verdict `json:"verdict"`
	Says    string  `json:"says"`             // the two figures, and how they should be
	Unless  string  `json:"unless,omitempty"` // what could make it true after all
}

// A Verdict is what a row's figures are found to be.
type Verdict string

// The verdicts, from the worst. A row has the worst of its findings.
const (
	Impossible  Verdict = "cannot be"
	Unsupported Verdict = "is not supported"
	Sound       Verdict = "adds up"
	Unheld      Verdict = "has nothing to hold against"
	Unread      Verdict = "could not be read"
)

// Verdicts are all of them.
var Verdicts = []Verdict{Impossible, Unsupported, Sound, Unheld, Unread}

// A Report has the findings of one file.
type Report struct {
	Name     string           `json:"name"`
	Rows     int              `json:"rows"`
	Of       map[Verdict]int  `json:"verdicts"`
	Laws     map[string]Tally `json:"laws"`  // by law
	Notes    []string         `json:"notes"` // the reading, and what it left out
	Findings []Finding        `json:"findings"`
	Remarks  []Finding        `json:"remarks"`        // what rows admit without breaking a law
	More     int              `json:"more,omitempty"` // findings and remarks beyond those
}

// A Tally is how often a law held, and how often it was broken.
type Tally struct {
	Held   int `json:"held"`
	Broken int `json:"broken"`
	// Of requests in flight: how many times those that the connections allow they are at least, in each row.
	Least []float64 `json:"-"`
}

// Options are what a caller knows of a table beside it.
type Options struct {
	Given    []string // of each row, as connections=64
	Units    []string // of heads, as p99=us; latency is of all latencies without one
	MadeBy   string   // the load generator; empty: unknown
	Averaged bool     // rows are means over several runs
	Added    string   // why latencies are not those of the requests alone
	Most     int      // findings, and remarks, that are kept; 0: all

	each func(name string, row *Row) // for tests: each row that was read
}

type judge struct {
	Report
	options Options
	units   map[string]string
	maker   *tool          // of the rows
	printed bool           // by the maker itself, line by line
	unmade  bool           // an unsupported row of an unknown tool
	lacks   map[string]int // rows that nothing was held against, by what they lack
	skipped int            // tables of which no head is known
	first   string         // of them

	given, around      Row      // what the caller, and what the text says of rows
	said, under, level int      // the line that does, the level of the heading above it, and of the last heading
	title              string   // the line right above
	pending            []string // lines that a tool may have printed
	from               int      // the first of them
	kept               []Row    // whose figures are in several tables

	comma  bool     // decimals come after one in this table
	unsure string   // why that is not known
	sum    Quantity // of the rates above in it
	summed int

	row Row
}

// Judge judges a text. An error is of the whole text; a row that cannot be read is a finding.
func Judge(name string, text []byte, o Options) (*Report, error) {
	j := &judge{Report: Report{Name: name, Of: map[Verdict]int{}, Laws: map[string]Tally{}, Notes: []string{},
		Findings: []Finding{}, Remarks: []Finding{}}, options: o, units: map[string]string{}, lacks: map[string]int{}}
	if o.Averaged {
		j.given.Set(byID["averaged"], Exactly(1))
	}
	for _, text := range o.Units {
		head, in, ok := strings.Cut(text, "=")
		if _, known := UnitOf(in); !ok || !known || in == "" {
			return nil, fmt.Errorf("--unit %s: give a head and its unit, as p99=us, or latency=us for all latencies", text)
		}
		j.units[head] = in
	}
	for _, text := range o.Given {
		name, value, ok := strings.Cut(text, "=")
		at := columnOf(name)
		if j.take(&j.given, &at, value); !ok || !at.known() || !j.given.Has(at.figure) {
			return nil, fmt.Errorf("--given %s: give a figure of each row, as connections=64, pipelining=1, duration=10s, "+
				"cores=4 or line=10Gbit/s", text)
		}
	}
	j.maker, _ = strict.Find(known().Tools, func(t *tool) bool {
		return slices.Contains(strings.Split(strings.ToLower(t.Name), " or "), strings.ToLower(o.MadeBy))
	})
	if o.MadeBy != "" && j.maker == nil {
		names := strict.Map(known().Tools, func(t *tool) string { return t.Name })
		return nil, fmt.Errorf("--made-by %s: %s", o.MadeBy, strict.Instead(o.MadeBy, names))
	}
	if err := j.read(text); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if j.unmade {
		j.Notes = slices.Insert(j.Notes, 0, "if you know them, say --made-by TOOL and --given pipelining=N")
	}
	for _, what := range slices.Sorted(maps.Keys(j.lacks)) {
		rows := words.Count(j.lacks[what], "row has", "rows have")
		j.Notes = slices.Insert(j.Notes, 0, rows+" nothing to hold against: "+what)
	}
	if j.skipped > 0 {
		j.note("%s not used, since none of its heads is known; the first is %s",
			words.Count(j.skipped, "table was", "tables were"), j.first)
	}
	return &j.Report, nil
}

// Nothing says why there was nothing to judge; empty if there was.
func (r *Report) Nothing() string {
	why := r.Notes
	switch {
	case r.Of[Impossible]+r.Of[Unsupported]+r.Of[Sound] > 0:
		return ""
	case r.Of[Unread] > 0:
		why = []string{words.Count(r.Of[Unread], "row") + " could not be read, the first since " + r.Findings[0].Says}
	case r.Rows == 0 && len(why) == 0:
		why = []string{"no table has heads as rate, connections, mean (ms) or p99 (ms), and no known tool printed it"}
	}
	return "nothing was judged: " + strings.Join(why, "; ")
}

// absent are cells that say that there is no figure.
var absent = map[string]bool{"": true, "-": true, "—": true, "–": true, "n/a": true, "null": true}

// take notes what one cell says of a row. One in a unit of something else, as "2%" where failures are counted, is left
// out.
func (j *judge) take(row *Row, c *column, text string) {
	if c.figure == names && len(row.name) < 80 {
		row.name = strings.TrimSpace(row.name + " " + text)
	}
	cell := strings.TrimSpace(text)
	if !c.known() || absent[strings.ToLower(cell)] {
		return
	}
	time := c.figure.Unit == metric.Second
	m := Manner{Comma: j.comma, Binary: j.printed && j.maker.Binary, Time: time, Unit: cmp.Or(j.units[c.head], c.unit)}
	guess := m.Unit == "" && time && c.figure != Duration && !j.printed
	if guess {
		m.Unit = cmp.Or(j.units["latency"], "ms")
	}
	p, ok := Read(cell, m)
	if !ok {
		cell = strings.TrimSpace(re("about").ReplaceAllString(strings.ReplaceAll(cell, "&nbsp;", " "), ""))
		if p, ok = Read(cell, m); !ok {
			row.wrong = fmt.Sprintf("%s: %.40q is no figure that can be read", c.head, text)
		}
	}
	scale, bare := fits(p.Unit, c.figure), p.Name == "" && m.Unit == ""
	if bare {
		scale = 1
	}
	if !ok || scale == 0 {
		c.unread++
		return
	}
	if guess && p.Name == "" && j.units["latency"] == "" {
		c.guessed, row.Doubt = true, cmp.Or(row.Doubt, "the unit of "+c.head+" is a guess")
	}
	row.Doubt = cmp.Or(row.Doubt, c.doubt)
	q := p.Times(Exactly(scale))
	counted := bare && p.Whole && c.figure.Unit == metric.Count && c.figure != Busy && cell[0] <= '9'
	if counted || c.figure == Reach {
		q = Exactly(q.Value) // nobody rounds 10 connections, or 10 Gbit/s
	}
	if row.Set(c.figure, q); p.Whole && c.figure == Duration {
		row.Set(nominal, Exactly(1))
	}
}

// begin forgets the row before.
func (j *judge) begin(line int) {
	quantiles := j.row.Quantiles[:0]
	j.row = Row{Added: "wrk may have made it, and adds latencies of requests that it never sent"}
	if j.maker != nil {
		j.row = j.maker.Row
	}
	j.row.line, j.row.Quantiles, j.row.Doubt = line, quantiles, j.unsure
	j.row.Added = cmp.Or(j.options.Added, j.row.Added)
}

// keep joins a row of one figure with the same row of other tables. Tables that already have that figure are of other
// rows.
func (j *judge) keep(figure Figure) {
	row := j.row
	j.row.Quantiles = nil
	at := slices.IndexFunc(j.kept, func(r Row) bool { return r.name == row.name })
	if at >= 0 && !j.kept[at].Has(figure) {
		j.kept[at].Default(&row)
		j.kept[at].Doubt = cmp.Or(j.kept[at].Doubt, row.Doubt)
		return
	}
	if at >= 0 {
		j.flush()
	}
	j.kept = append(j.kept, row)
}

// flush judges the rows that were joined.
func (j *judge) flush() {
	j.sum, j.summed = Quantity{}, 0
	for _, j.row = range j.kept {
		j.end("")
	}
	j.kept = nil
}

// end judges the row that has been read, which is called so if it has no name of its own.
func (j *judge) end(otherwise string) {
	line, name := j.row.line, cmp.Or(j.row.name, otherwise)
	if j.Rows++; j.row.wrong != "" {
		j.Of[Unread]++
		j.add(&j.Findings, func() Finding { return Finding{Line: line, Row: name, Verdict: Unread, Says: j.row.wrong} })
		return
	}
	row := &j.row
	row.Default(&j.given)
	if !row.Has(Connections) && j.around.Has(Connections) {
		row.Doubt = cmp.Or(row.Doubt, fmt.Sprintf("the connections of line %d may be of other rows", j.said))
	}
	row.Default(&j.around)
	if j.options.each != nil {
		j.options.each(name, row)
	}
	row.Follow()
	worst, lacks := Unheld, append(row.say(gaps, ""), "")[0]
	admits := row.Judge(func(of Result) {
		tally, verdict := j.Laws[of.Law], Sound
		if of.Holds {
			if tally.Held++; lacks != "" && strings.Contains("order mean spread", of.Law) {
				verdict = Unheld // latencies alone say nothing of a rate
			}
		} else {
			if verdict = Impossible; of.Unless != "" {
				verdict = Unsupported
			}
			tally.Broken++
			j.add(&j.Findings, func() Finding { return Finding{line, name, of.Law, verdict, says(of), of.Unless} })
		}
		if of.Law == InFlight && of.Relation == AtMost {
			tally.Least = append(tally.Least, of.Stands.Low/of.Allowed.High)
		}
		j.Laws[of.Law] = tally
		if slices.Index(Verdicts, verdict) < slices.Index(Verdicts, worst) {
			worst = verdict
		}
	})
	if j.Of[worst]++; worst == Unheld {
		j.lacks[cmp.Or(lacks, "they have too few figures, or too few digits")]++
	}
	j.unmade = j.unmade || worst == Unsupported && j.maker == nil
	switch rate := row.Get(Rate); {
	case !row.Has(Rate):
	case j.summed > 1 && Equals.Holds(rate, j.sum, 1e-3) && re("whole").MatchString(name):
		admits = append(admits, fmt.Sprintf("the row is the sum of the %d above: do not add it to them", j.summed))
		j.sum, j.summed = Quantity{}, 0
	default:
		j.sum, j.summed = j.sum.Plus(rate), j.summed+1
	}
	for _, text := range admits {
		j.add(&j.Remarks, func() Finding { return Finding{Line: line, Row: name, Verdict: worst, Says: text} })
	}
}

// add keeps one more finding, or counts it.
func (j *judge) add(to *[]Finding, f func() Finding) {
	if j.options.Most > 0 && len(*to) >= j.options.Most {
		j.More++
		return
	}
	*to = append(*to, f())
}

// columns notes the reading of heads.
func (j *judge) columns(all []column) {
	for _, c := range all {
		if c.unread > 0 {
			j.note("%s: %s could not be read", c.head, words.Count(c.unread, "cell"))
		}
	}
	heads := func(holds func(column) bool) []string {
		return strict.Map(strict.Filter(all, holds), func(c column) string { return c.head })
	}
	guessed := heads(func(c column) bool { return c.guessed })
	left := heads(func(c column) bool { return c.figure == unused && c.head != "" })
	if guessed != nil {
		j.note("taken for ms, since no unit is given: %s; if it is another, say --unit '%s=us', or latency=us for all",
			strings.Join(guessed, ", "), guessed[0])
	}
	if left != nil {
		j.note("not used: %.300s", strings.Join(left, ", "))
	}
}

// note notes how a text was read, once; a text of many tables would have endless notes.
func (j *judge) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); len(j.Notes) < 40 && !slices.Contains(j.Notes, text) {
		j.Notes = append(j.Notes, text)
	}
}

var relations = map[Relation]string{Equals: "is not", AtMost: "is more than", AtLeast: "is less than"}

// says tells the two figures of a result.
func says(of Result) string {
	amount := func(q Quantity) string {
		return strings.ReplaceAll(words.Figure(string(of.Unit), q.Value), "\u00a0", " ")
	}
	return fmt.Sprintf("%s, %s, %s %s, %s", of.Of, amount(of.Stands), relations[of.Relation], of.To, amount(of.Allowed))
}

//go:embed tools.toml
var toolsText []byte

// knowledge is tools.toml, which says what the fields mean. Compiling its patterns takes milliseconds, which only who
// judges pays.
type knowledge struct {
	Tools       []*tool
	Settings    []pattern
	Expressions map[string]*regexp.Regexp
	Heads       []*struct {
		Figure, Called, Doubt string
		called                *regexp.Regexp
	}
}

// A tool is a load generator whose output is read as it prints it.
type tool struct {
	Name                string
	Mark, Begins, Joins pattern
	Binary              bool
	Units               map[string]string
	Set                 map[string]float64
	Row                 Row
	Lines               []pattern
}

var known = sync.OnceValue(func() knowledge {
	all := strict.Embedded[knowledge](toolsText)
	for _, t := range all.Tools {
		for id, v := range t.Set {
			t.Row.Set(byID[id], Exactly(v))
		}
	}
	for _, h := range all.Heads {
		const between, better = "[\\s\\x{a0}_:,.()\\[\\]#`*↑↓-]*", "(?:(?:higher|lower|more|less) is better)?"
		h.called = regexp.MustCompile(strings.ReplaceAll("^ (?:"+h.Called+") ([a-zµμ%×/]+)? "+better+" $", " ", between))
	}
	return all
})

// re is an expression of tools.toml.
func re(name string) *regexp.Regexp { return known().Expressions[name] }

// A pattern has a column for each of its groups.
type pattern struct {
	*regexp.Regexp
	columns []column
}

// abbreviations are what patterns have for what is long.
var abbreviations = strings.NewReplacer("#", `[<~]?\d[\d.,:]*(?:e[+-]?\d+)?(?: ?[a-zA-Zµμ/]+)?(?:\d[\dhmsµ.]*)?`,
	"  ", `\s+`, "¦", `\s*[│|]\s*`)

// UnmarshalText compiles a pattern.
func (p *pattern) UnmarshalText(text []byte) error {
	p.Regexp = regexp.MustCompile("(?m)" + abbreviations.Replace(string(text)))
	for _, name := range p.SubexpNames() {
		figure, _ := FigureOf(strings.TrimRight(name, "23"))
		p.columns = append(p.columns, column{head: name, figure: figure})
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
	if at := strings.Index(text, " "); at > 0 && strings.Trim(text[:at], "#") == "" {
		if j.level = at; at <= j.under {
			j.flush()
			j.around = Row{}
		}
	}
	j.title = cmp.Or(strings.Trim(text, " #*_:"), j.title)
	for _, p := range known().Settings {
		said := Row{}
		if j.groups(&said, p, text, nil) {
			said.Default(&j.around)
			j.around, j.said, j.under = said, n, j.level
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
	finish := func(next int) {
		if clients := j.row.Get(Clients); clients.Value > 0 {
			j.row.Set(Connections, clients)
		}
		if j.row.told() {
			j.end(t.Name)
		}
		j.begin(next)
	}
	again := func(c column) bool {
		return c.known() && c.figure != Depth && !c.figure.Adds && j.row.Has(c.figure)
	}
	j.begin(j.from)
	for i, line := range lines {
		if line = strings.TrimRight(line, " "); t.Joins.in(line) && i+1 < len(lines) {
			lines[i+1] = line + " " + lines[i+1]
			continue
		}
		for _, p := range t.Lines {
			if p.in(line) && slices.ContainsFunc(p.columns, again) {
				finish(j.from + i)
			}
			j.groups(&j.row, p, line, t.Units)
		}
	}
	finish(0)
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

// What a column has that is no figure; names are of rows.
var unused, names = Figure{}, byID["name"]

// known tells whether a column has a figure.
func (c column) known() bool { return c.figure.Unit != "" }

// figures is how many columns have one.
func figures(columns []column) int { return strict.Count(columns, column.known) }

// columnOf reads a head: "p99 latency (ms)", "Latency (avg, ms)", "latency_p99_us", "Req/s", "totalRequests".
func columnOf(head string) column {
	text := strings.ToLower(head)
	if strings.Count(text, "(")+strings.Count(text, "[") != strings.Count(text, ")")+strings.Count(text, "]") {
		return column{head: head} // a part of something
	}
	for _, in := range re("inside").FindAllString(text, -1) {
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
		if id == "quantile" {
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
