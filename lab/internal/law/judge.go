package law

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	title, added       string   // the line right above; why latencies may not be those of the requests alone
	pending            []string // lines that a tool may have printed
	from               int      // the first of them
	kept               []part

	comma  bool     // decimals come after one in this table
	unsure string   // why that is not known
	sum    Quantity // of the rates above in it
	summed int

	row   Row
	name  string // the row's own; empty: it has none
	wrong string // the reason for not reading it
}

// A part is one of a row whose figures are in several tables.
type part struct {
	line int
	name string
	row  Row
}

// Judge judges a text. An error is of the whole text; a row that cannot be read is a finding.
func Judge(name string, text []byte, o Options) (*Report, error) {
	j := &judge{Report: Report{Name: name, Of: map[Verdict]int{}, Laws: map[string]Tally{}, Notes: []string{},
		Findings: []Finding{}, Remarks: []Finding{}}, options: o, units: map[string]string{}, lacks: map[string]int{}}
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
		if !ok || !at.known() || !j.cell(&j.given, &at, value) || !j.given.Has(at.figure) {
			return nil, fmt.Errorf("--given %s: give a figure of each row, as connections=64, pipelining=1, duration=10s, "+
				"cores=4 or line=10Gbit/s", text)
		}
	}
	maker, ok := strict.Find(known().Tools, func(t *tool) bool {
		return slices.Contains(strings.Split(strings.ToLower(t.Name), " or "), strings.ToLower(o.MadeBy))
	})
	if o.MadeBy != "" && !ok {
		names := strict.Map(known().Tools, func(t *tool) string { return t.Name })
		return nil, fmt.Errorf("--made-by %s: %s", o.MadeBy, strict.Instead(o.MadeBy, names))
	}
	j.maker = maker
	j.mentions(name)
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
		rows := words.Count(r.Of[Unread], "row")
		why = []string{rows + " could not be read, the first since " + r.Findings[0].Says}
	case r.Rows == 0 && len(why) == 0:
		why = []string{"no table has heads as rate, connections, mean (ms) or p99 (ms), and no known tool printed it"}
	}
	return "nothing was judged: " + strings.Join(why, "; ")
}

// absent are cells that say that there is no figure.
var absent = map[string]bool{"": true, "-": true, "—": true, "–": true, "n/a": true, "null": true}

// about matches what surrounds a figure but is no part of the figure: marks before, tags, notes behind.
var about = later(`^[^\p{L}\p{N}<>~≈≤≥.+−-]+|</?[a-z]+>|(\s*(\([^)]*\)|\[[^\]]*\]|[*_†‡§¹²³⁴]+))+$`)

// cell reads one cell into a row, and tells whether it is a figure, or empty. One in a unit of something else, as
// "2%" where failures are counted, is left out.
func (j *judge) cell(row *Row, c *column, text string) bool {
	if text = strings.TrimSpace(text); absent[strings.ToLower(text)] {
		return true
	}
	time := c.figure.Unit == metric.Second
	m := Manner{Comma: j.comma, Binary: j.printed && j.maker.Binary, Time: time, Unit: cmp.Or(j.units[c.head], c.unit)}
	guess := m.Unit == "" && time && c.figure.place != Duration.place && !j.printed
	if guess {
		m.Unit = cmp.Or(j.units["latency"], "ms")
	}
	p, ok := Read(text, m)
	if !ok {
		text = strings.TrimSpace(about().ReplaceAllString(strings.ReplaceAll(text, "&nbsp;", " "), ""))
		p, ok = Read(text, m)
	}
	scale := fits(p.Unit, c.figure)
	bare := p.Name == "" && m.Unit == ""
	if bare {
		scale = 1
	}
	if !ok || scale == 0 {
		c.unread++
		return ok
	}
	if guess && p.Name == "" && j.units["latency"] == "" {
		c.guessed, row.Doubt = true, cmp.Or(row.Doubt, "the unit of "+c.head+" is a guess")
	}
	row.Doubt = cmp.Or(row.Doubt, c.doubt)
	q := p.Times(Exactly(scale))
	counted := bare && p.Whole && c.figure.Unit == metric.Count && c.figure != Busy && text[0] <= '9'
	if counted || c.figure.place == Reach.place {
		q = Exactly(q.Value) // nobody rounds 10 connections, or 10 Gbit/s
	}
	row.Nominal = row.Nominal || p.Whole && c.figure == Duration
	row.Set(c.figure, q)
	return true
}

// begin forgets the row before.
func (j *judge) begin() {
	quantiles := j.row.Quantiles[:0]
	j.row, j.name, j.wrong = Row{Added: j.added}, "", ""
	if j.maker != nil {
		j.row = j.maker.Row
		j.row.Made = true
	}
	j.row.Quantiles, j.row.Averaged, j.row.Doubt = quantiles, j.options.Averaged, j.unsure
	j.row.Added = cmp.Or(j.options.Added, j.row.Added)
}

// take notes what one cell says of a row.
func (j *judge) take(row *Row, c *column, text string) {
	switch {
	case c.known():
		if !j.cell(row, c, text) {
			j.wrong = fmt.Sprintf("%s: %.40q is no figure that can be read", c.head, text)
		}
	case c.figure == names && len(j.name) < 80:
		j.name = strings.TrimSpace(j.name + " " + text)
	case c.figure == due:
		row.Early = row.Early || text != ""
	}
}

// keep joins a row of one figure with the same row of other tables. Tables that already have that figure are of other
// rows.
func (j *judge) keep(line int, figure Figure) {
	row := j.row
	j.row.Quantiles = nil
	at := slices.IndexFunc(j.kept, func(p part) bool { return p.name == j.name })
	if name := j.name; at >= 0 && j.kept[at].row.Has(figure) {
		j.flush()
		at, j.name = -1, name
	}
	if at < 0 {
		j.kept = append(j.kept, part{line, j.name, row})
		return
	}
	j.kept[at].row.Default(&row)
	j.kept[at].row.Doubt = cmp.Or(j.kept[at].row.Doubt, row.Doubt)
}

// flush judges the rows that were joined.
func (j *judge) flush() {
	j.sum, j.summed, j.wrong = Quantity{}, 0, ""
	for _, p := range j.kept {
		j.row, j.name = p.row, p.name
		j.end(p.line, "")
	}
	j.kept = nil
}

// end judges the row that has been read, which is called so if it has no name of its own.
func (j *judge) end(line int, otherwise string) {
	name := cmp.Or(j.name, otherwise)
	if j.Rows++; j.wrong != "" {
		j.Of[Unread]++
		j.add(&j.Findings, func() Finding { return Finding{Line: line, Row: name, Verdict: Unread, Says: j.wrong} })
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
	worst, lacks := Unheld, lacking(row)
	remark := func(text string) {
		j.add(&j.Remarks, func() Finding { return Finding{Line: line, Row: name, Verdict: worst, Says: text} })
	}
	row.Judge(func(of Result) {
		tally, verdict := j.Laws[of.Law], Sound
		switch {
		case !of.Holds && of.Unless == "":
			verdict = Impossible
		case !of.Holds:
			verdict = Unsupported
		case lacks != "" && slices.Contains([]string{Order, Mean, Spread}, of.Law):
			verdict = Unheld // latencies alone say nothing of a rate
		}
		if of.Holds {
			tally.Held++
		} else {
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
	}, remark)
	if j.Of[worst]++; worst == Unheld {
		j.lacks[cmp.Or(lacks, "they have too few figures, or too few digits")]++
	}
	j.unmade = j.unmade || worst == Unsupported && j.maker == nil
	switch rate := row.Get(Rate); {
	case !row.Has(Rate):
	case j.summed > 1 && Equals.Holds(rate, j.sum, 1e-3) && whole().MatchString(name):
		remark(fmt.Sprintf("the row is the sum of the %d above: do not add it to them", j.summed))
		j.sum, j.summed = Quantity{}, 0
	default:
		j.sum, j.summed = j.sum.Plus(rate), j.summed+1
	}
}

// whole are names of rows that may be the sum of others.
var whole = later(`(?i)\b(total|aggregated?|sum|all|overall)\b`)

// lacking says what it takes to hold a row's rate against its latency; empty if nothing, or neither is there.
func lacking(r *Row) string {
	switch {
	case !r.Rated():
	case !r.Timed():
		return "they have a rate and no latency"
	case r.Early:
		return "latencies begin when a request was due, so connections do not bound them"
	case !r.Has(Connections):
		return "give --given connections=N"
	}
	return ""
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
	var guessed, left []string
	for _, c := range all {
		if c.unread > 0 {
			j.note("%s: %s could not be read", c.head, words.Count(c.unread, "cell"))
		}
		if c.guessed {
			guessed = append(guessed, c.head)
		}
		if c.figure == unused && c.head != "" {
			left = append(left, c.head)
		}
	}
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
