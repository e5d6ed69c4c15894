package medians

import (
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Add adds a row that a text printed. Rows of the same levels are one condition, which has their medians: of figures
// one of which is only known to be below a limit, that limit.
func Add(all []Summary, id string, levels setting.Levels, figures map[string]Figure, bound gate.Bound) []Summary {
	i := slices.IndexFunc(all, func(s Summary) bool { return s.Levels.Key() == levels.Key() })
	if i < 0 {
		i = len(all)
		all = append(all, Summary{ID: id, Levels: levels, Bounds: map[string]int{}, Metrics: map[string]Figure{},
			printed: map[string][]float64{}})
	}
	s := &all[i]
	s.Trials++
	s.Bounds[string(bound)]++
	for name, f := range figures {
		if was, again := s.Metrics[name]; again && was.Below != nil {
			f = was
		} else if f.Median != nil {
			s.printed[name] = append(s.printed[name], *f.Median)
			if n := len(s.printed[name]); n > 1 {
				f = Figure{N: n, Median: new(stats.Median(s.printed[name]))}
			}
		}
		s.Metrics[name] = f
	}
	return all
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
		met := strings.Split(bound, "+")
		if slices.Contains(met, string(gate.BoundClientCPU)) && !slices.Contains(met, string(gate.BoundServerCPU)) {
			client += n
		}
	}
	return 2*client > all
}
