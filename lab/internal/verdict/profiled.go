package verdict

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// A Profiled has one kind of profile under a condition: medians over the trials that
// count, and what pages write of them.
type Profiled struct {
	profiles.Profile
	Amount string            `json:"amount"`           // the total, by the second where a window is behind it
	Parked string            `json:"parked,omitempty"` // how many goroutines were blocked on average
	Most   string            `json:"most,omitempty"`   // the three largest kinds of work
	Shares map[string]string `json:"shares,omitempty"` // percentages of the kinds of work and of the packages, by name
	Cells  []string          `json:"cells,omitempty"`  // the condition's column in the run's WorkTable
	Raw    *RawFile          `json:"raw,omitempty"`    // absent where the run has no file
}

// A RawFile is a file of data/profiles: all trials that count, merged.
type RawFile struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	Trials int    `json:"trials"`
	Size   string `json:"size"` // empty until Sizes
}

// A WorkTable is the head of a run's table of one kind of profile by kind of work. Its
// last row is the total.
type WorkTable struct {
	Unit string    `json:"unit,omitempty"` // of the totals
	Rows []WorkRow `json:"rows"`           // the largest share first
}

// A WorkRow names one kind of work.
type WorkRow struct {
	Work  profiles.Work `json:"work"`
	Label string        `json:"label"`
}

// summed gives the profiles of a condition, by kind.
func summed(c results.Condition, valid []results.Trial) []Profiled {
	var out []Profiled
	for _, m := range profilesOf(valid) {
		p := Profiled{Profile: m, Amount: "none", Shares: map[string]string{}}
		if v := perSecond(m); v > 0 {
			s, _ := scaleOf(m.Kind, m.Unit, v)
			p.Amount = onScale(s, v, s.Unit)
			if m.Kind == profiles.Block {
				p.Parked = amount(m.Kind, "count", v)
			}
		}
		p.Most = mostWork(m.Work)
		for name, v := range m.Work {
			p.Shares["work "+name] = shareText(v)
		}
		for name, v := range m.Packages {
			p.Shares[name] = shareText(v)
		}
		if i := slices.IndexFunc(c.Profiles, func(r results.RawProfile) bool { return r.Kind == m.Kind }); i >= 0 {
			p.Raw = &RawFile{File: c.Profiles[i].File, SHA256: c.Profiles[i].SHA256, Trials: c.Profiles[i].Trials}
		}
		out = append(out, p)
	}
	return out
}

// perSecond is a profile's total by the second of its window, or that of a moment.
func perSecond(p profiles.Profile) float64 {
	if p.Kind.OfMoment() || p.DurationS == 0 {
		return p.Total
	}
	return p.Total / p.DurationS
}

// mostWork names the three kinds of work with the largest shares.
func mostWork(work map[string]float64) string {
	if len(work) == 0 {
		return ""
	}
	var words []string
	for _, name := range largest(work) {
		if work[name] > 0 && len(words) < 3 {
			words = append(words, profiles.Work(name).Words()+" "+shareText(work[name]))
		}
	}
	if len(words) == 0 {
		return "nothing in most trials"
	}
	return strings.Join(words, ", ")
}

// largest orders names by their shares, and equal ones by name.
func largest(shares map[string]float64) []string {
	return slices.SortedFunc(maps.Keys(shares), func(a, b string) int {
		return cmp.Or(cmp.Compare(shares[b], shares[a]), strings.Compare(a, b))
	})
}

// Sizes fills in the sizes of a run's raw files, of which size gives the bytes.
func (f *File) Sizes(size func(file string) int) {
	all := slices.Clone(f.Conditions)
	if f.Control != nil {
		all = append(all, f.Control.Condition)
	}
	for _, c := range all {
		for _, p := range c.Profiles {
			if p.Raw != nil {
				p.Raw.Size = sizeText(size(p.Raw.File))
			}
		}
	}
}

// tabulate makes the tables of a run's profiles by kind of work, and fills each
// condition's cells and words, with the factor that the experiment compares before the
// others. The A/A control is in none.
func tabulate(f *File, compared string) {
	for _, kind := range profiles.Kinds() {
		var of []*Profiled
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
		scale, _ := scaleOf(kind, unit, total)
		t := WorkTable{Unit: scale.Unit}
		for _, name := range largest(top) {
			w := profiles.Work(name)
			t.Rows = append(t.Rows, WorkRow{w, strings.ToUpper(w.Words()[:1]) + w.Words()[1:]})
			for _, p := range of {
				cell := "none"
				if share, there := p.Work[name]; there {
					cell = grouped(100*share, -1)
				}
				p.Cells = append(p.Cells, cell)
			}
		}
		for _, p := range of {
			p.Cells = append(p.Cells, onScale(scale, perSecond(p.Profile), ""))
		}
		if f.WorkTables == nil {
			f.WorkTables = map[profiles.Kind]WorkTable{}
		}
		f.WorkTables[kind] = t
	}
}

// withProfiles lists the measured runs that pages may show profiles of, newest first: a
// run is left out if, for each kind, a newer one of its host has all its conditions.
func withProfiles(runs []Made) []string {
	type place struct {
		host string
		kind profiles.Kind
	}
	newer := map[place][]map[string]bool{}
	var out []string
	for _, r := range slices.Backward(runs) {
		if r.published() {
			continue
		}
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
		if adds {
			out = append(out, r.Run)
		}
	}
	return out
}

func within(a, b map[string]bool) bool {
	for k := range a {
		if !b[k] {
			return false
		}
	}
	return true
}
