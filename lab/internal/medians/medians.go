// Package medians sums up the conditions of runs: the median of each metric, with its
// interval, and of each profile. It decides nothing. Package pages fills in what pages
// print of them.
package medians

import (
	"maps"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Summary has the medians of one condition's valid trials.
type Summary struct {
	ID      string            `json:"id"`
	Name    string            `json:"name,omitempty"` // as charts show it; absent for the control, as Shown
	Levels  setting.Levels    `json:"levels"`
	Shown   map[string]string `json:"shown,omitempty"` // levels as pages print them
	Trials  int               `json:"trials"`
	Invalid int               `json:"invalid"`
	Bounds  map[string]int    `json:"bounds"`
	// ClientWall says that in most trials the client was full and the server was
	// not.
	ClientWall bool              `json:"client_wall,omitempty"`
	Metrics    map[string]Figure `json:"metrics"`
	// Profiles are medians over the trials, figure by figure. A package that is
	// only in some trials may have 0; a package that is not listed was in none.
	Profiles []Profiled `json:"profiles,omitempty"`
	Words    string     `json:"words,omitempty"` // the levels in words, where a table of profiles has them
}

// A Figure is a metric's median over a condition's valid trials.
type Figure struct {
	N           int      `json:"n"`
	Median      *float64 `json:"median,omitempty"`
	Low         *float64 `json:"low,omitempty"`  // interval of the median; absent below six trials
	High        *float64 `json:"high,omitempty"` // as Low
	Below       *float64 `json:"below,omitempty"`
	Printed     string   `json:"printed,omitempty"` // of a text, as printed
	words.Words          // absent where Printed is known, and for metrics that pages do not show
	// LineShare is a figure of the wire in percent of the line rate, if that is
	// known: "96.4".
	LineShare string `json:"line_share,omitempty"`
}

// A Table has a run's figures as pages print them, one row per condition and
// one column per metric. Pages choose rows and columns from it, so a figure has
// the same digits wherever it is shown.
type Table struct {
	Keys    []string    `json:"keys"` // settings that name a row; the experiment's factors come first
	Columns []TableHead `json:"columns"`
	Rows    []TableRow  `json:"rows"` // in the order of their levels, the A/A control last
}

// A TableHead is that of a metric's column, with the unit that all its figures share.
// The unit is empty if the metric has none, or if printed figures have several
// and keep them.
type TableHead struct {
	Metric string `json:"metric"`
	Unit   string `json:"unit"`
}

// A TableRow is one condition. Medians and Intervals have one text per column; it
// is empty where a metric was not recorded, or an interval's ends are printed
// alike.
type TableRow struct {
	ID        string   `json:"id"`
	Control   bool     `json:"control,omitempty"` // whether it is the A/A control
	Levels    []string `json:"levels"`            // one per key; empty where the condition lacks it
	Medians   []string `json:"medians"`
	Intervals []string `json:"intervals,omitempty"` // absent if no figure of the row has one
	// what the trials were bounded by, and for measured runs how many of them
	Bounds  string `json:"bounds,omitempty"`
	Trials  int    `json:"trials"`            // those that count
	Invalid int    `json:"invalid,omitempty"` // those that do not
}

// A Profiled has one kind of profile under a condition: medians over the trials that
// count, and what pages write of them.
type Profiled struct {
	profile.Profile
	Shares map[string]string `json:"shares,omitempty"` // percentages of the kinds of work and of the packages, by name
	Cells  []string          `json:"cells,omitempty"`  // the condition's column in the run's WorkTable
	Raw    *RawFile          `json:"raw,omitempty"`    // absent where the run has no file
}

// A RawFile is a file of data/profiles: all trials that count, merged.
type RawFile struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	Trials int    `json:"trials"`
}

// A WorkTable is the head of a run's table of one kind of profile by kind of work. Its
// last row is the total.
type WorkTable struct {
	Unit string    `json:"unit,omitempty"` // of the totals
	Rows []WorkRow `json:"rows"`           // the largest share first
}

// A WorkRow names one kind of work.
type WorkRow struct {
	Work  profile.Work `json:"work"`
	Label string       `json:"label"`
}

// Of sums up some conditions of a run, in their order, over its trials and those of other runs that have the same
// levels. Of several runs there are no profiles.
func Of(conds []results.Condition, run *results.File, others ...*results.File) []Summary {
	out := []Summary{}
	for _, cond := range conds {
		sum := Summary{Bounds: map[string]int{}, ID: cond.ID, Levels: cond.Levels, Metrics: map[string]Figure{}}
		trials := sum.count(run, cond.ID)
		for _, f := range others {
			same, _ := strict.Find(f.Conditions, func(c results.Condition) bool {
				return c.ControlOf == "" && c.Levels.Key() == cond.Levels.Key()
			})
			trials = append(trials, sum.count(f, same.ID)...)
		}
		for _, m := range metric.All {
			if f, ok := figure(m.Name, trials); ok {
				sum.Metrics[m.Name] = f
			}
		}
		if len(others) == 0 {
			sum.Profiles = profilesOf(cond, trials)
		}
		out = append(out, sum)
	}
	return out
}

// count counts a run's trials of a condition, and lists those that count: of each block the first that is valid.
func (s *Summary) count(f *results.File, id string) (valid []results.Trial) {
	seen := map[int]bool{}
	for _, t := range f.Trials {
		if t.Condition != id {
			continue
		}
		if s.Trials++; !t.Valid {
			s.Invalid++
		} else if !seen[t.Block] {
			seen[t.Block], valid = true, append(valid, t)
			s.Bounds[string(f.Walls(t).Bound())]++
		}
	}
	return valid
}

// figure is the median of one metric over trials. Figures known only to be
// below a limit are ordered before all others; if the median is one of them,
// only the limit is known.
func figure(name string, trials []results.Trial) (Figure, bool) {
	var known []float64
	below, limit := 0, 0.0
	for _, t := range trials {
		if v, ok := t.Metrics[name]; ok {
			known = append(known, v)
		} else if v, ok := t.Below[name]; ok {
			below++
			limit = max(limit, v)
		}
	}
	n := len(known) + below
	if n == 0 {
		return Figure{}, false
	}
	f := Figure{N: n}
	if below == 0 {
		s := stats.Summarise(known)
		f.Median = new(words.Digits(s.Median))
		if s.HasInterval {
			f.Low, f.High = new(words.Digits(s.Low)), new(words.Digits(s.High))
		}
		return f, true
	}
	// The lower of the two middle ranks decides: if it is censored, so is the
	// median. An interval would need the censored values, so there is none.
	slices.Sort(known)
	if (n-1)/2 < below {
		f.Below = new(limit)
		if upper := n/2 - below; n%2 == 0 && upper >= 0 {
			f.Below = new(words.Digits(known[upper]))
		}
		return f, true
	}
	f.Median = new(words.Digits(stats.Median(append(make([]float64, below), known...))))
	return f, true
}

// profilesOf gives the medians of a condition's profiles, by kind, with the run's files.
func profilesOf(c results.Condition, trials []results.Trial) []Profiled {
	var out []Profiled
	for _, kind := range profile.Kinds() {
		var of []profile.Profile
		for _, t := range trials {
			if p, ok := t.Profile(kind); ok {
				of = append(of, p)
			}
		}
		if len(of) == 0 {
			continue
		}
		median := func(get func(profile.Profile) float64) float64 {
			return words.Digits(stats.Median(strict.Map(of, get)))
		}
		m := profile.Profile{
			Kind: kind, Unit: of[0].Unit,
			Total:     median(func(p profile.Profile) float64 { return p.Total }),
			Events:    median(func(p profile.Profile) float64 { return p.Events }),
			Stacks:    int(median(func(p profile.Profile) float64 { return float64(p.Stacks) })),
			DurationS: median(func(p profile.Profile) float64 { return p.DurationS }),
			Work:      map[string]float64{}, Packages: map[string]float64{},
		}
		for _, p := range of { // what one of them has
			maps.Copy(m.Work, p.Work)
			maps.Copy(m.Packages, p.Packages)
		}
		for name := range m.Work {
			m.Work[name] = median(func(p profile.Profile) float64 { return p.Work[name] })
		}
		for name := range m.Packages {
			m.Packages[name] = median(func(p profile.Profile) float64 { return p.Packages[name] })
		}
		p := Profiled{Profile: m}
		if i := slices.IndexFunc(c.Profiles, func(r results.RawProfile) bool { return r.Kind == kind }); i >= 0 {
			p.Raw = &RawFile{File: c.Profiles[i].File, SHA256: c.Profiles[i].SHA256, Trials: c.Profiles[i].Trials}
		}
		out = append(out, p)
	}
	return out
}
