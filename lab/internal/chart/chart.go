// Package chart makes the charts of pages as finished HTML: of what a page declares in its front matter,
// and of the figures of texts and the evidence that the page shows.
//
// The table is the chart: a row has its label, its figure with the interval, and marks on a scale that all
// rows share. Figures over a factor are lines, and what a load passes through is a list. Words are HTML,
// which wraps and keeps its size on a phone. Colours come from the style sheet by class, and nothing is told
// by colour alone.
package chart

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/law/audit"
	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Figure is one that a page declares in a table [[figures]]. The shortcode of its name places it.
type Figure struct {
	Name  string `toml:"name"`
	Kind  string `toml:"kind"`
	Title string `toml:"title"`
	Note  string `toml:"note"`
	// Exp is an experiment. A figure has a chart for each table of a text that the experiment repeats, and one of
	// the evidence that pages show. Source is "published" or "measured" for one of the two, and Table names one
	// table, as "06b-s". Levels are those of the conditions to show.
	Exp    string         `toml:"exp"`
	Source string         `toml:"source"`
	Table  string         `toml:"table"`
	Levels map[string]any `toml:"levels"`

	// Bars may be of several metrics of one unit.
	Metric string `toml:"metric"`
	Claim  string `toml:"claim"`
	// Over is the factor of lines, and By that of which each level has a line.
	Over string `toml:"over"`
	By   string `toml:"by"`
	// Server, Client and Wire name figures of a text: the states of the cores of each side in the text Entry,
	// or of a setup how idle a side was, and what the wire carried.
	Entry  string   `toml:"entry"`
	Server []string `toml:"server"`
	Client []string `toml:"client"`
	Wire   []string `toml:"wire"`
	// Panels are the setups that stand side by side.
	Panels []Figure `toml:"panels"`
}

// A kind says what a figure needs, how one reads it, and how the chart of a run is drawn, which may be empty.
type kind struct {
	needs []string
	note  string
	draw  func(*Book, Figure, Run) (template.HTML, error)
}

var kinds = map[string]kind{
	"bars":     {[]string{"exp", "metric"}, "A dot is the figure, and a line its interval.", (*Book).bars},
	"dots":     {[]string{"exp", "metric"}, "Light: trials; squares do not count. Dark: median, interval.", (*Book).bars},
	"ratios":   {[]string{"exp", "claim"}, "Shaded: what the claim wants. The rule: no difference.", (*Book).ratios},
	"relative": {[]string{"exp"}, "A dot is the ratio, a line its interval. The rule: no difference.", (*Book).relative},
	"cores":    {nil, "", (*Book).cores},
	"lines":    {[]string{"exp", "metric", "over"}, "Upright: intervals. Hollow: the client was the wall.", (*Book).lines},
	"setup":    {nil, "A side whose bar reaches the tick in a trial is the wall of that trial.", (*Book).setup},
}

// A Run is a run with what was said of it, or a table that a text printed.
type Run struct {
	*verdict.File
	Results *results.File // of a table what it was measured with, without trials

	published bool // whether it is a table
}

// A Book has all that charts are made of.
type Book struct {
	Experiments map[string]*experiment.Experiment
	Names       map[string]string         // of hosts, each unlike any other
	Runs        map[string]map[string]Run // by experiment and name
	Sums        map[string]*pages.Hosts   // by experiment
	Audits      map[string]*audit.File    // by entry

	fault error // that pages may not print a figure of what is being drawn
}

// Draw makes a figure. What nobody has measured yet is a sentence that says so.
func (b *Book) Draw(f Figure) (string, error) {
	of, ok := kinds[f.Kind]
	if !ok {
		all := slices.Sorted(maps.Keys(kinds))
		return "", fmt.Errorf("kind %q is not known; %s", f.Kind, strict.Instead(f.Kind, all))
	}
	has := map[string]string{"exp": f.Exp, "metric": f.Metric, "over": f.Over, "claim": f.Claim}
	for _, need := range of.needs {
		if has[need] == "" {
			return "", fmt.Errorf("%s need %q", f.Kind, need)
		}
	}
	for _, name := range strings.Fields(f.Metric) {
		if _, known := metric.Lookup(name); !known {
			return "", fmt.Errorf("metric %q is not known; %s", name, strict.Instead(name, metric.Names()))
		}
	}
	if f.Panels == nil {
		f.Panels = []Figure{f}
	}
	f.Note = strings.TrimSpace(f.Note + " " + of.note)
	drawn := struct {
		Figure
		Charts []template.HTML
	}{Figure: f}
	for _, p := range f.Panels {
		p.Kind = f.Kind
		before := len(drawn.Charts)
		runs, err := b.runs(p)
		b.fault = err
		for _, r := range runs {
			chart, err := of.draw(b, p, r)
			if b.fault = cmp.Or(b.fault, err); chart != "" {
				drawn.Charts = append(drawn.Charts, chart)
			}
		}
		switch {
		case b.fault != nil:
			return "", b.fault
		case len(drawn.Charts) > before:
		case p.Source == "measured":
			drawn.Charts = append(drawn.Charts, render("nothing", p.Exp))
		default:
			return "", fmt.Errorf("no run of %s has %s; for what nobody has measured yet, say source = \"measured\"",
				p.Exp, cmp.Or(p.Metric, "such figures"))
		}
	}
	return string(render("figure", drawn)), nil
}

//go:embed chart.html
var text string

var templates = template.Must(template.New("").Parse(text))

// render fills in a template of chart.html. One that does not fit is a mistake of this package.
func render(name string, of any) template.HTML {
	var out strings.Builder
	if err := templates.ExecuteTemplate(&out, name, of); err != nil {
		panic(err)
	}
	return template.HTML(out.String())
}

// runs gives what a figure shows, each with the conditions that it shows: the evidence of a claim; or all
// tables of texts that the experiment repeats and the evidence, or those of them that are named.
func (b *Book) runs(f Figure) (out []Run, err error) {
	wanted := setting.Levels{}
	for name, v := range f.Levels {
		if wanted[name], err = setting.ParseLevel(v); err != nil {
			return nil, fmt.Errorf("levels: %s: %w", name, err)
		}
	}
	switch {
	case f.Exp == "":
		return []Run{{File: &verdict.File{}}}, nil
	case b.Experiments[f.Exp] == nil:
		return nil, fmt.Errorf("lab/experiments/%s.toml is missing", f.Exp)
	}
	if f.Claim == "" && f.Source != "measured" {
		out = b.tables(f.Exp)
	}
	if f.Table != "" {
		names := strict.Map(out, func(r Run) string { return r.Run })
		if out = strict.Filter(out, func(r Run) bool { return r.Run == f.Table }); len(out) == 0 {
			return nil, fmt.Errorf("%s has no table %q; %s", f.Exp, f.Table, strict.Instead(f.Table, names))
		}
	} else if r, ok := b.evidence(f.Exp); ok && f.Source != "published" {
		out = append(out, r)
	}
	for _, r := range out {
		of := r.Conditions
		r.Conditions = nil
		for _, row := range r.Table.Rows {
			c, ok := strict.Find(of, func(c medians.Summary) bool { return c.ID == row.ID })
			if ok && maps.Equal(c.Levels, c.Levels.With(wanted)) {
				r.Conditions = append(r.Conditions, c)
			}
		}
	}
	return out, nil
}

// tables are those of all texts that an experiment repeats.
func (b *Book) tables(exp string) (out []Run) {
	for _, entry := range slices.Sorted(maps.Keys(b.Audits)) {
		for _, t := range b.Audits[entry].Tables {
			if t.Experiment != exp {
				continue
			}
			out = append(out, Run{
				File: &verdict.File{Experiment: exp, Entry: entry, Run: entry + "-" + t.ID, Host: t.Host,
					ClientHost: t.ClientHost, Date: t.Date, Conditions: t.Conditions, Table: t.Table},
				Results: &results.File{Settings: t.Settings,
					Topology: results.Topology{Kind: t.Topology, LineRateBps: t.LineRateBps}},
				published: true,
			})
		}
	}
	return out
}

// evidence is what the machine that pages show has measured of an experiment: its newest run, with the figures
// of all blocks that count with those of this run.
func (b *Book) evidence(exp string) (r Run, ok bool) {
	if r, ok = b.Runs[exp][cmp.Or(b.Sums[exp], &pages.Hosts{}).Shown]; !ok || r.Table == nil {
		return r, false
	}
	file := *r.File
	if all := r.Together; all != nil {
		file.Conditions, file.Table, file.Blocks = all.Conditions, all.Table, r.Record.Blocks
	}
	r.File = &file
	return r, true
}

// trials are those of a condition, or of its control, in all runs of the evidence, in the order of time.
func (b *Book) trials(r Run, c medians.Summary, control bool) (out []results.Trial) {
	if r.published {
		return nil
	}
	for _, name := range r.Record.Runs {
		of := b.Runs[r.Experiment][name].Results
		for _, t := range of.Trials {
			is, _ := strict.Find(of.Conditions, func(c results.Condition) bool { return c.ID == t.Condition })
			if is.Levels.Key() == c.Levels.Key() && (is.ControlOf != "") == control {
				out = append(out, t)
			}
		}
	}
	return out
}

// caption names a run: machine, day, and how many blocks it has.
func (b *Book) caption(r Run) string {
	day, _ := time.Parse(time.DateOnly, r.Date)
	name := b.Names[r.Host] + ", " + day.Format("2 January 2006")
	if r.published {
		return name + ", published single run"
	}
	return name + ", measured, " + words.Count(r.Blocks, "block")
}
