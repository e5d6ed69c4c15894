package plot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/draw"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// frame names the chart of one run.
func (f Figure) frame(i int, name string) draw.Frame {
	return draw.Frame{ID: fmt.Sprintf("%s-%d", f.Name, i), Title: f.Title + when(name != "", ": "+name)}
}

// each draws a chart for each run that has rows of a metric, under the name of the run.
func (b *Book) each(f Figure, runs []Run, metrics []string,
	chart func(Run, draw.Frame, []verdict.Summary, []string) string,
) (charts []string) {
	for _, r := range runs {
		rows, keys := r.rows(f.Levels, metrics...)
		if len(rows) == 0 {
			continue
		}
		if svg := chart(r, f.frame(len(charts), b.caption(r)), rows, keys); svg != "" {
			charts = append(charts, draw.Named(b.caption(r), svg))
		}
	}
	return charts
}

// box puts charts under their title, with how to read them; nothing without any.
func (f Figure) box(charts []string, how ...string) (string, error) {
	if len(charts) == 0 {
		return "", nil
	}
	how = append(how, when(len(charts) > 1, "Each run has a scale of its own."))
	return draw.Box(f.Name, f.Title, f.note(how...), charts, false), nil
}

// where is words that explain a mark, said if some chart has the mark.
func where(charts []string, mark, words string) string {
	return when(strings.Contains(strings.Join(charts, ""), mark), words)
}

// when is words that are only said if something is so.
func when(so bool, words string) string {
	if so {
		return words
	}
	return ""
}

// lines are a metric over a factor, in one chart with a series per run or per level of `by`, or
// with each = "run" in small multiples, for figures whose size differs between machines.
func (b *Book) lines(f Figure, runs []Run) (string, error) {
	m, _ := metric.Lookup(f.Metric)
	one := f.Each != "run"
	type group struct {
		name   string
		series []draw.Series
	}
	var groups []group
	for _, r := range runs {
		if s := b.series(f, r); len(s) > 0 {
			g := under(&groups, group{name: when(!one, b.caption(r))}, func(group) bool { return one })
			g.series = append(g.series, s...)
		}
	}
	var charts []string
	for i, g := range groups {
		series := g.series
		l := draw.Lines{Frame: f.frame(i, g.name), Named: !one, Series: placed(series)}
		l.Factor, l.YLabel = axisOf(m, draw.Top(series))
		l.Desc, l.XLabel = describe(series, f.Over), setting.Title(f.Over)
		if f.Metric == "line_rate_share" {
			l.Wall, l.WallWords = 1, "line rate"
		}
		if len(series) == 1 {
			for j, q := range series[0].Points {
				if q.Median != nil {
					l.Series[0].Points[j].Short = atMark(l.Factor**q.Median, q.Short != "")
				}
			}
		}
		svg := l.SVG()
		if !one {
			svg = draw.Named(g.name, svg)
		}
		charts = append(charts, svg)
	}
	return f.box(charts, where(charts, `<svg class="bar`, "An arrow down: known only to be below."),
		where(charts, ` open"`, "Hollow: the client was the wall, so the point measures the client."))
}

// atMark prints a figure at its mark. One that a text printed keeps its digits, if it has four at
// the most.
func atMark(v float64, printed bool) string {
	place := words.Place(v, nil, nil)
	if as := fmt.Sprintf("%.10g", v); printed && strings.Contains(as, ".") && !strings.Contains(as, "e") {
		whole, rest, _ := strings.Cut(as, ".")
		if len(strings.TrimLeft(whole+rest, "-0")) <= 4 {
			place = -len(rest)
		}
	}
	return words.Grouped(v, place)
}

// series are a run's figures of one metric over one factor: one series, or one for each level
// of `by`.
func (b *Book) series(f Figure, r Run) (out []draw.Series) {
	m, _ := metric.Lookup(f.Metric)
	base := b.Host(r.Host)
	if r.published {
		base += ", published"
	}
	rows, _ := r.rows(f.Levels, f.Metric)
	for _, c := range rows {
		level, ok := c.Levels[f.Over]
		if !ok {
			continue
		}
		fig := c.Metrics[f.Metric]
		name := base
		if f.By != "" {
			name = setting.Title(f.By) + " " + c.Shown[f.By]
		}
		short, _ := b.text(r, fig, f.Metric)
		q := draw.Point{Figure: marks(fig), Level: c.Shown[f.Over], Text: short, Short: fig.Printed, Word: level.IsText(),
			Client: !r.published && m.MeasuresClient && c.ClientWall && fig.Median != nil}
		if n, ok := level.Int(); ok {
			q.X = float64(n)
		}
		s := under(&out, draw.Series{Name: name}, func(s draw.Series) bool { return s.Name == name })
		s.Points = append(s.Points, q)
	}
	return out
}

// placed puts words side by side, in the order in which they first come.
func placed(series []draw.Series) []draw.Series {
	places := map[string]float64{}
	out := slices.Clone(series)
	for i, s := range out {
		out[i].Points = slices.Clone(s.Points)
		for j, q := range s.Points {
			if !q.Word {
				continue
			}
			if _, ok := places[q.Level]; !ok {
				places[q.Level] = float64(len(places))
			}
			out[i].Points[j].X = places[q.Level]
		}
	}
	return out
}

// describe says a chart's figures as one sentence for each series, with the highest and lowest of
// all, for readers who cannot see it.
func describe(series []draw.Series, over string) string {
	type known struct {
		v    float64
		said string
	}
	var out []string
	var each []known
	for _, s := range series {
		var all []string
		for _, q := range s.Points {
			said := q.Text + " at " + q.Level
			all = append(all, said)
			if q.Median == nil {
				continue
			}
			if len(series) > 1 {
				said = s.Name + ", " + said
			}
			each = append(each, known{*q.Median, said})
		}
		out = append(out, s.Name+": "+strings.Join(all, ", ")+".")
	}
	if len(each) > 1 {
		by := func(a, b known) int { return cmp.Compare(a.v, b.v) }
		high, low := slices.MaxFunc(each, by), slices.MinFunc(each, by)
		out = append(out, fmt.Sprintf("Highest: %s; lowest: %s.", high.said, low.said))
	}
	return fmt.Sprintf("Over %s. %s The table beside it has the same figures.", over, strings.Join(out, " "))
}

// bars are a metric's figures, one chart per run.
func (b *Book) bars(f Figure, runs []Run) (string, error) {
	m, _ := metric.Lookup(f.Metric)
	one := func(r Run, frame draw.Frame, rows []verdict.Summary, keys []string) string {
		chart := draw.Bars{Frame: frame}
		var said []string
		for _, c := range rows {
			bar, group := b.bar(f, r, c, keys, m)
			said = append(said, fmt.Sprintf("%s%s: %s.", when(group != "", group+", "), bar.Label, bar.Text))
			add(&chart, group, bar)
		}
		chart.Factor, chart.XLabel = axisOf(m, chart.Hi)
		chart.Desc = chart.XLabel + ". " + strings.Join(said, " ")
		return chart.SVG()
	}
	charts := b.each(f, runs, []string{f.Metric}, one)
	how := "Bars are medians with their intervals."
	if all := strings.Join(charts, ""); strings.Contains(all, ", published single run") {
		how = "Hollow bars are published single runs."
		if strings.Contains(all, ", measured, ") {
			how = "Filled bars are medians with their intervals, hollow ones published single runs."
		}
	}
	client := where(charts, "-client)", "Hatched: the client was the wall, so the bar measures the client.")
	return f.box(charts, client, how)
}

// under is the first of some that are as wanted or, without one, another that joins them.
func under[T any](all *[]T, another T, wanted func(T) bool) *T {
	i := slices.IndexFunc(*all, wanted)
	if i < 0 {
		i, *all = len(*all), append(*all, another)
	}
	return &(*all)[i]
}

// called is the group of a name, which joins the others if it is new.
func called[R any](groups *[]draw.Group[R], name string) *draw.Group[R] {
	return under(groups, draw.Group[R]{Name: name}, func(g draw.Group[R]) bool { return g.Name == name })
}

// add puts a bar into the group of a name.
func add(chart *draw.Bars, name string, bar draw.Bar) {
	g := called(&chart.Groups, name)
	g.Rows, chart.Hi = append(g.Rows, bar), max(chart.Hi, bar.Most())
}

// bar is one condition's, and the name of its group. Levels that the page or the group says
// already are left out of its name.
func (b *Book) bar(f Figure, r Run, c verdict.Summary, keys []string, m metric.Metric) (bar draw.Bar, group string) {
	fig := c.Metrics[f.Metric]
	bar = draw.Bar{Figure: marks(fig), Label: c.Name, Open: r.published}
	bar.Client = !bar.Open && m.MeasuresClient && c.ClientWall
	bar.Short, bar.Text = b.text(r, fig, f.Metric)
	if _, ok := c.Levels[f.By]; ok {
		group = setting.Title(f.By) + " " + c.Shown[f.By]
	}
	var left []string
	named := 0
	for _, k := range keys {
		if _, wanted := f.Levels[k]; k == f.By || wanted {
			continue
		}
		named++
		switch shown := c.Shown[k]; {
		case shown == "":
		case c.Levels[k].IsText():
			left = append(left, shown)
		default:
			left = append(left, setting.Title(k)+" "+shown)
		}
	}
	if named > 0 && named < len(keys) {
		bar.Label = strings.Join(left, ", ")
	}
	return bar, group
}

// dots are the trials of each run. Medians and intervals are the verdict's. The control is drawn
// without a median, since it is in no statistics.
func (b *Book) dots(f Figure, runs []Run) (string, error) {
	m, _ := metric.Lookup(f.Metric)
	one := func(r Run, frame draw.Frame, rows []verdict.Summary, _ []string) string {
		chart := draw.Dots{Frame: frame, Blocks: 1}
		var said []string
		for _, c := range rows {
			fig := c.Metrics[f.Metric]
			short, full := b.text(r, fig, f.Metric)
			strip := draw.Strip{Figure: marks(fig), Label: c.Name, Text: full, Short: short, Trials: r.dots(m, c.ID)}
			said = append(said, fmt.Sprintf("%s: %s, %d of %d trials counted.", c.Name, full, strip.Valid(), len(strip.Trials)))
			chart.Rows = append(chart.Rows, strip)
			for _, again := range r.Results.Conditions {
				if again.ControlOf == c.ID {
					strip := draw.Strip{Label: c.Name + ", control", Control: true, Trials: r.dots(m, again.ID)}
					chart.Rows = append(chart.Rows, strip)
				}
			}
		}
		var all []float64
		for _, strip := range chart.Rows {
			for _, d := range strip.Trials {
				all = append(all, d.V)
				chart.Blocks = max(chart.Blocks, d.Block)
			}
		}
		if len(all) == 0 {
			return ""
		}
		unit := string(m.Unit)
		chart.Lo, chart.Hi = slices.Min(all), slices.Max(all)
		chart.Factor, chart.XLabel = axisOf(m, chart.Hi)
		chart.Desc = fmt.Sprintf("Every trial from %s to %s. %s",
			words.Figure(unit, chart.Lo, nil, nil), words.Figure(unit, chart.Hi, nil, nil), strings.Join(said, " "))
		return chart.SVG()
	}
	charts := b.each(f, runs, []string{f.Metric}, one)
	return f.box(charts, "A dot is a trial, the first block’s at the top of its strip; a cross did not count.",
		where(charts, `class="hole"`, "In a hollow one the client was the wall."),
		"A diamond and its bar are the median and its interval.")
}

// dots gives the trials of a condition.
func (r Run) dots(m metric.Metric, condition string) (out []draw.Dot) {
	for _, t := range r.Results.Trials {
		v, ok := t.Metrics[m.Name]
		if t.Condition != condition || !ok {
			continue
		}
		bound := string(t.Bound)
		full := strings.Contains(bound, "client-cpu") && !strings.Contains(bound, "server-cpu")
		out = append(out, draw.Dot{Block: t.Block, V: v, Valid: t.Valid, Client: m.MeasuresClient && t.Valid && full})
	}
	return out
}

// wire shows what each condition carried, one chart for each run whose line rate is known. The
// lab reads the shaping queue's counters both ways. A text printed only a share, of what its
// client read: that is drawn hollow, and the words name it so.
func (b *Book) wire(f Figure, runs []Run) (string, error) {
	ways := []string{"wire_tx_bps", "wire_rx_bps", "line_rate_share"}
	charts := b.each(f, runs, ways, func(r Run, frame draw.Frame, rows []verdict.Summary, _ []string) string {
		rate := r.Results.Topology.LineRateBps
		if rate == 0 {
			return ""
		}
		in := words.UnitFor("bit/s", rate)
		chart := draw.Bars{Frame: frame, Wall: rate, Factor: in.Factor}
		chart.WallWords, chart.XLabel = "line rate, "+words.Figure("bit/s", rate, nil, nil), "On the wire, "+in.Name
		var said []string
		for _, c := range rows {
			for _, way := range [][2]string{{"wire_tx_bps", "sent"}, {"wire_rx_bps", "received"}, {"line_rate_share", "sent"}} {
				fig, ok := c.Metrics[way[0]]
				_, counted := c.Metrics["wire_tx_bps"]
				share := way[0] == "line_rate_share"
				if !ok || fig.Median == nil || share && counted {
					continue
				}
				short, full := b.text(r, fig, way[0])
				bar := draw.Bar{Figure: marks(fig), Label: way[1], Text: full, Short: short, Open: share, Client: c.ClientWall}
				if share {
					bar.Figure = draw.Figure{Median: new(*fig.Median * rate)}
				} else {
					bar.Short = fig.LineShare + " %"
					bar.Text = short + ", " + bar.Short
				}
				said = append(said, fmt.Sprintf("%s, %s by the server: %s of the line rate", c.Name, way[1], bar.Text))
				add(&chart, c.Name, bar)
			}
		}
		if len(said) == 0 {
			return ""
		}
		chart.Desc = fmt.Sprintf("Against a %s. %s.", chart.WallWords, strings.Join(said, "; "))
		return chart.SVG()
	})
	return f.box(charts,
		"What the server sent and received, by the counters of the queue that shapes the wire, with intervals.",
		where(charts, "-client)", "Hatched: the client was the wall, so nothing pushed towards the line rate."),
		where(charts, "block open", "A hollow bar is a text’s own share, of what its client read."))
}

// ratios draws a claim's comparisons against its band.
func (b *Book) ratios(f Figure, runs []Run) (string, error) {
	x, err := b.experiment(f.Exp)
	if err != nil {
		return "", err
	}
	c, ok := x.Claim(f.Claim)
	if !ok {
		return "", fmt.Errorf("lab/experiments/%s.toml has no claim %q", f.Exp, f.Claim)
	}
	if c.Kind != "flat" && c.Kind != "ratio" {
		return "", fmt.Errorf("ratios draws flat and ratio claims; %s is %s", c.ID, c.Kind)
	}
	m, _ := metric.Lookup(c.Metric)
	over := setting.Title(c.Over)
	chart := draw.Ratios{Frame: draw.Frame{ID: fmt.Sprintf("ratios-%s-%s", f.Exp, c.ID), Title: f.Title}}
	var said []string
	any, coarse, banded := false, false, false
	for _, r := range runs {
		of, _ := r.Claim(c.ID)
		group := draw.Group[draw.Ratio]{Name: b.Host(r.Host)}
		for _, e := range of.Effects {
			if !banded { // every comparison of such a claim has the same
				chart.BandLow, chart.BandHigh, banded = e.BandLow, e.BandHigh, true
			}
			row := ratio(e, c.Over, over)
			any, coarse = any || row.Known(), coarse || row.Known() && row.V == 0
			said = append(said, fmt.Sprintf("%s, %s: %s.", b.Host(r.Host), row.Label, row.Text))
			group.Rows = append(group.Rows, row)
		}
		if len(group.Rows) > 0 {
			chart.Groups = append(chart.Groups, group)
		}
	}
	if !any {
		return "", nil
	}
	chart.Desc, chart.XLabel = strings.Join(said, " "), fmt.Sprintf("%s, ratio over %s", m.Label, words.LowerFirst(over))
	note := cmp.Or(f.Note,
		"Shaded where the claim wants the ratio; bars are intervals, and open marks are runs without one.")
	if coarse {
		note += " A bar without a mark is of figures recorded in coarse steps: all that the ratio may be."
	}
	return draw.Box(f.Exp+"-"+c.ID, f.Title, note, []string{chart.SVG()}, false), nil
}

// ratio is one comparison as drawn.
func ratio(e verdict.Effect, factor, over string) draw.Ratio {
	a := setting.LevelCell(e.A[factor])
	row := draw.Ratio{Label: a + " over " + setting.LevelCell(e.B[factor]), Text: e.Words.Text, V: e.Ratio,
		Low: words.Known(e.Low), High: words.Known(e.High)}
	if a == "yes" || a == "no" {
		row.Label = over + " " + row.Label
	}
	for _, k := range slices.Sorted(maps.Keys(e.At)) {
		name := ""
		if !e.At[k].IsText() {
			name = words.LowerFirst(setting.Title(k)) + " "
		}
		row.Label += ", " + name + setting.LevelCell(e.At[k])
	}
	if e.Low == 0 && e.High == 0 {
		row.Low, row.High = words.Known(e.Ratio), words.Known(e.Ratio)
		if row.V == 0 {
			row.Low, row.High = words.Known(e.RatioLow), words.Known(e.RatioHigh)
		}
	}
	return row
}

// relative draws the ratios that a design asks for by [relative], least first, each with its
// figure itself.
func (b *Book) relative(f Figure, runs []Run) (string, error) {
	var charts []string
	for _, r := range runs {
		of := r.Relative
		if of == nil {
			continue
		}
		m, _ := metric.Lookup(of.Metric)
		var all []draw.Ratio
		var said []string
		rows, _ := r.rows(f.Levels, of.Metric)
		for _, row := range of.Rows {
			at := slices.IndexFunc(rows, func(c verdict.Summary) bool { return c.Shown[of.Over] == row.Level })
			if at < 0 {
				continue
			}
			short, _ := b.text(r, rows[at].Metrics[of.Metric], of.Metric)
			one := draw.Ratio{V: 1, Low: new(1.0), High: new(1.0), Text: "1"}
			if !row.Base {
				one = ratio(row.Effect, of.Over, "")
			}
			one.Label = row.Level
			one.Text += ", " + short
			all, said = append(all, one), append(said, one.Label+": "+one.Text+".")
		}
		slices.SortStableFunc(all, func(a, b draw.Ratio) int { return cmp.Compare(a.V, b.V) })
		chart := draw.Ratios{Frame: f.frame(len(charts), b.caption(r)), Groups: []draw.Group[draw.Ratio]{{Rows: all}}}
		chart.XLabel = fmt.Sprintf("%s, ratio to %s", m.Label, of.To)
		chart.Desc = chart.XLabel + ". " + strings.Join(said, " ")
		charts = append(charts, draw.Named(b.caption(r), chart.SVG()))
	}
	return f.box(charts, "Ratios with their intervals, and the figures themselves.")
}
