package site

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
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

// caption names the evidence: machine, day of its newest run, and how many blocks it has.
func (e *evidence) caption() string {
	day, _ := time.Parse(time.DateOnly, e.Date)
	name := e.machine + ", " + day.Format("2 January 2006")
	if e.published != "" {
		return name + ", published single run"
	}
	return name + ", measured, " + words.Count(e.Blocks, "block")
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
				total[machine] += e.Blocks
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
		a, b := all[x].Blocks, all[y].Blocks
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
			e := &evidence{File: &verdict.File{Date: a.Date.String(),
				Conditions: medians.Of(t.Run.Conditions, []*results.File{&t.Run})}, x: x, published: a.Entry + "-" + t.ID,
				machine: s.machines[t.Host], newest: &t.Run}
			e.sort()
			s.printed[x.Name] = append(s.printed[x.Name], e)
		}
	}
	s.queries = s.subjects()
	return nil
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
