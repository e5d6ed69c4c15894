package pages

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// sumUp writes the shares of a condition's profiles.
func sumUp(of []medians.Profiled) {
	for i := range of {
		p := &of[i]
		p.Shares = map[string]string{}
		for name, v := range p.Work {
			p.Shares["work "+name] = words.Share(v)
		}
		for name, v := range p.Packages {
			p.Shares[name] = words.Share(v)
		}
	}
}

// perSecond is a profile's total by the second of its window, or that of a moment.
func perSecond(p profile.Profile) float64 {
	if p.Kind.OfMoment() || p.DurationS == 0 {
		return p.Total
	}
	return p.Total / p.DurationS
}

// largest orders names by their shares, and equal ones by name.
func largest(shares map[string]float64) []string {
	return slices.SortedFunc(maps.Keys(shares), func(a, b string) int {
		return cmp.Or(cmp.Compare(shares[b], shares[a]), strings.Compare(a, b))
	})
}

// tabulate makes the tables of a run's profiles by kind of work, and fills each
// condition's cells and words, with the factor that the experiment compares before the
// others. The A/A control is in none.
func tabulate(f *verdict.File, compared string) {
	for _, kind := range profile.Kinds() {
		var of []*medians.Profiled
		top := map[string]float64{}
		total, unit := 0.0, ""
		for i := range f.Conditions {
			for k := range f.Conditions[i].Profiles {
				p := &f.Conditions[i].Profiles[k]
				if p.Kind != kind || p.Raw == nil {
					continue
				}
				of = append(of, p)
				f.Conditions[i].Words = conditionWords(f.Conditions[i].Levels, compared)
				total, unit = max(total, perSecond(p.Profile)), p.Unit
				for name, share := range p.Work {
					top[name] = max(top[name], share)
				}
			}
		}
		if len(top) == 0 {
			continue
		}
		in := scaleOf(kind, unit, total)
		t := medians.WorkTable{Unit: in.unit}
		for _, name := range largest(top) {
			w := profile.Work(name)
			t.Rows = append(t.Rows, medians.WorkRow{Work: w, Label: words.UpperFirst(w.Words())})
			for _, p := range of {
				cell := "none"
				if share, there := p.Work[name]; there {
					cell = words.Grouped(100*share, -1)
				}
				p.Cells = append(p.Cells, cell)
			}
		}
		for _, p := range of {
			p.Cells = append(p.Cells, onScale(in, perSecond(p.Profile)))
		}
		if f.WorkTables == nil {
			f.WorkTables = map[profile.Kind]medians.WorkTable{}
		}
		f.WorkTables[kind] = t
	}
}

// withProfiles lists the runs that pages may show profiles of, newest first, those of the machine
// that is shown before others: a run is left out if, for each kind, a newer one of its host has
// all its conditions.
func withProfiles(runs []Made, shown string) []string {
	type place struct {
		host string
		kind profile.Kind
	}
	newer := map[place][]map[string]bool{}
	var out, after []string
	for _, r := range slices.Backward(runs) {
		has := map[place]map[string]bool{}
		for _, c := range r.Conditions {
			for _, p := range c.Profiles {
				if p.Raw == nil {
					continue
				}
				at := place{r.Host, p.Kind}
				if has[at] == nil {
					has[at] = map[string]bool{}
				}
				has[at][c.Levels.Key()] = true
			}
		}
		adds := false
		for at, conditions := range has {
			if !slices.ContainsFunc(newer[at], func(n map[string]bool) bool { return within(conditions, n) }) {
				adds = true
				newer[at] = append(newer[at], conditions)
			}
		}
		switch {
		case adds && r.Host == shown:
			out = append(out, r.Run)
		case adds:
			after = append(after, r.Run)
		}
	}
	return append(out, after...)
}

func within(a, b map[string]bool) bool {
	for k := range a {
		if !b[k] {
			return false
		}
	}
	return true
}
