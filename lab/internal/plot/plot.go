// Package plot makes the figures of pages: it reads what an entry declares in its front matter,
// takes the figures from the runs that the page shows, and has package draw draw them.
//
// A figure is a table [[figures]] with a name, a kind, a title, the experiment and the metric,
// and what the kind needs; the shortcode of that name places it. Which runs a page shows, and
// how a condition or a figure is called, is said by package verdict.
package plot

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/audit"
	"github.com/line-rate/line-rate/lab/internal/draw"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Run is a run with what was said of it, or a table that a text printed.
type Run struct {
	*verdict.File
	Results *results.File // without trials for a table

	published bool // whether it is a table that a text printed
}

// Book is all that figures are made of.
type Book struct {
	Experiments []*experiment.Experiment
	Hosts       map[string]*host.Profile
	Runs        map[string][]Run        // by experiment
	Sums        map[string]*pages.Hosts // by experiment
	Audits      map[string]*audit.File  // by entry

	names    map[string]string // of hosts, each unlike any other
	wordless error             // that a figure of what is being drawn has no words
}

func (b *Book) experiment(name string) (*experiment.Experiment, error) {
	if x, ok := strict.Find(b.Experiments, func(x *experiment.Experiment) bool { return x.Name == name }); ok {
		return x, nil
	}
	return nil, fmt.Errorf("lab/experiments/%s.toml is missing", name)
}

// run finds a run of an experiment by its name.
func (b *Book) run(exp, name string) (Run, bool) {
	return strict.Find(b.Runs[exp], func(r Run) bool { return r.Run == name })
}

var ending = regexp.MustCompile(`[0-9a-f]{8}$`)

// Host names a host as pages do. Two machines of one model have the same name; each of them then has the
// end of its id beside it, or the whole id where that end is not enough.
func (b *Book) Host(id string) string {
	if b.names == nil {
		b.names = map[string]string{}
		count := map[string]int{}
		long := func(h *host.Profile) string {
			return fmt.Sprintf("%s (%s)", h.Name, cmp.Or(ending.FindString(h.ID), h.ID))
		}
		for _, h := range b.Hosts {
			count[h.Name]++
			count[long(h)]++
		}
		for id, h := range b.Hosts {
			name := h.Name
			if count[name] > 1 {
				name = long(h)
			}
			if count[name] > 1 {
				name = fmt.Sprintf("%s (%s)", h.Name, id)
			}
			b.names[id] = name
		}
	}
	return b.names[id]
}

// caption names a run: machine, day, and how many blocks it has.
func (b *Book) caption(r Run) string {
	name := b.Host(r.Host) + ", " + day(r)
	if r.published {
		return name + ", published single run"
	}
	return name + ", measured, " + words.Count(r.Blocks, "block")
}

func day(r Run) string {
	t, err := time.Parse(time.DateOnly, r.Date)
	if err != nil {
		return r.Date
	}
	return t.Format("2 January 2006")
}

// tables are those of all texts that an experiment repeats.
func (b *Book) tables(exp string) (out []Run) {
	for _, entry := range slices.Sorted(maps.Keys(b.Audits)) {
		for _, t := range b.Audits[entry].Tables {
			if t.Experiment == exp {
				printed := &results.File{Topology: results.Topology{Kind: t.Topology, LineRateBps: t.LineRateBps},
					Settings: t.Settings}
				out = append(out, Run{published: true, Results: printed, File: &verdict.File{
					Experiment: exp, Entry: entry, Run: entry + "-" + t.ID, Host: t.Host, ClientHost: t.ClientHost, Date: t.Date,
					Topology: t.Topology, LineRateBps: t.LineRateBps, Conditions: t.Conditions, Table: t.Table,
				}})
			}
		}
	}
	return out
}

// chosen gives the runs and tables of a figure: one by table or host, or all tables and the
// record that pages show. If it is about a claim, only a run that has the claim.
func (b *Book) chosen(f Figure) (out []Run, err error) {
	if f.Table != "" || f.Host != "" {
		r, err := b.pick(f)
		return []Run{r}, err
	}
	if _, err := b.experiment(f.Exp); err != nil {
		return nil, err
	}
	if f.Claim == "" && f.Source != "measured" {
		out = b.tables(f.Exp)
	}
	if r, ok := b.record(f); ok && f.Source != "published" {
		out = append(out, r)
	}
	return out, nil
}

// record is the run whose record pages show of an experiment or a claim, with the figures of all its
// blocks unless each trial is drawn; false without one.
func (b *Book) record(f Figure) (Run, bool) {
	sum := b.Sums[f.Exp]
	if sum == nil {
		return Run{}, false
	}
	name := sum.Shown
	if f.Claim != "" {
		of, _ := strict.Find(sum.Claims, func(c pages.Summed) bool { return c.ID == f.Claim })
		name = of.Own
	}
	r, ok := b.run(f.Exp, name)
	if ok && r.Together != nil && f.Kind != "dots" {
		all := r.Together
		file := *r.File
		file.Conditions, file.Table, file.Blocks = all.Conditions, all.Table, r.Record.Blocks
		r.File = &file
	}
	return r, ok
}

// pick is the table that is named, the record of a claim or with source = "measured", or
// else the only table, of a host if one is named.
func (b *Book) pick(f Figure) (Run, error) {
	if r, ok := b.record(f); ok && f.Table == "" && f.Host == "" && (f.Claim != "" || f.Source == "measured") {
		return r, nil
	}
	found := strict.Filter(b.tables(f.Exp), func(r Run) bool {
		return r.Run == f.Table || f.Table == "" && cmp.Or(f.Host, r.Host) == r.Host
	})
	if len(found) != 1 {
		return Run{}, fmt.Errorf("%d of %s answer to %q; name a text's table by table",
			len(found), f.Exp, cmp.Or(f.Table, f.Host, "the table of a text"))
	}
	return found[0], nil
}

// rows gives the conditions of a run that hold any of the metrics and have the wanted levels, in
// the order of the run's table, and the settings that name them.
func (r Run) rows(wanted setting.Levels, metrics ...string) (rows []verdict.Summary, keys []string) {
	if r.Table == nil {
		return nil, nil
	}
	used := map[string]bool{}
	for _, row := range r.Table.Rows {
		for _, c := range r.Conditions {
			any := slices.ContainsFunc(metrics, func(m string) bool { _, ok := c.Metrics[m]; return ok })
			if c.ID != row.ID || !any || !matches(c.Levels, wanted) {
				continue
			}
			rows = append(rows, c)
			for i, level := range row.Levels {
				if level != "" {
					used[r.Table.Keys[i]] = true
				}
			}
		}
	}
	return rows, strict.Filter(r.Table.Keys, func(k string) bool { return used[k] })
}

func matches(levels, wanted setting.Levels) bool {
	for k, v := range wanted {
		if l, ok := levels[k]; !ok || l.String() != v.String() {
			return false
		}
	}
	return true
}

// text is a figure as pages print it, with its interval if there is room. That one has no words is
// noted in the book.
func (b *Book) text(r Run, f verdict.Figure, name string) (short, full string) {
	if short = cmp.Or(f.Printed, f.Text); short == "" {
		b.wordless = fmt.Errorf("derived/data/verdicts/%s/%s.json has no words for a figure of %s: "+
			"add that metric to `metrics` in lab/experiments/%s.toml", r.Experiment, r.Run, name, r.Experiment)
	}
	if f.Interval != "" {
		return short, fmt.Sprintf("%s (%s)", short, f.Interval)
	}
	return short, short
}

func marks(f verdict.Figure) draw.Figure {
	return draw.Figure{Median: f.Median, Low: f.Low, High: f.High, Below: f.Below}
}

// axisOf is how a chart's axis shows a metric: the factor from its base unit, and its words.
func axisOf(m metric.Metric, most float64) (factor float64, label string) {
	in := words.UnitFor(string(m.Unit), most)
	if m.Unit == metric.PerSecond {
		switch in.Name = "a second"; {
		case most >= 1e6:
			in = words.Unit{Factor: 1e-6, Name: "millions a second"}
		case most >= 1e4:
			in = words.Unit{Factor: 1e-3, Name: "thousands a second"}
		}
	}
	if in.Name == "" {
		return in.Factor, m.Label
	}
	return in.Factor, m.Label + ", " + in.Name
}

// note is the words under a figure's title: what the text says, and how to read it.
func (f Figure) note(how ...string) string {
	all := append([]string{f.Note}, how...)
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), " ")
}
