package site

// This file reads references and finds them in pages. A page says which number it wants, and the lab writes it:
//
//	{{< n "12-second-write ratio server_cpu_per_request_s write_buffer=8192/4096" >}}
//
// A reference is a subject, a form, and what the form takes: names, then levels. A subject is an experiment, which
// means all evidence of the machine that pages show, or a table of a text, as 12/ramp. A level is NAME=VALUE, or
// NAME=A/B to compare A with B; '…' encloses a value with a space or a slash. Other subjects have keys alone, as
// "lab alpha", which collectKeys lists.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/line-rate/line-rate/lab/confseq"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Number replaces a reference on a page: a text, a link, a badge, a list of badges, or a table.
type Number struct {
	Text    string          `json:"text,omitempty"`
	Value   *float64        `json:"value,omitempty"`   // of a text, in base units; absent for what is no number
	To      string          `json:"to,omitempty"`      // of a link or a badge: a path of the site
	Title   string          `json:"title,omitempty"`   // of a link or a badge: what it leads to
	Verdict verdict.Verdict `json:"verdict,omitempty"` // of a badge
	Note    string          `json:"note,omitempty"`    // beside a badge of a list: the deciding ratio, and what was claimed
	List    []Number        `json:"list,omitempty"`
	Table   *Table          `json:"table,omitempty"`
}

// A reference is one that was read.
type reference struct {
	subject, form string
	tail          string // what follows them, as it was written
	names         []string
	levels        map[string]string // of the condition
	base          map[string]string // of the one that it is compared with: the same where no other level is given
}

var (
	word  = regexp.MustCompile(`(?:[^ ']|'[^']*')+`)
	level = regexp.MustCompile(`^([a-z_]+)=('[^']*'|/?[^/']+)(?:/('[^']*'|/?[^/']+))?$`)
)

// parseReference reads a reference. It knows neither subjects nor forms.
func parseReference(text string) (r reference, err error) {
	r.levels, r.base = map[string]string{}, map[string]string{}
	words := word.FindAllString(text, -1)
	switch {
	case len(words) == 0:
		return r, errors.New("it is empty; write an experiment, a form such as value, and what the form takes")
	case strings.Count(text, "'")%2 == 1:
		return r, errors.New("a ' has no other; two of them enclose a value with spaces")
	}
	r.subject, r.tail = words[0], strings.Join(words[min(2, len(words)):], " ")
	for i, w := range words[1:] {
		switch m := level.FindStringSubmatch(w); {
		case m != nil && r.levels[m[1]] != "":
			return r, fmt.Errorf("%s is given twice", m[1])
		case m != nil:
			r.levels[m[1]] = strings.Trim(m[2], "'")
			r.base[m[1]] = strings.Trim(cmp.Or(m[3], m[2]), "'")
		case strings.Contains(w, "="):
			return r, fmt.Errorf("%q is no level; write NAME=VALUE, or NAME=A/B to compare A with B", w)
		case i == 0:
			r.form = w
		default:
			r.names = append(r.names, w)
		}
	}
	return r, nil
}

// call finds the shortcodes that place a reference.
var call = regexp.MustCompile(`\{\{<\s*(?:n|table|found)\s+(?:of=)?"([^"]*)"`)

// numbers resolves the references of all pages into numbers.json. The error has a line for each that cannot be, with
// its place.
func (s *Site) numbers() error {
	if err := s.collectKeys(); err != nil {
		return err
	}
	found, faults := map[string]Number{}, []error(nil)
	for _, p := range s.pages {
		for _, m := range call.FindAllSubmatchIndex(p.text, -1) {
			text := string(p.text[m[2]:m[3]])
			n, err := s.resolve(text)
			if found[text] = n; err != nil {
				line := 1 + bytes.Count(p.text[:m[0]], []byte("\n"))
				faults = append(faults, fmt.Errorf("%s:%d: %q: %w", p.path, line, text, err))
			}
		}
	}
	return errors.Join(append(faults, s.encode("numbers.json", found))...)
}

// A query is a reference with its subject: an experiment with the evidence that pages show, or a table with the
// experiment that repeats it.
type query struct {
	reference
	x *experiment.Experiment
	e *evidence // nil where nobody measured
}

// ofTable tells whether the subject is a table.
func (q query) ofTable() bool { return q.e != nil && q.e.published != "" }

// subjects are all experiments and tables.
func (s *Site) subjects() map[string]query {
	all := map[string]query{}
	for _, x := range s.Experiments {
		all[x.Name] = query{x: x, e: s.shown[x.Name]}
		for _, e := range s.printed[x.Name] {
			all[strings.Replace(e.published, "-", "/", 1)] = query{x: x, e: e}
		}
	}
	return all
}

// resolve finds what a reference means.
func (s *Site) resolve(text string) (Number, error) {
	r, err := parseReference(text)
	if err != nil {
		return Number{}, err
	}
	if of := s.keys[r.subject]; of != nil {
		key := strings.TrimSpace(r.form + " " + r.tail)
		n, ok := of[key]
		if !ok {
			err = fmt.Errorf("%s has no %q\n  %s", r.subject, key, strict.Instead(key, slices.Sorted(maps.Keys(of))))
		}
		return n, err
	}
	q, ok := s.queries[r.subject]
	if !ok {
		known := slices.Concat(slices.Sorted(maps.Keys(s.queries)), slices.Sorted(maps.Keys(s.keys)))
		return Number{}, fmt.Errorf("there is no experiment, text or table %q\n  %s", r.subject,
			strict.Instead(r.subject, known))
	}
	q.reference = r
	f, ok := forms[r.form]
	switch n := len(r.names); {
	case !ok:
		err = fmt.Errorf("there is no form %q\n  %s", r.form, strict.Instead(r.form, slices.Sorted(maps.Keys(forms))))
	case f.evidence && q.ofTable():
		err = fmt.Errorf("no table has the form %q", r.form)
	case n < f.least || n > f.most:
		err = fmt.Errorf("%s takes %s", r.form, f.takes)
	default:
		return f.give(q)
	}
	return Number{}, err
}

// collectKeys makes what references with a key alone mean, by subject and key:
//
//	lab KEY          a threshold of the method: alpha, cpu_saturated, …
//	claims KEY       how many there are: all, or here, on two cores
//	simulation KEY   a figure of the simulated campaigns
//	BOARD KEY        how many rows of a public board's table could be held against Little's law, and break it: with
//	                 the allowances of linerate judge, or at most, with none but rounding
//	boards all       the chart of all boards
//	entry NUMBER     a link; Entry NUMBER at the beginning of a sentence
//	MACHINE          a link; with a key how many cores it has, or what its line carries
//	TEXT printed ID  a figure, or what a check is of
//	TEXT implied ID  what that is by other figures
func (s *Site) collectKeys() error {
	s.keys = map[string]map[string]Number{"lab": thresholds(), "claims": s.countClaims(),
		"simulation": {}, "entry": {}, "Entry": {}}
	var simulated struct {
		Shown map[string]string `json:"shown"`
	}
	if err := json.Unmarshal(verdict.Simulation, &simulated); err != nil {
		return err
	}
	for key, text := range simulated.Shown {
		s.keys["simulation"][key] = Number{Text: text}
	}
	for number, n := range s.entries {
		link := Number{Text: strings.ToLower(n.Said), To: n.To, Title: n.Title}
		s.keys["entry"][number] = link
		link.Text = words.UpperFirst(link.Text)
		s.keys["Entry"][number] = link
	}
	for id, h := range s.Hosts {
		s.keys[id] = map[string]Number{"": {Text: s.machines[id], To: machinePath(id)}}
		for key, v := range map[string]float64{"cores": float64(h.Cores), "line_rate_bps": h.LineRateBps} {
			if v > 0 {
				s.keys[id][key] = Number{Text: amount(key, v), Value: &v}
			}
		}
	}
	for _, a := range s.Audits {
		of := map[string]Number{}
		for _, f := range a.Findings {
			_, printed, _ := f.Print(f.Stands)
			_, implied, _ := f.Print(f.Allowed)
			of["printed "+f.ID] = Number{Text: cmp.Or(f.Printed, printed), Value: &f.Stands.Value}
			of["implied "+f.ID] = Number{Text: implied, Value: &f.Allowed.Value}
		}
		for id, f := range a.Figures {
			of["printed "+id] = Number{Text: f.Printed, Value: &f.Value}
		}
		s.keys[a.Entry] = of
	}
	return s.boards()
}

// thresholds are those of the method in force.
func thresholds() map[string]Number {
	all := map[string]Number{}
	for key, v := range map[string]float64{"alpha": stats.Alpha, "control_alpha": verdict.ControlAlpha,
		"bold": confseq.Bold, "least_blocks": float64(stats.Fewest(stats.Level(1, 1))), "most_lost": verdict.MostLost,
		"block_gap_s":   results.BlockGap.Seconds(),
		"cpu_saturated": gate.CPUSaturated, "wire_saturated": gate.WireSaturated} {
		all[key] = Number{Text: words.Percent(v), Value: &v}
		if v >= 1 {
			all[key] = count(int(v))
		}
	}
	return all
}

// countClaims counts all claims, and those that two cores can test without root and without another machine.
func (s *Site) countClaims() map[string]Number {
	all, here := 0, 0
	for _, x := range s.Experiments {
		all += len(x.Claims)
		root := slices.ContainsFunc(x.Whole(), func(l setting.Levels) bool { return len(experiment.Turns(l)) > 0 })
		here += strict.Count(x.Claims, func(c experiment.Claim) bool {
			return x.Cores(c) <= 2 && !root && x.Topology.Kind != "fleet"
		})
	}
	return map[string]Number{"all": count(all), "here": count(here)}
}

func count(n int) Number { return Number{Text: words.Thousands(n), Value: new(float64(n))} }

// boards judges the tables of public boards. The file data/boards/ID.toml describes a board, and
// its tables lie beside it.
func (s *Site) boards() error {
	chart := rows{caption: "Requests under way by rate and mean latency, over what connections allow, on a log scale. The higher " +
		"a column, the more rows are there; those at both ends have what lies beyond. Rows right of the rule, which is at one, break " +
		"the law", head: "Rows that break it",
		scale: scale{0.1, 100, true}, rules: []float64{1}}
	paths, err := filepath.Glob(s.Root.Path("data", "boards", "*.toml"))
	for _, path := range paths {
		var board struct {
			Title  string `toml:"title"`
			Date   string `toml:"date"` // of the figures
			Tables []struct {
				File  string `toml:"file"`  // without .csv
				Label string `toml:"label"` // beside the title
				Added string `toml:"added"` // why its latencies are not those of the requests alone
				Means bool   `toml:"means"` // each figure is a mean of its own over several runs
			} `toml:"tables"`
		}
		text, err := os.ReadFile(path)
		if err = cmp.Or(err, toml.Unmarshal(text, &board)); err != nil {
			return fmt.Errorf("%s: %w", s.Root.Rel(path), err)
		}
		for _, t := range board.Tables {
			text, err := os.ReadFile(s.Root.Path("data", "boards", t.File+".csv"))
			of, other := law.Judge(t.File, text, law.Options{Averaged: t.Means, Added: t.Added})
			if err = cmp.Or(err, other); err == nil && of.Of[law.Unread] > 0 {
				err = errors.New(of.Findings[0].Says)
			}
			if err == nil && len(of.Laws[law.InFlight].Least) == 0 {
				err = errors.New("no row has a rate, a latency and connections")
			}
			if err != nil {
				return fmt.Errorf("data/boards/%s.csv: %w", t.File, err)
			}
			little, share := of.Laws[law.InFlight], "none"
			held := little.Held + little.Broken
			most := strict.Count(little.Least, func(v float64) bool { return v > 1+1e-9 })
			if little.Broken > 0 {
				share = words.Share(float64(little.Broken) / float64(held))
			}
			s.keys[t.File] = map[string]Number{"held": count(held), "broken": count(little.Broken), "most": count(most),
				"share": {Text: share}, "date": {Text: board.Date}}
			chart.all = append(chart.all, row{label: board.Title + ", " + t.Label, each: little.Least,
				value: words.Thousands(little.Broken) + " to " + words.Thousands(most), interval: "of " + words.Thousands(held)})
		}
	}
	s.keys["boards"] = map[string]Number{"all": {Table: chart.draw(ratios)}}
	return err
}

// A form is a way to ask a subject for something.
type form struct {
	evidence    bool   // whether no table has it
	takes       string // what follows it, and what it gives
	least, most int    // how many names
	give        func(query) (Number, error)
}

// forms are all that there are.
var forms = map[string]form{
	"value":    {false, "a metric, and the levels of one condition", 1, 1, query.value},
	"sum":      {false, "metrics of one unit, and the levels of one condition: their medians, added", 2, 9, query.sum},
	"ratio":    {false, "a metric, and levels, one of them as NAME=A/B: A over B", 1, 1, query.ratio},
	"change":   {false, "what ratio takes: the same in percent, with its sign", 1, 1, query.ratio},
	"rise":     {false, "what ratio takes: in percent, and an error if it fell", 1, 1, query.ratio},
	"fall":     {false, "what ratio takes: in percent, and an error if it rose", 1, 1, query.ratio},
	"interval": {true, "what ratio takes: the interval of the ratio", 1, 1, query.ratio},
	"set":      {false, "a setting, line_rate_bps or slot_s: its level, or levels", 1, 1, query.set},
	"results":  {false, "a name, metrics, and levels: a table, a row a condition", 2, 99, query.results},
	"edge":     {true, "a claim: its margin or its bar", 1, 1, query.claim},
	"verdict":  {true, "a claim: a badge", 1, 1, query.claim},
	"claim":    {true, "a claim: a link", 1, 1, query.claim},
	"headline": {true, "a claim, for the home page", 1, 1, query.headline},
	"outcomes": {true, "claims: a list of them with badges", 1, 99, query.outcomes},
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
	if q.ofTable() {
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
	return Number{Text: f.Words(q.names[0]).Text, Value: cmp.Or(f.Median, f.Below)}, nil
}

// sum adds the medians of metrics, as the CPU time that a request costs server and client.
func (q query) sum() (Number, error) {
	all := medians.Figure{Median: new(0.0)}
	first, _ := metric.Lookup(q.names[0])
	for _, name := range q.names {
		f, err := q.figure(name, q.levels)
		switch m, _ := metric.Lookup(name); {
		case f == nil:
			return unmeasured, err
		case m.Unit != first.Unit:
			err = fmt.Errorf("%s and %s have two units", first.Name, name)
		case f.Median == nil:
			err = fmt.Errorf("of %s only a limit is known", name)
		}
		if err != nil {
			return Number{}, err
		}
		*all.Median += *f.Median
	}
	return Number{Text: all.Words(first.Name).Text, Value: all.Median}, nil
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
	if q.ofTable() {
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
	if q.ofTable() {
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
			if e := deciding(of); e.Ratio > 0 && e.HasInterval() {
				n.Note = fmt.Sprintf("%s (%s); claimed: %s", e.Text, e.Interval, words.Range(e.BandLow, e.BandHigh))
			}
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
