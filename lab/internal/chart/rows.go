package chart

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/law/audit"
	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A table is a chart of rows on one scale.
type table struct {
	Kind, Caption string
	Head, Last    string // what the figures are, and the words at the ends of rows if there are any
	Low, High     string // the ends of the scale
	Rows          []row

	scale scale
	rules []float64 // where each row has a rule
	band  []float64 // what a claim wants, from one ratio to another
}

// A row has a label, a figure in words, and what is drawn of it.
type row struct {
	Label, Value, Interval, Word string
	Strokes                      []stroke

	x      float64   // the level, of a point of a line
	at     *float64  // the figure; nil if only its interval is known
	ends   []float64 // of the interval
	trials []trial
}

// A stroke is a path in a space of a hundred units across, which is stretched to its place.
type stroke struct{ Class, D string }

// A trial has its figure, its place down the row, and a class that says whether it counts.
type trial struct {
	v, down float64
	class   string
}

// row is a condition's figure of a metric; false without it. Of one that measures the client, where that was
// the wall, it says so.
func (b *Book) row(r Run, c medians.Summary, name string) (row, bool) {
	m, _ := metric.Lookup(name)
	fig, ok := c.Metrics[name]
	out := row{Label: c.Name, Value: cmp.Or(fig.Printed, fig.Text), Interval: fig.Interval, at: fig.Median}
	switch {
	case ok && out.Value == "":
		b.fault = fmt.Errorf("derived/data/verdicts/%s/%s.json has no words for a figure of %s: "+
			"add that metric to `metrics` in lab/experiments/%s.toml", r.Experiment, r.Run, name, r.Experiment)
	case fig.Below != nil:
		out.ends = []float64{0, *fig.Below}
	case fig.Low != nil && fig.High != nil:
		out.ends = []float64{*fig.Low, *fig.High}
	}
	if fig.LineShare != "" {
		out.Value += ", " + fig.LineShare + " %"
	}
	if m.MeasuresClient && c.ClientWall && !r.published {
		out.Word = "client-bound"
	}
	return out, ok
}

// html draws the table of a run; it is empty without rows.
func (t table) html(f Figure, caption string) template.HTML {
	if len(t.Rows) == 0 {
		return ""
	}
	t.Kind, t.Caption = f.Kind, caption+t.Caption
	if !slices.ContainsFunc(t.Rows, func(r row) bool { return r.Word != "" }) {
		t.Last = ""
	}
	for i := range t.Rows {
		t.draw(&t.Rows[i])
	}
	return render("table", t)
}

// draw adds the strokes of a row.
func (t table) draw(r *row) {
	x := func(v float64) float64 { return tenth(min(100, max(0, 100*t.scale.of(v)))) }
	add := func(class, d string, at ...any) { r.Strokes = append(r.Strokes, stroke{class, fmt.Sprintf(d, at...)}) }
	if t.band != nil {
		add("band", "M%v 10H%v", x(t.band[0]), x(t.band[1]))
	}
	for _, v := range t.rules {
		add("rule", "M%v 0v20", x(v))
	}
	down := 10
	for _, trial := range r.trials {
		add(trial.class, "M%v %vh0", x(trial.v), trial.down)
		down = 17
	}
	if r.at != nil && (t.Kind == "bars" || t.Kind == "setup") {
		add("block", "M0 10H%v", x(*r.at))
	}
	if r.ends != nil {
		add("bar", "M%v %dH%v", x(r.ends[0]), down, x(r.ends[1]))
	}
	if r.at != nil && t.Kind != "setup" {
		add("dot", "M%v %dh0", x(*r.at), down)
	}
}

// A scale has the places of figures, from 0 at its low end to 1 at its high end.
type scale struct {
	low, high float64
	log       bool
}

// of is the place of a figure. The only one of a scale is in its middle.
func (s scale) of(v float64) float64 {
	switch {
	case s.low == s.high:
		return 0.5
	case s.log:
		return math.Log(max(0, v)/s.low) / math.Log(s.high/s.low)
	}
	return (v - s.low) / (s.high - s.low)
}

// tenth rounds a place to a tenth of a unit.
func tenth(v float64) float64 { return math.Round(10*v) / 10 }

// reach is from the least to the greatest of all figures that need a place. An open end needs none.
func reach(rows []row, all ...float64) (low, high float64) {
	for _, r := range rows {
		all = append(all, r.ends...)
		if r.at != nil {
			all = append(all, *r.at)
		}
		for _, trial := range r.trials {
			all = append(all, trial.v)
		}
	}
	if all = strict.Filter(all, func(v float64) bool { return !math.IsInf(v, 0) }); len(all) == 0 {
		return 0, 0
	}
	return slices.Min(all), slices.Max(all)
}

// fit gives the table a scale of its figures, and of others that need a place. One of ratios has room for open ends.
func (t *table) fit(unit metric.Unit, others ...float64) {
	t.scale.low, t.scale.high = reach(t.Rows, others...)
	if t.scale.log {
		t.scale.low, t.scale.high = t.scale.low/1.03, t.scale.high*1.03
	}
	t.Low, t.High = "0", words.Figure(string(unit), t.scale.high, nil, nil)
	if t.scale.low > 0 {
		t.Low = words.Figure(string(unit), t.scale.low, nil, nil)
	}
}

// bars are figures that begin at zero, of the wire against its line rate. Dots are the trials of all blocks beside
// them, on a scale of their own; the control has no figure, since it is in no statistics.
func (b *Book) bars(f Figure, r Run) (template.HTML, error) {
	t, also := table{Head: "Figure", Last: "Bound"}, []float64{0}
	var m metric.Metric
	for _, c := range r.Conditions {
		for _, name := range strings.Fields(f.Metric) {
			m, _ = metric.Lookup(name)
			one, ok := b.row(r, c, name)
			if !ok {
				continue
			}
			control := row{Label: c.Name + ", control"}
			if f.Kind == "dots" {
				t.Last, also = "Trials that count", nil
				one.strip(m, b.trials(r, c, false))
				control.strip(m, b.trials(r, c, true))
				one.Word = strings.TrimSuffix(fmt.Sprintf("%d of %d, %s", c.Trials-c.Invalid, c.Trials, one.Word), ", ")
			}
			if t.Head = m.Label; name != f.Metric {
				t.Head, one.Label = "Figure", one.Label+", "+words.LowerFirst(m.Label)
			}
			if t.Rows = append(t.Rows, one); control.trials != nil {
				t.Rows = append(t.Rows, control)
			}
		}
	}
	if rate := r.Results.Topology.LineRateBps; m.Unit == metric.BitsPerSecond && rate > 0 {
		t.rules, also = []float64{rate}, []float64{0, rate}
	}
	t.fit(m.Unit, also...)
	return t.html(f, b.caption(r)), nil
}

// strip adds trials to a row, one below the other.
func (r *row) strip(m metric.Metric, all []results.Trial) {
	for i, t := range all {
		if v, ok := t.Metrics[m.Name]; ok {
			class := map[bool]string{true: "trial", false: "void"}[t.Valid]
			r.trials = append(r.trials, trial{v, tenth(2 + 10*float64(i)/float64(len(all))), class})
		}
	}
}

// ratios holds a claim's comparisons against what it wants.
func (b *Book) ratios(f Figure, r Run) (template.HTML, error) {
	x := b.Experiments[f.Exp]
	c, ok := x.Claim(f.Claim)
	if !ok || c.Over == "" {
		return "", fmt.Errorf("lab/experiments/%s.toml has no claim %q that compares levels", f.Exp, f.Claim)
	}
	m, _ := metric.Lookup(c.Metric)
	t := table{Head: m.Label + ", ratio over " + words.LowerFirst(setting.Title(c.Over)), scale: scale{log: true}}
	of, _ := r.Claim(c.ID)
	for _, e := range of.Effects { // each has the same band
		t.band = span(e.BandLow, e.BandHigh)
		t.Caption = ". Claimed: " + words.Range(e.BandLow, words.Known(e.BandHigh))
		one := ratio(e)
		one.Label = pages.ConditionName(x, e.A) + " over " + setting.LevelCell(e.B[c.Over])
		if len(e.At) > 0 {
			one.Label += ", " + words.LowerFirst(pages.ConditionName(x, e.At))
		}
		t.Rows = append(t.Rows, one)
	}
	return t.against(f, b.caption(r)), nil
}

// relative draws the ratios that a design asks for by [relative], least first, each beside its figure.
func (b *Book) relative(f Figure, r Run) (template.HTML, error) {
	of := cmp.Or(r.Relative, &verdict.Relative{})
	m, _ := metric.Lookup(of.Metric)
	t := table{Head: "Ratio to " + of.To, Last: m.Label, scale: scale{log: true}}
	for _, level := range of.Rows {
		for _, c := range r.Conditions {
			if figure, ok := b.row(r, c, of.Metric); ok && c.Shown[of.Over] == level.Level {
				one := row{Value: "1", at: new(1.0)}
				if !level.Base {
					one = ratio(level.Effect)
				}
				one.Label, one.Word = level.Level, figure.Value
				t.Rows = append(t.Rows, one)
			}
		}
	}
	slices.SortStableFunc(t.Rows, func(a, b row) int {
		return cmp.Compare(*cmp.Or(a.at, new(0.0)), *cmp.Or(b.at, new(0.0)))
	})
	return t.against(f, b.caption(r)), nil
}

// ratio is a comparison with its interval. Without one it has the range that coarse figures allow.
func ratio(e verdict.Effect) row {
	out := row{Value: e.Words.Text, Interval: e.Words.Interval, at: words.Known(e.Ratio)}
	switch {
	case e.HasInterval():
		out.ends = span(e.Low, e.High)
	case e.RatioLow > 0 || e.RatioHigh > 0:
		out.ends = span(e.RatioLow, e.RatioHigh)
	}
	return out
}

// span is from one ratio to another, of which none is 0: that end is open.
func span(low, high float64) []float64 {
	return []float64{cmp.Or(low, math.Inf(-1)), cmp.Or(high, math.Inf(1))}
}

// against draws a table of ratios, with a rule where both figures are the same.
func (t table) against(f Figure, caption string) template.HTML {
	t.rules = []float64{1}
	t.fit("", append(t.band, 1)...)
	return t.html(f, caption)
}

// cores show where the time of each side's cores went, as the text f.Entry printed it.
func (b *Book) cores(f Figure, _ Run) (template.HTML, error) {
	t := table{Head: "Mean of the cores, as printed", Low: "0", High: "100 %"}
	for i, ids := range [][]string{f.Server, f.Client} {
		one, said, from := row{Label: []string{"Server", "Client"}[i]}, []string{}, 0.0
		part := func(state, shown string, share float64) {
			d := fmt.Sprintf("M%v 10H%v", tenth(100*from), tenth(100*(from+share)))
			one.Strokes = append(one.Strokes, stroke{"part " + state, d})
			said = append(said, state+" "+shown)
			from += share
		}
		for _, id := range ids {
			of, ok := cmp.Or(b.Audits[f.Entry], &audit.File{}).Figures[id]
			if !ok {
				return "", fmt.Errorf("derived/data/audits/%s.json has no figure %q", f.Entry, id)
			}
			part(id[strings.LastIndex(id, "_")+1:], of.Printed, of.Value)
		}
		if from > 0 && from < 0.995 {
			part("unsaid", words.Share(1-from), 1-from)
		}
		one.Value = cmp.Or(strings.Join(said, ", "), "not recorded")
		t.Rows = append(t.Rows, one)
	}
	return t.html(f, "Entry "+f.Entry), nil
}

// A station is what a load passes through: its name, the side whose figures it has, and what they are.
type station struct{ name, side, figure string }

var (
	requests = []station{{"Client", "client", "CPU"}, {"Wire", "wire", "share of the line rate"},
		{"Server", "server", "CPU"}}
	events = []station{{"Producer", "server", "CPU of all producers"}, {"Batcher", "pool", "workers that wait at once"},
		{"Sink", "client", "CPU of all sinks"}}
)

// setup shows a condition of a run as stations, with how full each was and in how many trials it was the wall.
func (b *Book) setup(f Figure, r Run) (template.HTML, error) {
	if n := len(r.Conditions); n > 1 {
		return "", fmt.Errorf("%d conditions of %s have these levels, where a setup shows one", n, r.Run)
	}
	t := table{Caption: ": wall not known", scale: scale{high: 1}, rules: []float64{gate.CPUSaturated}}
	for _, c := range r.Conditions {
		set, all := r.Results.Settings.With(c.Levels), requests
		if !set[setting.EventRate].IsZero() {
			all = events
		}
		for _, s := range all {
			if s.side == "wire" && r.Results.Topology.Kind == "loopback" {
				continue
			}
			full, err := b.full(f, r, c, s.side)
			if err != nil {
				return "", err
			}
			one := row{Label: s.name, Value: b.place(r, s.side), Interval: s.figure + " not recorded"}
			if full > 0 {
				one.at, one.Interval = &full, s.figure+" "+words.Share(full)
			}
			walls, trials := 0, 0
			for bound, n := range c.Bounds {
				if trials += n; slices.Contains(strings.Split(strings.ReplaceAll(bound, "-cpu", ""), "+"), s.side) {
					walls += n
				}
			}
			if walls > 0 {
				t.Caption, one.Word = "", fmt.Sprintf("the wall in %d of %s", walls, words.Count(trials, "trial"))
			} else if r.published && full >= gate.CPUSaturated && s.side != "server" { // it may have waited for the others
				t.Caption, one.Word = "", "full"
			}
			t.Rows = append(t.Rows, one)
		}
		maps.DeleteFunc(set, func(_ string, l setting.Level) bool { n, number := l.Int(); return number && n == 0 })
		t.Caption += ". " + pages.ConditionName(b.Experiments[f.Exp], set)
	}
	return t.html(f, b.caption(r)), nil
}

// place says on which machine or cores a side is, or how fast the wire.
func (b *Book) place(r Run, side string) string {
	made := cmp.Or(r.Results.Provenance, &results.Provenance{})
	name := map[string]string{"client": b.Names[r.ClientHost], "server": b.Names[r.Host]}[side]
	cpus := map[string]string{"client": made.ClientCPUs, "server": made.ServerCPUs}[side]
	switch rate := r.Results.Topology.LineRateBps; {
	case cpus != "":
		return "core " + cpus + " of " + name
	case side == "wire" && rate > 0:
		return words.Figure("bit/s", rate, nil, nil)
	}
	return name
}

// full is how full a side was, as a share, by a figure of the text or by those of a condition; 0 if it is not known.
func (b *Book) full(f Figure, r Run, c medians.Summary, side string) (float64, error) {
	rate := r.Results.Topology.LineRateBps
	if ids := map[string][]string{"client": f.Client, "server": f.Server, "wire": f.Wire}[side]; len(ids) > 0 {
		of, ok := cmp.Or(b.Audits[r.Entry], &audit.File{}).Figures[ids[0]]
		switch {
		case !ok:
			return 0, fmt.Errorf("derived/data/audits/%s.json has no figure %q", r.Entry, ids[0])
		case side == "wire": // bytes a second
			return 8 * of.Value / rate, nil
		}
		return 1 - of.Value, nil // how idle it was
	}
	median := func(name string) float64 { return *cmp.Or(c.Metrics[name].Median, new(0.0)) }
	pool, _ := strconv.Atoi(strings.TrimPrefix(c.Levels[setting.Variant].String(), "pool-"))
	switch {
	case side == "client":
		return max(median("client_cores_busy"), median("client_thread_busy_max")), nil
	case side == "server":
		return median("server_cores_busy"), nil
	case side == "pool" && pool > 0:
		return median("sink_in_flight_max") / float64(pool), nil
	case side == "wire" && rate > 0:
		return cmp.Or(median("wire_tx_bps")/rate, median("line_rate_share"), 8*median("transfer_bytes_per_s")/rate), nil
	}
	return 0, nil
}
