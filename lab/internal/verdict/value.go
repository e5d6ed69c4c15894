package verdict

import (
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A value claim wants a metric itself, and not a ratio of two, to be at least or at most a bar.
type value struct{ plain }

func (value) criterion(c experiment.Claim) string {
	return fmt.Sprintf("%s is %s", metricPhrase(c.Metric), bars(c, shown(c.Metric)))
}

// shown prints a metric's figures in their unit.
func shown(name string) func(float64) string {
	m, _ := metric.Lookup(name)
	return func(v float64) string { return words.Figure(string(m.Unit), v, nil, nil) }
}

func (value) recorded(c experiment.Claim, t results.Trial) bool {
	_, known := t.Metrics[c.Metric]
	return known
}

func (value) decide(rec *record, c experiment.Claim) (finding, error) {
	figure := func(c experiment.Claim, t results.Trial) float64 { return t.Metrics[c.Metric] }
	f, seen := rec.figures(c, figure)
	if f.why = f.tellByBar(rec, c, figure); len(seen) > 0 {
		show := shown(c.Metric)
		f.why += fmt.Sprintf("; the median is %s (%s to %s) in %s", show(stats.Median(seen)), show(slices.Min(seen)),
			show(slices.Max(seen)), words.Count(len(seen), "trial"))
	}
	return f, nil
}
