package pages

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

const (
	transfer = "transfer_bytes_per_s"
	busy     = "server_cores_busy"
	growth   = "backlog_growth_per_s"
)

// measured is a figure with an interval, and point one without.
func measured(median, low, high float64) medians.Figure {
	return medians.Figure{N: 6, Median: &median, Low: &low, High: &high}
}
func point(median float64) medians.Figure     { return medians.Figure{N: 1, Median: &median} }
func under(limit float64) medians.Figure      { return medians.Figure{N: 1, Below: &limit} }
func text(s string, v float64) medians.Figure { return medians.Figure{N: 1, Median: &v, Printed: s} }
func textUnder(s string, v float64) medians.Figure {
	return medians.Figure{N: 1, Below: &v, Printed: s}
}

// rowsOf makes a condition for each figure of a metric, under 1, 2, … workers.
func rowsOf(name string, figures ...medians.Figure) (out []medians.Summary) {
	for i, f := range figures {
		c := medians.Summary{ID: string(rune('a' + i)), Levels: setting.Levels{setting.Workers: setting.Int(int64(i + 1))},
			Trials: 6, Metrics: map[string]medians.Figure{}}
		if f.N > 0 {
			c.Metrics[name] = f
		}
		out = append(out, c)
	}
	return out
}

// column gives a metric's unit and its cells, "median (interval)".
func column(t *testing.T, table *medians.Table, name string) (unit string, cells []string) {
	t.Helper()
	at := slices.IndexFunc(table.Columns, func(h medians.TableHead) bool { return h.Metric == name })
	if at < 0 {
		t.Fatalf("the table has no %s, only %v", name, table.Columns)
	}
	for _, r := range table.Rows {
		cell := r.Medians[at]
		if r.Intervals != nil && r.Intervals[at] != "" {
			cell += " (" + r.Intervals[at] + ")"
		}
		cells = append(cells, cell)
	}
	return table.Columns[at].Unit, cells
}

func TestFiguresOfAColumn(t *testing.T) {
	x := sample.Design(t, "", sample.IsFlat)
	for _, c := range []struct {
		what, metric string
		figures      []medians.Figure
		unit         string
		cells        []string
	}{
		// The half-widths are 50 and 5000, their geometric middle 500: two of its digits end at the tens.
		{"the middle of the first and the last interval sets the last digit", sample.Rps,
			[]medians.Figure{measured(39848, 39800, 39900), measured(61234, 61000, 61500), measured(80126, 75000, 85000)}, "/s",
			[]string{"39,850 (39,800 to 39,900)", "61,230 (61,000 to 61,500)", "80,130 (75,000 to 85,000)"}},
		// Half of 0.0002 is 0.0001, so without the rule of four digits 81.2346 would be printed.
		{"at most four digits of the largest figure", busy,
			[]medians.Figure{measured(0.8123456, 0.8122456, 0.8124456), measured(0.05, 0.0499, 0.0501)}, "%",
			[]string{"81.23 (81.22 to 81.24)", "5.00 (4.99 to 5.01)"}},
		// 1.5 ms is the largest end, so 400 µs is shown in ms; the half-width of 0.3 ms ends at 0.01 ms.
		{"the largest end of an interval sets the unit", p50,
			[]medians.Figure{measured(0.0004, 0.0001, 0.0007), measured(0.0009, 0.0006, 0.0015)}, "ms",
			[]string{"0.40 (0.10 to 0.70)", "0.90 (0.60 to 1.50)"}},
		{"without intervals, the third digit of the largest", p50,
			[]medians.Figure{point(0.001234), point(0.0123456), point(0.05)}, "ms",
			[]string{"1.2", "12.3", "50.0"}},
		{"whole figures without an interval get no point", p50,
			[]medians.Figure{point(0.001), point(0.008)}, "ms", []string{"1", "8"}},
		{"counts below a thousand are whole", "workers",
			[]medians.Figure{measured(4, 4, 5), measured(16, 16, 16)}, "", []string{"4 (4 to 5)", "16"}},
		{"large counts are rounded like rates, but have no point", "requests",
			[]medians.Figure{measured(1002, 1001, 1003), measured(2000, 1999, 2001)}, "",
			[]string{"1,002 (1,001 to 1,003)", "2,000 (1,999 to 2,001)"}},
		{"a low end of zero is an end", busy,
			[]medians.Figure{measured(0.01, 0, 0.02), measured(0.5, 0.49, 0.51)}, "%",
			[]string{"1.0 (0.0 to 2.0)", "50.0 (49.0 to 51.0)"}},
		{"an interval narrower than the last digit is left out", sample.Rps,
			[]medians.Figure{measured(5000, 4000, 6000), measured(5001, 5000, 5002), measured(7000, 6000, 8000)}, "/s",
			[]string{"5,000 (4,000 to 6,000)", "5,000", "7,000 (6,000 to 8,000)"}},
		{"below a limit", p50,
			[]medians.Figure{under(0.001), under(0.00125), point(0.0025)}, "ms", []string{"<1", "<1.25", "2.50"}},
		{"negative figures have a minus sign, and zero has none", growth,
			[]medians.Figure{measured(-503, -1200, -1), measured(-0.4, -600, 1500)}, "/s",
			[]string{"−500 (−1,200 to 0)", "0 (−600 to 1,500)"}},
		{"bytes by the thousand only where there are many", "response_bytes",
			[]medians.Figure{point(4826), point(5000)}, "B", []string{"4,830", "5,000"}},
		{"bytes a second", transfer,
			[]medians.Figure{point(6.13e9), point(250e6)}, "GB/s", []string{"6.13", "0.25"}},
		{"nothing but zeros keeps the base unit", p50, []medians.Figure{point(0), point(0)}, "s", []string{"0", "0"}},
		{"a metric that one condition lacks", sample.Rps, []medians.Figure{point(100), {}, point(300)}, "/s",
			[]string{"100", "", "300"}},
	} {
		x.Metrics = []string{c.metric}
		unit, cells := column(t, tableOf(x, rowsOf(c.metric, c.figures...), nil, everywhere), c.metric)
		if unit != c.unit || !slices.Equal(cells, c.cells) {
			t.Errorf("%s: %q %q, want %q %q", c.what, unit, cells, c.unit, c.cells)
		}
	}
}

func TestPrintedFiguresKeepTheirDigits(t *testing.T) {
	x := sample.Design(t, "", sample.IsFlat)
	for _, c := range []struct {
		what, metric string
		figures      []medians.Figure
		unit         string
		cells        []string
	}{
		{"a unit that all have goes to the head", p50,
			[]medians.Figure{text("163ms", 0.163), text("430 ms", 0.43), textUnder("<1ms", 0.001)}, "ms",
			[]string{"163", "430", "<1"}},
		{"several units stay with their figures", p50,
			[]medians.Figure{text("493.28µs", 493.28e-6), text("2.88ms", 0.00288)}, "", []string{"493.28µs", "2.88ms"}},
		{"needless zeros stay", busy,
			[]medians.Figure{text("100.00%", 1), text("3.88%", 0.0388)}, "%", []string{"100.00", "3.88"}},
		{"a rate without a unit is by the second", sample.Rps,
			[]medians.Figure{text("542,904", 542904), text("~600k", 600000)}, "/s", []string{"542,904", "~600k"}},
		{"a rate by the minute is not", sample.Rps, []medians.Figure{text("84,042/min", 1400.7)}, "/min", []string{"84,042"}},
		{"words stay as they are", sample.Rps, []medians.Figure{text("about a million", 1e6)}, "/s",
			[]string{"about a million"}},
	} {
		unit, cells := column(t, tableOf(x, rowsOf(c.metric, c.figures...), nil, metric.Names()), c.metric)
		if unit != c.unit || !slices.Equal(cells, c.cells) {
			t.Errorf("%s: %q %q, want %q %q", c.what, unit, cells, c.unit, c.cells)
		}
	}
}

// condition has levels, and as many trials as its bounds have.
func condition(id string, levels setting.Levels, bounds map[string]int) medians.Summary {
	c := medians.Summary{ID: id, Levels: levels, Bounds: bounds,
		Metrics: map[string]medians.Figure{sample.Rps: point(100)}}
	for _, n := range bounds {
		c.Trials += n
	}
	return c
}

func TestRowsOfATable(t *testing.T) {
	x := sample.Design(t, `{ name = "workers", levels = [2, 16] }, { name = "pipelining", levels = [100, 2000] }`,
		sample.IsFlat)
	level := func(workers, pipelining int64, prefork bool) setting.Levels {
		return setting.Levels{setting.Workers: setting.Int(workers), setting.Pipelining: setting.Int(pipelining),
			setting.Prefork: setting.Bool(prefork)}
	}
	alone := setting.Levels{setting.Workers: setting.Int(16)}
	invalid := medians.Summary{ID: "c4", Levels: level(2, 2000, true), Trials: 3, Invalid: 3}
	control := condition("control", level(2, 100, true), map[string]int{"unknown": 6})
	got := tableOf(x, []medians.Summary{
		condition("c1", level(16, 100, true), map[string]int{"wire": 1, "client-cpu+wire": 4}),
		condition("c2", level(2, 2000, false), map[string]int{"wire": 3, "server-cpu": 3}),
		condition("c3", level(2, 100, true), nil),
		invalid,
		condition("c5", alone, map[string]int{"wire": 2}),
	}, &control, everywhere)
	want := &medians.Table{
		Keys:    []string{"workers", "pipelining", "prefork"},
		Columns: []medians.TableHead{{Metric: sample.Rps, Unit: "/s"}},
		Rows: []medians.TableRow{
			{ID: "c3", Levels: []string{"2", "100", "yes"}, Medians: []string{"100"}},
			{ID: "c2", Levels: []string{"2", "2,000", "no"}, Medians: []string{"100"}, Bounds: "server-cpu 3, wire 3",
				Trials: 6},
			{ID: "c4", Levels: []string{"2", "2,000", "yes"}, Medians: []string{""}, Invalid: 3},
			{ID: "c5", Levels: []string{"16", "", ""}, Medians: []string{"100"}, Bounds: "wire 2", Trials: 2},
			{ID: "c1", Levels: []string{"16", "100", "yes"}, Medians: []string{"100"}, Bounds: "client-cpu + wire 4, wire 1",
				Trials: 5},
			{ID: "control", Control: true, Levels: []string{"2", "100", "yes"}, Medians: []string{"100"}, Bounds: "unknown 6",
				Trials: 6},
		},
	}
	for i, row := range got.Rows {
		if !reflect.DeepEqual(row, want.Rows[i]) {
			t.Errorf("row %d is %+v, want %+v", i, row, want.Rows[i])
		}
	}
	if got.Rows = want.Rows; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestTheTableOfATextSaysWhichWallButCountsNoTrials(t *testing.T) {
	got := tableOf(sample.Design(t, "", sample.IsFlat), []medians.Summary{condition("c1", setting.Levels{},
		map[string]int{"client-cpu+wire": 1})}, nil, metric.Names())
	if got.Rows[0].Bounds != "client-cpu + wire" {
		t.Errorf("bounds are %q", got.Rows[0].Bounds)
	}
}

func TestMetricsOfATable(t *testing.T) {
	x := sample.Design(t, "", sample.IsFlat)
	x.Metrics = []string{"workers", sample.Rps}
	c := condition("c1", setting.Levels{}, nil)
	for _, name := range []string{"workers", transfer, "processes", "errors"} {
		c.Metrics[name] = text("1", 1)
	}
	for _, want := range []struct {
		others  []string
		metrics string
	}{
		{everywhere, "workers throughput_rps transfer_bytes_per_s"},
		{metric.Names(), "workers throughput_rps errors transfer_bytes_per_s processes"},
	} {
		var got []string
		for _, h := range tableOf(x, []medians.Summary{c}, nil, want.others).Columns {
			got = append(got, h.Metric)
		}
		if strings.Join(got, " ") != want.metrics {
			t.Errorf("metrics %q, want %q", got, want.metrics)
		}
	}
}

func TestARunWithoutConditionsHasNoTable(t *testing.T) {
	if got := tableOf(sample.Design(t, "", sample.IsFlat), nil, nil, everywhere); got != nil {
		t.Errorf("%+v", got)
	}
}

func TestAnotherRunsControlIsNotInTheTable(t *testing.T) {
	x := sample.Design(t, "", sample.IsFlat)
	first := sample.Ratios(x, 1, 1, 1, 1, 1, 1)
	of := first.Conditions[0]
	first.Conditions = append(first.Conditions, of)
	again := &first.Conditions[len(first.Conditions)-1]
	again.ID, again.ControlOf = "control", of.ID
	for _, tr := range first.Trials {
		if tr.Condition == of.ID {
			tr.Condition, tr.Seq = "control", len(first.Trials)+1
			first.Trials = append(first.Trials, tr)
		}
	}
	second := sample.Ratios(x, 1, 1, 1, 1, 1, 1)
	second.Run, second.Provenance.StartedAt = "s", second.Provenance.StartedAt.AddDate(0, 0, 1)
	rows := func(f *verdict.File) (ids []string) {
		for _, r := range f.Table.Rows {
			ids = append(ids, r.ID)
		}
		return ids
	}
	if got := rows(filled(x, verdict.Run{File: first, Then: x})); !slices.Equal(got, []string{"c1", "c2", "control"}) {
		t.Errorf("rows %q of the run with a control", got)
	}
	if got := rows(filled(x, verdict.Run{File: first, Then: x}, verdict.Run{File: second, Then: x})); !slices.Equal(got,
		[]string{"c1", "c2"}) {
		t.Errorf("rows %q of the run without one", got)
	}
}

func filled(x *experiment.Experiment, runs ...verdict.Run) *verdict.File {
	f := verdict.Decide(x, sample.Machine, runs)
	Fill(f, x)
	return f
}
