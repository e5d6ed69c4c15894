package pages

import (
	"maps"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// everywhere lists metrics that every run has in its table, whether
// its experiment names them or not: what both sides did, and what it cost them.
var everywhere = []string{
	"throughput_rps", "transfer_bytes_per_s", "latency_p50_s", "latency_p99_s",
	"server_cores_busy", "client_cores_busy", "server_cpu_per_request_s", "client_cpu_per_request_s",
}

// tableOf lays out the figures of conditions; nil without any. It shows the metrics
// that the experiment names, and others. again is a run's A/A control, if it has one.
func tableOf(x *experiment.Experiment, conds []medians.Summary, again *medians.Summary,
	others []string) *medians.Table {
	if len(conds) == 0 {
		return nil
	}
	conds = slices.Clone(conds)
	all := setting.Levels{}
	for _, c := range conds {
		maps.Copy(all, c.Levels)
	}
	t := &medians.Table{Keys: inOrder(x, all), Columns: []medians.TableHead{}}
	slices.SortStableFunc(conds, func(a, b medians.Summary) int { return a.Levels.Compare(b.Levels, t.Keys) })
	if again != nil {
		conds = append(conds, *again)
	}
	for i, c := range conds {
		row := medians.TableRow{
			ID: c.ID, Control: again != nil && i == len(conds)-1, Levels: []string{}, Medians: []string{},
			Bounds: words.Bounds(c.Bounds, c.Trials > 1), Trials: c.Trials - c.Invalid, Invalid: c.Invalid,
		}
		for _, k := range t.Keys {
			level := "" // it is missing
			if l := c.Levels[k]; !l.IsZero() {
				level = setting.LevelCell(l)
			}
			row.Levels = append(row.Levels, level)
		}
		t.Rows = append(t.Rows, row)
	}
	names := slices.Concat(x.Metrics, others)
	for i, name := range names {
		if slices.Index(names, name) == i {
			addColumn(t, name, conds)
		}
	}
	for i, r := range t.Rows {
		if !slices.ContainsFunc(r.Intervals, func(s string) bool { return s != "" }) {
			t.Rows[i].Intervals = nil
		}
	}
	return t
}

// addColumn appends a metric's column, unless no condition recorded it.
func addColumn(t *medians.Table, name string, conds []medians.Summary) {
	figures := make([]*medians.Figure, len(conds))
	any := false
	for i, c := range conds {
		if f, ok := c.Metrics[name]; ok {
			figures[i], any = &f, true
		}
	}
	if !any {
		return
	}
	m, _ := metric.Lookup(name)
	show := printedColumn(string(m.Unit), figures)
	if show == nil {
		show = scaledColumn(string(m.Unit), figures)
	}
	t.Columns = append(t.Columns, medians.TableHead{Metric: name, Unit: show.unit})
	for i, f := range figures {
		median, interval := "", ""
		if f != nil {
			median, interval = show.cell(f)
		}
		t.Rows[i].Medians = append(t.Rows[i].Medians, median)
		t.Rows[i].Intervals = append(t.Rows[i].Intervals, interval)
	}
}
