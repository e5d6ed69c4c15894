package site

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// An evidence is what all blocks of an experiment on one machine say that count with its newest run; or a table that a
// text printed, whose rows are single runs and decide nothing.
type evidence struct {
	*verdict.File
	x         *experiment.Experiment
	published string        // the table by its name, as "06b-s"; empty where it was measured
	machine   string        // the server's name
	newest    *results.File // run; of a table one with what it was measured with
}

// blocks counts those with a valid trial of each condition.
func (e *evidence) blocks() int {
	if e.Record == nil {
		return 0
	}
	return e.Record.Blocks
}

// caption names the evidence: machine, day of its newest run, and how many blocks it has.
func (e *evidence) caption() string {
	day, _ := time.Parse(time.DateOnly, e.Date)
	name := e.machine + ", " + day.Format("2 January 2006")
	if e.published != "" {
		return name + ", published single run"
	}
	return name + ", measured, " + words.Count(e.blocks(), "block")
}

// decide decides all claims on each machine, and chooses the machine that pages show.
func (s *Site) decide() error {
	for _, x := range s.Experiments {
		asked, newest := s.Question(x), map[string]*results.File{} // by machine: what measured something goes first
		for _, r := range s.Runs {
			last := newest[r.Hosts.Server]
			if r.Experiment == x.Name && (last == nil || len(r.Trials) > 0 || len(last.Trials) == 0) {
				newest[r.Hosts.Server] = r
			}
		}
		s.evidence[x.Name] = map[string]*evidence{}
		for machine, r := range newest {
			e := &evidence{File: asked.Decide(x, s.Hosts[machine], s.Record(x, r)), x: x, machine: s.machines[machine],
				newest: r}
			e.sort()
			s.evidence[x.Name][machine] = e
		}
		s.shown[x.Name] = most(s.evidence[x.Name], nil)
	}
	for _, p := range s.pages {
		total := map[string]int{}
		for _, name := range p.Experiments {
			for machine, e := range s.evidence[name] {
				total[machine] += e.blocks()
			}
		}
		for _, name := range p.Experiments {
			s.shown[name] = most(s.evidence[name], total)
		}
	}
	return s.texts()
}

// most chooses the machine with blocks that has the most blocks of the whole page; nil without any.
func most(all map[string]*evidence, total map[string]int) *evidence {
	machines := slices.Sorted(maps.Keys(all))
	if len(machines) == 0 {
		return nil
	}
	return all[slices.MaxFunc(machines, func(x, y string) int {
		a, b := all[x].blocks(), all[y].blocks()
		return cmp.Or(cmp.Compare(min(a, 1), min(b, 1)), cmp.Compare(total[x], total[y]), cmp.Compare(a, b), strings.Compare(y, x))
	})]
}

// texts adds the tables that texts printed.
func (s *Site) texts() error {
	for _, a := range s.Audits {
		for _, t := range a.Tables {
			x, err := s.Experiment(t.Experiment)
			if err != nil {
				return err
			}
			e := &evidence{File: &verdict.File{Experiment: x.Name, Entry: a.Entry, Date: t.Date}, x: x,
				published: a.Entry + "-" + t.ID, machine: s.machines[t.Host],
				newest: &results.File{Settings: t.Settings, Topology: experiment.Topology{LineRateBps: t.LineRateBps}}}
			for _, r := range t.Rows {
				e.add(r.ID, r.Levels, r.Figures, r.Bound)
			}
			e.sort()
			s.printed[x.Name] = append(s.printed[x.Name], e)
		}
	}
	s.queries = s.subjects()
	return nil
}

// add adds a row that a text printed. Rows of the same levels are one condition, which has their medians: of figures
// one of which is only known to be below a limit, that limit.
func (e *evidence) add(id string, levels setting.Levels, figures map[string]medians.Figure, bound gate.Bound) {
	i := slices.IndexFunc(e.Conditions, func(c medians.Summary) bool { return c.Levels.Key() == levels.Key() })
	if i < 0 {
		i = len(e.Conditions)
		e.Conditions = append(e.Conditions, medians.Summary{ID: id, Levels: levels, Bounds: map[string]int{},
			Metrics: map[string]medians.Figure{}})
	}
	c := &e.Conditions[i]
	c.Trials++
	c.Bounds[string(bound)]++
	for name, f := range figures {
		if was, again := c.Metrics[name]; again && was.Median != nil && f.Median != nil {
			f = medians.Figure{N: was.N + 1, Median: new(stats.Median([]float64{*was.Median, *f.Median}))}
		} else if again && f.Median != nil {
			f = was
		}
		c.Metrics[name] = f
	}
}

// sort orders the conditions by their levels.
func (e *evidence) sort() {
	all := setting.Levels{}
	for _, c := range e.Conditions {
		all = all.With(c.Levels)
	}
	keys := e.inOrder(all)
	slices.SortStableFunc(e.Conditions, func(a, b medians.Summary) int { return a.Levels.Compare(b.Levels, keys) })
}

// inOrder lists the factors of levels as the experiment does, and then others.
func (e *evidence) inOrder(levels setting.Levels) (names []string) {
	for _, f := range e.x.Factors {
		if _, ok := levels[f.Name]; ok {
			names = append(names, f.Name)
		}
	}
	other := func(name string) bool { return !slices.Contains(names, name) }
	return append(names, strict.Filter(slices.Sorted(maps.Keys(levels)), other)...)
}

// name names a condition: "Workers 4, connections 100". A level that is a word has no name beside
// it.
func (e *evidence) name(levels setting.Levels) string {
	var parts []string
	for _, factor := range e.inOrder(levels) {
		level, name := setting.LevelCell(levels[factor]), setting.Title(factor)
		if len(parts) > 0 {
			name = words.LowerFirst(name)
		}
		if !levels[factor].IsText() {
			level = name + " " + level
		}
		parts = append(parts, level)
	}
	return cmp.Or(strings.Join(parts, ", "), "all trials")
}

// printFigure writes a figure of a metric with its unit, and its interval.
func printFigure(f medians.Figure, name string) words.Words {
	m, _ := metric.Lookup(name)
	switch {
	case f.Printed != "":
		return words.Words{Text: f.Printed}
	case f.Below != nil:
		return words.Words{Text: "<" + words.Figure(string(m.Unit), *f.Below)}
	case f.Median == nil:
		return words.Words{}
	}
	return words.Measured(string(m.Unit), *f.Median, f.Low, f.High)
}

// clientFull tells whether a condition's figures are those of a client at its limit: in most of its trials the client
// was full and the server was not.
func clientFull(c medians.Summary) bool {
	all, client := 0, 0
	for bound, n := range c.Bounds {
		all += n
		met := strings.Split(bound, "+")
		if slices.Contains(met, string(gate.BoundClientCPU)) && !slices.Contains(met, string(gate.BoundServerCPU)) {
			client += n
		}
	}
	return 2*client > all
}

// machineNames names machines as pages do. Those of one model have their ids beside the name.
func machineNames(all map[string]*host.Profile) map[string]string {
	names := map[string]string{}
	for id, h := range all {
		names[id] = h.Name
		for other, o := range all {
			if other != id && o.Name == h.Name {
				names[id] = h.Name + " (" + id + ")"
			}
		}
	}
	return names
}
