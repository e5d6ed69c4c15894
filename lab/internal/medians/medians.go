// Package medians sums up the conditions of runs: the median of each metric, with its
// interval. It decides nothing.
package medians

import (
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Summary has the medians of one condition's valid trials.
type Summary struct {
	ID      string
	Levels  setting.Levels
	Trials  int
	Invalid int
	Bounds  map[string]int // number of valid trials by bound
	Metrics map[string]Figure
}

// A Figure is a metric's median over a condition's valid trials.
type Figure struct {
	N       int
	Median  *float64 // nil if only the limit Below is known
	Low     *float64 // interval of the median; nil below six trials
	High    *float64 // as Low
	Below   *float64
	Printed string // of one trial, as a text printed it
}

// Of sums up some conditions over the trials of runs that have the same levels.
func Of(conds []results.Condition, runs []*results.File) (out []Summary) {
	for _, cond := range conds {
		sum := Summary{Bounds: map[string]int{}, ID: cond.ID, Levels: cond.Levels, Metrics: map[string]Figure{}}
		var trials []results.Trial
		for _, f := range runs {
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
func figure(name string, trials []results.Trial) (f Figure, ok bool) {
	var all []float64
	below, limit, printed := 0, 0.0, ""
	for _, t := range trials {
		printed += t.Printed[name]
		if v, ok := t.Metrics[name]; ok {
			all = append(all, v)
		} else if v, ok := t.Below[name]; ok {
			below, limit, all = below+1, max(limit, v), append(all, 0)
		}
	}
	if f.N = len(all); f.N == 0 {
		return f, false
	}
	if f.N == 1 {
		f.Printed = printed
	}
	slices.Sort(all)
	// The lower of the two middle ranks decides: if it is censored, so is the
	// median. An interval would need the censored values, so there is none.
	if (f.N-1)/2 < below {
		f.Below = new(max(limit, words.Digits(all[f.N/2])))
		return f, true
	}
	s := stats.Summarise(all)
	f.Median = new(words.Digits(s.Median))
	if s.HasInterval && below == 0 {
		f.Low, f.High = new(words.Digits(s.Low)), new(words.Digits(s.High))
	}
	return f, true
}

// Words are a figure of a metric with its unit, and its interval.
func (f Figure) Words(name string) words.Words {
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

// ClientFull tells whether a condition's figures are those of a client at its limit: in most of its trials the client
// was full and the server was not.
func (s Summary) ClientFull() bool {
	all, client := 0, 0
	for bound, n := range s.Bounds {
		all += n
		if strings.Contains(bound, string(gate.BoundClientCPU)) && !strings.Contains(bound, string(gate.BoundServerCPU)) {
			client += n
		}
	}
	return 2*client > all
}
