// Package judge reads published tables of load tests, and says row by row what cannot be.
//
// It knows tables in CSV, Markdown, TOML and JSON by the heads of their columns, and what load generators
// print by its words. Each row is held against the laws of package law, and accused only where no values
// that would be printed so keep one. What hangs on something that the table does not say, on a unit that
// had to be guessed above all, is not supported, and not impossible.
//
// It does not see figures that are wrong and fit: a row that adds up may still be made up.
package judge

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Finding is a law that a row breaks.
type Finding struct {
	Line    int     `json:"line,omitempty"` // of the file, where rows are lines
	Row     string  `json:"row"`
	Law     string  `json:"law"`
	Verdict Verdict `json:"verdict"`
	Says    string  `json:"says"`             // the two figures, and how they should be
	Unless  string  `json:"unless,omitempty"` // what could make it true after all
	Mend    string  `json:"mend,omitempty"`   // a mistake of units that would explain it
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
	Form     string           `json:"form"`
	Rows     int              `json:"rows"`
	Of       map[Verdict]int  `json:"verdicts"`
	Laws     map[string]Tally `json:"laws"`  // by law
	Notes    []string         `json:"notes"` // how columns were read
	Findings []Finding        `json:"findings"`
	More     int              `json:"more,omitempty"` // findings beyond those
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
	Averaged bool     // rows are means over several runs
	Early    bool     // latencies begin when a request was due, and not when it was sent
	Added    string   // why latencies are not those of the requests alone
	Most     int      // findings that are kept; 0: all
	// Each is given each row that was read, if it is there.
	Each func(name string, row *law.Row)
}

type judge struct {
	Report
	options Options
	given   law.Row
	units   map[string]string
	row     law.Row
	cache   map[string]*column // of JSON and TOML
	order   []string
	tool    *tool
	held    int
	worst   Verdict
	guesses string // units that this row's figures hang on
	doubts  map[law.Figure]string
	name    string // the row's own; empty: it has none
	wrong   string // why it cannot be read
}

// Of judges a text. An error is of the whole text; a row that cannot be read is a finding.
func Of(name string, text []byte, o Options) (*Report, error) {
	j := &judge{Report: Report{Name: name, Of: map[Verdict]int{}, Laws: map[string]Tally{}, Notes: []string{}, Findings: []Finding{}},
		options: o, units: map[string]string{}, cache: map[string]*column{}, doubts: map[law.Figure]string{}}
	for _, text := range o.Units {
		head, in, ok := strings.Cut(text, "=")
		if _, known := units()[strings.ToLower(in)]; !ok || !known {
			return nil, fmt.Errorf("--unit %s: give a head and its unit, as p99=us, or latency=us for all latencies", text)
		}
		j.units[head] = strings.ToLower(in)
	}
	for _, text := range o.Given {
		name, value, ok := strings.Cut(text, "=")
		at := columnOf(name)
		if !ok || at.is != figure || !j.cell(&j.given, &at, value) {
			return nil, fmt.Errorf("--given %s: give a figure of each row, as connections=64, pipelining=1, duration=10s, cores=4 or line=10Gbit/s", text)
		}
	}
	if err := j.read(text); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if j.Rows == 0 {
		return nil, fmt.Errorf("%s: read as %s, it has no rows", name, j.Form)
	}
	for _, head := range j.order {
		j.columns([]column{*j.cache[head]})
	}
	return &j.Report, nil
}

// cell reads one cell into a row, and tells whether it is a figure, or empty. One in a unit of something else, as
// "2%" where failures are counted, is left out.
func (j *judge) cell(row *law.Row, c *column, text string) bool {
	if text = strings.TrimSpace(text); text == "" || text == "-" || text == "—" || strings.EqualFold(text, "n/a") || text == "null" {
		return true
	}
	in := c.unit
	if given, ok := j.units[c.head]; ok {
		in = given
	} else if given, ok := j.units["latency"]; ok && in == "" && c.latency() {
		in = given
	}
	q, whole, guessed, ok := quantity(text, c.quantity, in, j.tool != nil && j.tool.Binary, c.is == figure && c.figure == law.Busy)
	if !ok {
		c.unread++
		_, of, _, number := written(text, false)
		_, known := unitOf(of)
		return number && known
	}
	if c.doubt != "" {
		j.doubts[c.figure] = c.doubt
	}
	if guessed == "s" && c.latency() && j.tool == nil {
		guessed, q = "ms", q.Times(law.Exactly(1e-3))
	}
	if guessed != "" && guessed != "B" && j.tool == nil && (c.figure != law.Duration || c.is == quantile) {
		c.guessed = guessed
		if !strings.Contains(j.guesses, c.head) {
			j.guesses = strings.TrimPrefix(j.guesses+", "+c.head, ", ")
		}
	}
	if c.is == quantile {
		row.SetQuantile(c.share, q)
		return true
	}
	row.Set(c.figure, q)
	if c.figure == law.Duration && whole {
		row.Nominal = true
	}
	return true
}

func (c *column) latency() bool {
	return c.is == quantile || c.is == figure && c.quantity == metric.Second && c.figure != law.Duration
}

func (j *judge) begin() {
	j.row.Reset()
	if j.tool != nil {
		j.row = j.tool.Row
	}
	j.guesses, j.name, j.wrong, j.held, j.worst = "", "", "", 0, Sound
	clear(j.doubts)
	j.row.Averaged = j.options.Averaged
	j.row.Early = j.row.Early || j.options.Early
	j.row.Added = cmp.Or(j.row.Added, j.options.Added)
}

// cells judges a line of a table.
func (j *judge) cells(line int, columns []column, cells []string) {
	if len(cells) != len(columns) {
		j.broken(line, fmt.Sprintf("it has %s, and the head has %d", words.Count(len(cells), "cell"), len(columns)))
		return
	}
	j.begin()
	for i := range columns {
		j.take(&columns[i], cells[i])
	}
	j.end(line, "")
}

// take notes what one cell says of the row.
func (j *judge) take(c *column, text string) {
	switch {
	case c.is == names && len(j.name) < 80:
		j.name = strings.TrimSpace(j.name + " " + text)
	case c.is == due:
		j.row.Early = j.row.Early || text != ""
	case c.is > due && !j.cell(&j.row, c, text):
		j.wrong = fmt.Sprintf("%s: %.40q is no figure that can be read", c.head, text)
	}
}

// keyed judges a table of JSON or TOML.
func (j *judge) keyed(own map[string]string, path string) {
	j.begin()
	for _, head := range slices.Sorted(maps.Keys(own)) {
		c := j.cache[head]
		if c == nil {
			keys := strings.Split(head, ".")
			n := len(keys) - 1
			of := columnOf(keys[n])
			if of.is == unused || n > 0 && of.latency() && !ofLatency().MatchString(spaced(keys[n-1])) { // "jitter.p99"
				of = columnOf(head)
			}
			of.head = head
			c = &of
			j.cache[head], j.order = c, append(j.order, head)
		}
		j.take(c, own[head])
	}
	if j.row.Figures() == 0 {
		return // of something else
	}
	within := strings.Join(strings.FieldsFunc(path, func(r rune) bool { return r == 0 }), " ")
	j.end(0, cmp.Or(within, "row "+strconv.Itoa(j.Rows+1)))
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
	if j.options.Each != nil {
		j.options.Each(name, &j.row)
	}
	j.row.Judge(func(of law.Result) {
		j.held++
		count := j.Laws[of.Law.ID]
		if of.Holds {
			count.Held++
		} else {
			count.Broken++
		}
		if j.Laws[of.Law.ID] = count; of.Holds {
			return
		}
		f := Finding{Line: line, Row: name, Law: of.Law.ID, Verdict: Impossible, Says: says(of), Unless: of.Unless, Mend: of.Mend()}
		if f.Unless == "" && j.guesses != "" {
			f.Unless = "the unit of " + j.guesses + " is a guess"
		}
		if of.Law == law.InFlight || of.Law == law.Mean || of.Law == law.Spread {
			f.Unless = cmp.Or(f.Unless, j.doubts[law.Average])
		}
		if of.Law == law.InFlight {
			f.Unless = cmp.Or(f.Unless, j.doubts[law.Connections])
		}
		if f.Unless != "" {
			f.Verdict = Unsupported
		}
		if slices.Index(Verdicts, f.Verdict) < slices.Index(Verdicts, j.worst) {
			j.worst = f.Verdict
		}
		j.add(f)
	})
	if j.held == 0 {
		j.worst = Unheld
	}
	j.Of[j.worst]++
}

func (j *judge) unread(line int, name, why string) {
	j.Rows++
	j.Of[Unread]++
	j.add(Finding{Line: line, Row: name, Verdict: Unread, Says: why})
}

// broken notes a line that is no row of its table.
func (j *judge) broken(line int, why string) { j.unread(line, "line "+strconv.Itoa(line), why) }

func (j *judge) add(f Finding) {
	if j.options.Most > 0 && len(j.Findings) >= j.options.Most {
		j.More++
		return
	}
	j.Findings = append(j.Findings, f)
}

// columns notes how heads were read.
func (j *judge) columns(all []column) {
	var rest []string
	for _, c := range all {
		switch {
		case c.is == unused && c.head != "":
			rest = append(rest, c.head)
		case c.guessed != "":
			j.note(fmt.Sprintf("%s has no unit, and was taken for %s; say --unit '%s=us' if it is another", c.head, c.guessed, c.head))
		}
		if c.unread > 0 {
			j.note(fmt.Sprintf("%s: %s could not be read", c.head, words.Count(c.unread, "cell")))
		}
	}
	if len(rest) > 0 && !strings.HasPrefix(j.Form, "JSON") && j.Form != "TOML" {
		j.note("not used: " + strings.Join(rest, ", "))
	}
}

func (j *judge) note(text string) {
	if !slices.Contains(j.Notes, text) {
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

// toolOf is the load generator that printed a text; nil if none did.
func toolOf(text []byte) *tool {
	t, _ := strict.Find(tools().Texts, func(t *tool) bool { return regexp.MustCompile(t.Mark).Match(text) })
	return t
}

// printed judges each run in what a tool printed.
func (j *judge) printed(t *tool, text []byte) error {
	j.tool = t
	begins, line, begun, at := regexp.MustCompile(t.Begins), 0, false, 0
	finish := func() {
		if begun && j.row.Figures() > 1 {
			j.end(at, t.Name)
		}
	}
	for text := range bytes.Lines(text) {
		line++
		of := strings.TrimRight(string(text), " \r\n")
		if line == 1 && t.Headless || begins.MatchString(of) {
			finish()
			begun, at = true, line
			j.begin()
		}
		if !begun {
			continue
		}
		for _, l := range t.lines {
			if m := l.FindStringSubmatch(of); m != nil {
				j.groups(l.SubexpNames(), m)
			}
		}
	}
	finish()
	if j.Rows == 0 {
		return errors.New("none of its figures could be read")
	}
	return nil
}

// groups notes what one line of a tool's output has.
func (j *judge) groups(names, texts []string) {
	share := ""
	for i, name := range names {
		switch {
		case texts[i] == "" || i == 0:
		case name == "q":
			share = texts[i]
		case name == "at":
			j.group("p"+share, j.tool.unit(name), texts[i])
		case name == "clients":
			if n, err := strconv.ParseFloat(texts[i], 64); err == nil {
				j.row.Add(law.Connections, law.Exactly(n))
			}
		default:
			j.group(name, j.tool.unit(name), texts[i])
		}
	}
}

// group notes one figure by its name in groups, perhaps with a number behind it, or a quantile.
func (j *judge) group(name, in, text string) {
	c := column{head: name, unit: in, quantity: metric.Second, is: quantile}
	if f, ok := groups[strings.TrimRight(name, "0123456789")]; ok {
		c.is, c.figure, c.quantity = figure, f, law.Units[f]
	} else {
		v, err := strconv.ParseFloat(strings.Replace(strings.TrimPrefix(name, "p"), "_", ".", 1), 64)
		if c.share = v / 100; err != nil || c.share <= 0 || c.share > 1 {
			return
		}
	}
	j.cell(&j.row, &c, text)
}
