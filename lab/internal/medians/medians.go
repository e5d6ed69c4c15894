// Package medians sums up the conditions of runs: the median of each metric, with its
// interval, and of each profile. It decides nothing.
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
	ID       string
	Levels   setting.Levels
	Trials   int
	Invalid  int
	Bounds   map[string]int // number of valid trials by bound
	Metrics  map[string]Figure
	Profiles []profile.Profile // by kind, each figure the median over the trials that have such a profile

	printed map[string][]float64 // of a text: the figures of each row
}

// A Figure is a metric's median over a condition's valid trials.
type Figure struct {
	N       int
	Median  *float64 // nil if only the limit Below is known
	Low     *float64 // interval of the median; nil below six trials
	High    *float64 // as Low
	Below   *float64
	Printed string // of a text, as printed
}

// Of sums up some conditions of a run, in their order, over its trials and those of other runs that have the same
// levels.
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
		sum.Profiles = profilesOf(trials)
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

// profilesOf gives the medians of trials' profiles, by kind. A package that is only in some trials may have 0.
func profilesOf(trials []results.Trial) (out []profile.Profile) {
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
		out = append(out, m)
	}
	return out
}
