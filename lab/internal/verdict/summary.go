package verdict

import (
	"maps"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// summaries gives each condition's medians, in the order of the levels.
func (s *source) summaries() []Summary {
	out := []Summary{}
	for _, cond := range s.conds {
		out = append(out, s.summary(cond))
	}
	return out
}

// together gives each condition's medians over all blocks of a record, of which s is the newest run.
func (s *source) together(earlier []*source) *Together {
	if len(earlier) == 0 {
		return nil
	}
	out := &Together{}
	for _, cond := range s.conds {
		of := s.summary(cond, earlier...)
		of.Profiles = nil
		out.Conditions = append(out.Conditions, of)
	}
	return out
}

// summary gives a condition's medians, over the trials of earlier runs as well. Its profiles are
// those of s alone.
func (s *source) summary(cond results.Condition, earlier ...*source) Summary {
	out := Summary{Bounds: map[string]int{}, ID: cond.ID, Levels: cond.Levels, Metrics: map[string]Figure{}}
	var all, valid []results.Trial
	for _, of := range append(slices.Clone(earlier), s) {
		id := cond.ID
		if of != s {
			id = of.ids[cond.Levels.Key()]
		}
		for _, t := range of.Trials {
			if t.Condition == id {
				out.Trials++
				if !t.Valid {
					out.Invalid++
				}
			}
		}
		valid = nil
		for _, b := range slices.Sorted(maps.Keys(of.valid[id])) {
			t := of.valid[id][b]
			valid = append(valid, t)
			out.Bounds[string(of.Walls(t).Bound())]++
		}
		all = append(all, valid...)
	}
	for _, m := range metric.All {
		if f, ok := figure(m.Name, all); ok {
			out.Metrics[m.Name] = f
		}
	}
	out.Profiles = profilesOf(cond, valid)
	return out
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
