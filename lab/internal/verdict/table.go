package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

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
	Bounds    string   `json:"bounds,omitempty"`    // what the trials were bounded by, and for measured runs how many of them
	Trials    int      `json:"trials"`              // those that count
	Invalid   int      `json:"invalid,omitempty"`   // those that do not
}

// everywhere lists metrics that every measured run has in its table, whether
// its experiment names them or not: what both sides did, and what it cost them.
var everywhere = []string{
	"throughput_rps", "transfer_bytes_per_s", "latency_p50_s", "latency_p99_s",
	"server_cores_busy", "client_cores_busy", "server_cpu_per_request_s", "client_cpu_per_request_s",
}

// tableOf lays out the figures of a run's conditions; nil without any. A
// published run shows every metric. A measured one has dozens, and shows those
// that its experiment names and those of everywhere. again is the run's A/A
// control, if it has one.
func tableOf(x *experiment.Experiment, conds []Summary, again *Summary, published bool) *Table {
	if len(conds) == 0 {
		return nil
	}
	t := &Table{Keys: keysOf(x, conds), Columns: []TableHead{}}
	conds = slices.Clone(conds)
	slices.SortStableFunc(conds, func(a, b Summary) int { return byLevels(t.Keys, a.Levels, b.Levels) })
	if again != nil {
		conds = append(conds, *again)
	}
	for i, c := range conds {
		row := TableRow{
			ID: c.ID, Control: again != nil && i == len(conds)-1, Levels: []string{}, Medians: []string{},
			Bounds: boundsText(c.Bounds, !published), Trials: c.Trials - c.Invalid, Invalid: c.Invalid,
		}
		for _, k := range t.Keys {
			row.Levels = append(row.Levels, levelText(c.Levels[k]))
		}
		t.Rows = append(t.Rows, row)
	}
	names := slices.Concat(x.Metrics, everywhere)
	if published {
		names = slices.Concat(x.Metrics, metric.Names())
	}
	for i, name := range names {
		if slices.Index(names, name) == i {
			t.add(name, conds)
		}
	}
	for i, r := range t.Rows {
		if !slices.ContainsFunc(r.Intervals, func(s string) bool { return s != "" }) {
			t.Rows[i].Intervals = nil
		}
	}
	return t
}

// keysOf names the settings in which any of the conditions has a level.
func keysOf(x *experiment.Experiment, conds []Summary) []string {
	all := setting.Levels{}
	for _, c := range conds {
		maps.Copy(all, c.Levels)
	}
	return inOrder(x, all)
}

// byLevels orders conditions by their levels, key by key. A missing level comes
// before all others.
func byLevels(keys []string, a, b setting.Levels) int {
	for _, k := range keys {
		x, xok := a[k]
		y, yok := b[k]
		switch {
		case !xok && !yok:
		case !xok || yok && x.Less(y):
			return -1
		case !yok || y.Less(x):
			return 1
		}
	}
	return 0
}

// levelText is a level as pages print it; empty for one that is missing.
func levelText(l setting.Level) string {
	if l.IsZero() {
		return ""
	}
	return shownLevel(l)
}

// boundsText names the bounds of a condition's trials, the most frequent first,
// and how many trials each has if asked to.
func boundsText(bounds map[string]int, count bool) string {
	names := slices.Sorted(maps.Keys(bounds))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(bounds[b], bounds[a]) })
	for i, name := range names {
		names[i] = strings.ReplaceAll(name, "+", " + ")
		if count {
			names[i] += fmt.Sprintf(" %d", bounds[name])
		}
	}
	return strings.Join(names, ", ")
}

// add appends a metric's column, unless no condition recorded it.
func (t *Table) add(name string, conds []Summary) {
	figures := make([]*Figure, len(conds))
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
	t.Columns = append(t.Columns, TableHead{name, show.unit})
	for i, f := range figures {
		median, interval := "", ""
		if f != nil {
			median, interval = show.cell(f)
		}
		t.Rows[i].Medians = append(t.Rows[i].Medians, median)
		t.Rows[i].Intervals = append(t.Rows[i].Intervals, interval)
	}
}
