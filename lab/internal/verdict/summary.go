package verdict

import (
	"sort"

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

func (s *source) summary(cond results.Condition) Summary {
	out := Summary{Bounds: map[string]int{}, ID: cond.ID, Levels: cond.Levels, Metrics: map[string]Figure{}}
	for _, t := range s.Trials {
		if t.Condition == cond.ID {
			out.Trials++
			if !t.Valid {
				out.Invalid++
			}
		}
	}
	var valid []results.Trial
	for _, b := range blocksOf(s.valid[cond.ID]) {
		t := s.valid[cond.ID][b]
		valid = append(valid, t)
		out.Bounds[string(s.walls(t).Bound())]++
	}
	for _, m := range metric.All() {
		if f, ok := figure(m.Name, valid); ok {
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
		f.Median = Ptr(words.Digits(s.Median))
		if s.HasInterval {
			f.Low, f.High = Ptr(words.Digits(s.Low)), Ptr(words.Digits(s.High))
		}
		return f, true
	}
	// The lower of the two middle ranks decides: if it is censored, so is the
	// median. An interval would need the censored values, so there is none.
	sort.Float64s(known)
	if (n-1)/2 < below {
		f.Below = Ptr(limit)
		if upper := n/2 - below; n%2 == 0 && upper >= 0 {
			f.Below = Ptr(words.Digits(known[upper]))
		}
		return f, true
	}
	f.Median = Ptr(words.Digits(stats.Median(append(make([]float64, below), known...))))
	return f, true
}

func Ptr[T any](v T) *T { return &v }
