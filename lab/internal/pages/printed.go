package pages

import (
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
)

// A PrintedRow is a row of a table that a text printed: one run.
type PrintedRow struct {
	ID      string
	Levels  setting.Levels
	Figures map[string]medians.Figure
	Bound   gate.Bound
}

// OfText lays out a table that a text printed, in the order of the experiment that
// repeats it. Rows of the same levels are one condition, which has their medians.
func OfText(x *experiment.Experiment, rows []PrintedRow) (conds []medians.Summary, table *medians.Table) {
	for _, r := range rows {
		i := slices.IndexFunc(conds, func(c medians.Summary) bool { return c.Levels.Key() == r.Levels.Key() })
		if i < 0 {
			i = len(conds)
			conds = append(conds, medians.Summary{ID: r.ID, Levels: r.Levels, Bounds: map[string]int{},
				Metrics: map[string]medians.Figure{}})
			name(&conds[i], x)
		}
		c := &conds[i]
		c.Trials++
		c.Bounds[string(r.Bound)]++
		c.ClientWall = clientFull(c.Bounds)
		for metric, f := range r.Figures {
			if _, again := c.Metrics[metric]; again {
				f = medianOf(metric, rows, r.Levels.Key())
			}
			c.Metrics[metric] = f
		}
	}
	return conds, tableOf(x, conds, nil, metric.Names())
}

// medianOf is the median of a figure that several rows of the same levels print. One that is only known
// to be below a limit leaves that limit.
func medianOf(name string, rows []PrintedRow, levels string) medians.Figure {
	var known []float64
	for _, r := range rows {
		switch f, ok := r.Figures[name]; {
		case r.Levels.Key() != levels:
		case ok && f.Median == nil:
			return f
		case ok:
			known = append(known, *f.Median)
		}
	}
	f := medians.Figure{N: len(known), Median: new(stats.Median(known))}
	m, _ := metric.Lookup(name)
	f.Words = figureWords(f, string(m.Unit))
	return f
}
