// Package judge reads published tables of load tests, and says row by row what cannot be.
//
// It knows tables by the heads of their columns or lines, and what load generators print by its words. Each row is
// held against the laws of package law, and accused only where no values that would be printed so keep one. What
// hangs on something that the table does not say, on a unit that had to be guessed above all, is not supported, and
// not impossible.
//
// It does not see figures that are wrong and fit: a row that adds up may still be made up.
package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/metric"
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

// A Report is what was found in one file.
type Report struct {
	Name     string           `json:"name"`
	Rows     int              `json:"rows"`
	Of       map[Verdict]int  `json:"verdicts"`
	Laws     map[string]Tally `json:"laws"`  // by law
	Notes    []string         `json:"notes"` // how it was read, and what was not
	Findings []Finding        `json:"findings"`
	Remarks  []Finding        `json:"remarks"`        // what rows admit without breaking a law
	More     int              `json:"more,omitempty"` // findings and remarks beyond those
}

// A Tally is how often a law held, and how often it was broken.
type Tally struct {
	Held   int `json:"held"`
	Broken int `json:"broken"`
}

// Options are what a caller knows of a table beside it.
type Options struct {
	Given    []string // of each row, as connections=64
	Units    []string // of heads, as p99=us; latency is of all latencies without one
	MadeBy   string   // the load generator; empty: unknown
	Averaged bool     // rows are means over several runs
	Added    string   // why latencies are not those of the requests alone
	Most     int      // findings, and remarks, that are kept; 0: all
	// Each is given each row that was read, if it is there.
	Each func(name string, row *law.Row)
}

type judge struct {
	Report
	options Options
	given   law.Row
	units   map[string]string
	maker   *tool          // of the rows
	printed bool           // by the maker itself, line by line
	lacks   map[string]int // rows that nothing was held against, by what they lack
	skipped int            // tables of which no head is known
	first   string         // of them

	around  surroundings
	level   int          // of the last heading
	pending []string     // lines that a tool may have printed
	from    int          // the first of them
	joined  grid         // tables of one figure each
	comma   bool         // decimals come after one in this table
	unsure  string       // why that is not known
	sum     law.Quantity // of the rates above in it
	summed  int

	row   law.Row
	name  string // the row's own; empty: it has none
	wrong string // why it cannot be read
	doubt string // what all its findings hang on; empty: nothing
}

// Of judges a text. An error is of the whole text; a row that cannot be read is a finding.
func Of(name string, text []byte, o Options) (*Report, error) {
	j := &judge{Report: Report{Name: name, Of: map[Verdict]int{}, Laws: map[string]Tally{}, Notes: []string{},
		Findings: []Finding{}, Remarks: []Finding{}}, options: o, units: map[string]string{}, lacks: map[string]int{}}
	for _, text := range o.Units {
		head, in, ok := strings.Cut(text, "=")
		if _, known := law.UnitOf(in); !ok || !known || in == "" {
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
	j.mentions(name)
	err := j.madeBy(o.MadeBy)
	if err == nil {
		err = j.read(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
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

// Nothing says why nothing was judged; empty if something was.
func (r *Report) Nothing() string {
	why := r.Notes
	switch {
	case r.Of[Impossible]+r.Of[Unsupported]+r.Of[Sound] > 0:
		return ""
	case r.Of[Unread] > 0:
		why = []string{fmt.Sprintf("%s could not be read, the first since %s", words.Count(r.Of[Unread], "row"), r.Findings[0].Says)}
	case r.Rows == 0 && len(why) == 0:
		why = []string{"no table has heads as rate, connections, mean (ms) or p99 (ms), and no known tool printed it"}
	}
	return "nothing was judged: " + strings.Join(why, "; ")
}

// absent are cells that say that there is no figure.
var absent = map[string]bool{"": true, "-": true, "—": true, "–": true, "n/a": true, "null": true}

// dressed is what stands about a figure and is no part of it: marks before it, tags, notes behind.
var dressed = later(`^[^\p{L}\p{N}<>~≈≤≥.+−-]+|</?[a-z]+>|(\s*(\([^)]*\)|\[[^\]]*\]|[*_†‡§¹²³⁴]+))+$`)

// cell reads one cell into a row, and tells whether it is a figure, or empty. One in a unit of something else, as
// "2%" where failures are counted, is left out.
func (j *judge) cell(row *law.Row, c *column, text string) bool {
	if text = strings.TrimSpace(text); absent[strings.ToLower(text)] {
		return true
	}
	p, ok := law.Read(text, law.Manner{Comma: j.comma})
	if !ok {
		text = strings.TrimSpace(dressed().ReplaceAllString(strings.ReplaceAll(text, "&nbsp;", " "), ""))
		p, ok = law.Read(text, law.Manner{Comma: j.comma})
	}
	if !ok {
		c.unread++
		return false
	}
	in := cmp.Or(p.Name, j.units[c.head], c.unit)
	if in == "" && c.latency() && !j.printed {
		if in = j.units["latency"]; in == "" {
			c.guessed, in = true, "ms"
			j.doubt = cmp.Or(j.doubt, "the unit of "+c.head+" is a guess")
		}
	}
	if in == "m" && c.figure.Unit() == metric.Second { // as wrk prints it
		in = "min"
	}
	unit, _ := law.UnitOf(in)
	if in == "" {
		unit = law.Unit{Of: c.figure.Unit(), Scale: 1}
	}
	scale := fits(unit.Of, c.figure)
	if scale == 0 {
		c.unread++
		return true
	}
	j.doubt = cmp.Or(j.doubt, c.doubt)
	q := p.Times(unit.Size(j.printed && j.maker.Binary)).Times(law.Exactly(scale))
	counted := c.figure.Unit() == metric.Count && c.figure != law.Busy && in == "" && p.Whole && text[0] <= '9'
	if counted || c.figure == law.Reach { // 10 Gbit/s are not rounded
		q = law.Exactly(q.Value)
	}
	row.Nominal = row.Nominal || c.figure == law.Duration && p.Whole
	row.Set(c.figure, q)
	return true
}

// begin forgets the row before.
func (j *judge) begin() {
	quantiles := j.row.Quantiles[:0]
	j.row, j.name, j.wrong, j.doubt = law.Row{Added: j.around.added}, "", "", ""
	if j.maker != nil {
		j.row = j.maker.Row
		j.row.Made = true
	}
	j.row.Quantiles, j.row.Averaged = quantiles, j.options.Averaged
	j.row.Added = cmp.Or(j.options.Added, j.row.Added)
}

// take notes what one cell says of the row.
func (j *judge) take(c *column, text string) {
	switch {
	case c.figure == names && len(j.name) < 80:
		j.name = strings.TrimSpace(j.name + " " + text)
	case c.figure == due:
		j.row.Early = j.row.Early || text != ""
	case c.known() && !j.cell(&j.row, c, text):
		j.wrong = fmt.Sprintf("%s: %.40q is no figure that can be read", c.head, text)
	}
}

// end judges the row that has been read, which is called so if it has no name of its own.
func (j *judge) end(line int, otherwise string) {
	name := cmp.Or(j.name, otherwise)
	if j.wrong != "" {
		j.unread(line, name, j.wrong)
		return
	}
	j.Rows++
	j.row.Default(&j.given)
	if !j.row.Has(law.Connections) && j.around.row.Has(law.Connections) {
		j.doubt = cmp.Or(j.doubt, fmt.Sprintf("the connections of line %d may be of other rows", j.around.line))
	}
	j.row.Default(&j.around.row)
	if j.options.Each != nil {
		j.options.Each(name, &j.row)
	}
	worst, lacks := Unheld, lacking(&j.row)
	j.row.Judge(func(of law.Result) {
		tally, verdict, unless := j.Laws[of.Law.ID], Sound, ""
		switch {
		case !of.Holds:
			all := []string{of.Unless, j.doubt, j.unsure}
			unless = strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), ", or ")
			if verdict = Unsupported; unless == "" {
				verdict = Impossible
			}
		case lacks != "" && slices.Contains([]*law.Law{law.Order, law.Mean, law.Spread}, of.Law):
			verdict = Unheld // latencies alone say nothing of a rate
		}
		if of.Holds {
			tally.Held++
		} else if tally.Broken++; j.room(j.Findings) {
			j.Findings = append(j.Findings, Finding{line, name, of.Law.ID, verdict, says(of), unless})
		}
		j.Laws[of.Law.ID] = tally
		if slices.Index(Verdicts, verdict) < slices.Index(Verdicts, worst) {
			worst = verdict
		}
	})
	if j.Of[worst]++; worst == Unheld {
		j.lacks[cmp.Or(lacks, "they have too few figures, or too few digits")]++
	} else if worst == Unsupported && j.maker == nil {
		j.note("if you know them, say --made-by TOOL and --given pipelining=N")
	}
	remark := func(text string) {
		if j.room(j.Remarks) {
			j.Remarks = append(j.Remarks, Finding{Line: line, Row: name, Verdict: worst, Says: text})
		}
	}
	j.row.Remarks(remark)
	if rate, ok := j.row.Get(law.Rate); ok {
		if j.summed > 1 && law.Equals.Holds(rate, j.sum, 1e-3) && whole().MatchString(name) {
			remark(fmt.Sprintf("the row is the sum of the %d above: do not add it to them", j.summed))
			j.sum, j.summed = law.Quantity{}, 0
		} else {
			j.sum, j.summed = j.sum.Plus(rate), j.summed+1
		}
	}
}

// whole are names of rows that may be the sum of others.
var whole = later(`(?i)\b(total|aggregated?|sum|all|overall)\b`)

// lacking says what it takes to hold a row's rate against its latency; empty if nothing is lacking, or neither is there.
func lacking(r *law.Row) string {
	switch {
	case !r.Rated():
	case !r.Timed():
		return "they have a rate and no latency"
	case r.Early:
		return "latencies begin when a request was due, so connections do not bound them"
	case !r.Has(law.Connections):
		return "give --given connections=N"
	}
	return ""
}

func (j *judge) unread(line int, name, why string) {
	j.Rows++
	j.Of[Unread]++
	if j.room(j.Findings) {
		j.Findings = append(j.Findings, Finding{Line: line, Row: name, Verdict: Unread, Says: why})
	}
}

// room tells whether one more finding is kept, and counts those that are not.
func (j *judge) room(among []Finding) bool {
	if j.options.Most > 0 && len(among) >= j.options.Most {
		j.More++
		return false
	}
	return true
}

// columns notes how heads were read.
func (j *judge) columns(all []column) {
	var rest, guessed []string
	for _, c := range all {
		switch {
		case c.figure == unused && c.head != "":
			rest = append(rest, c.head)
		case c.guessed:
			guessed = append(guessed, c.head)
		}
		if c.unread > 0 {
			j.note("%s: %s could not be read", c.head, words.Count(c.unread, "cell"))
		}
	}
	if len(guessed) > 0 {
		j.note("taken for ms, since no unit is given: %s; if it is another, say --unit '%s=us', or latency=us for all",
			strings.Join(guessed, ", "), guessed[0])
	}
	if len(rest) > 0 {
		j.note("not used: %.300s", strings.Join(rest, ", "))
	}
}

// note notes how a text was read, once; a text of many tables would have endless notes.
func (j *judge) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); len(j.Notes) < 40 && !slices.Contains(j.Notes, text) {
		j.Notes = append(j.Notes, text)
	}
}

// says tells the two figures of a result.
func says(of law.Result) string {
	relation := map[law.Relation]string{law.Equals: "is not", law.AtMost: "is more than", law.AtLeast: "is less than"}[of.Relation]
	amount := func(q law.Quantity) string {
		return strings.ReplaceAll(words.Figure(string(of.Unit), q.Value, nil, nil), "\u00a0", " ")
	}
	return fmt.Sprintf("%s, %s, %s %s, %s", of.Of, amount(of.Stands), relation, of.To, amount(of.Allowed))
}
