package tell

import (
	"bytes"
	_ "embed" // the templates
	"fmt"
	"html/template"
	"strings"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/draw"
	"github.com/line-rate/line-rate/lab/internal/words"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"rows": Rows, "facts": Facts, "tables": Tables, "ratios": ratios, "curves": curves, "broken": broken, "bound": bound,
}).Parse(pageText))

// Page is a page that needs no other file and no script.
func Page(o *compare.Outcome) ([]byte, error) { return ClaimsPage(o, nil) }

// ClaimsPage is that page with what was claimed of the servers, and what held of it, in front.
func ClaimsPage(o *compare.Outcome, claimed []string) ([]byte, error) {
	var b bytes.Buffer
	err := page.Execute(&b, struct {
		*compare.Outcome
		Claimed []string
	}{o, claimed})
	return b.Bytes(), err
}

// broken lets a figure break before its bracket only.
func broken(text any) string {
	return strings.ReplaceAll(strings.ReplaceAll(fmt.Sprint(text), " ", "\u00a0"), "\u00a0(", " (")
}

// ratios draws those of one comparison, and how the interval of cost became what it is.
func ratios(o *compare.Outcome, i int) template.HTML {
	c := o.Comparisons[i]
	all := draw.Ratios{BandLow: 1 / (1 + o.Margin), BandHigh: 1 + o.Margin, BandWords: "the same", Frame: draw.Frame{
		ID: fmt.Sprintf("ratios-%d", i+1), Title: c.Name + " over " + c.Base, Desc: c.Says, XLabel: "ratio, log scale"}}
	row := func(label string, r *compare.Ratio) draw.Ratio {
		row := draw.Ratio{Label: label, Text: r.String(), V: r.Ratio, Series: 1}
		if r.Known() {
			row.Low, row.High = &r.Low, &r.High
		}
		return row
	}
	metrics := draw.Group[draw.Ratio]{Name: "All blocks"}
	for _, r := range Rows(o, i) {
		if r.Ratio != nil {
			metrics.Rows = append(metrics.Rows, row(r.Label(), r.Ratio))
		}
	}
	all.Groups = append(all.Groups, metrics)
	if r := c.CPUPerRequest; r != nil {
		course := draw.Group[draw.Ratio]{Name: o.In("CPU a request, after so many blocks")}
		for n := 1; n < len(r.Each); n += 1 + n/6 { // fewer, the more there are
			if so := r.After(n, (1-o.Confidence)/float64(len(o.Comparisons))); so.Known() {
				course.Rows = append(course.Rows, row(words.Count(n, "block"), so))
			}
		}
		if len(course.Rows) > 0 {
			course.Rows = append(course.Rows, row(words.Count(len(r.Each), "block"), r))
			all.Groups = append(all.Groups, course)
		}
	}
	if len(metrics.Rows) == 0 {
		return ""
	}
	return template.HTML(draw.Box(all.ID, all.Title, "", []string{all.SVG()}, false))
}

// curves draws each percentile by rate.
func curves(o *compare.Outcome) template.HTML {
	var charts []string
	for q, name := range []string{"p50", "p90", "p99", "p999"} {
		lines := draw.Lines{YLabel: name + ", µs, log scale", Factor: 1e6, LogY: true, Frame: draw.Frame{ID: "latency-" + name,
			Title: "Latency " + name + " at fixed rates", XLabel: "requests/s", Desc: "The table has its figures."}}
		for _, m := range o.Servers {
			s := draw.Series{Name: m.Name}
			for _, p := range o.Curve.Points {
				l := *p.Percentiles()[q]
				if p.Server != m.Name || l == nil {
					continue
				}
				f := draw.Figure{Median: &l.Seconds}
				if l.High > 0 {
					f.Low, f.High = &l.Low, &l.High
				}
				s.Points = append(s.Points, draw.Point{Figure: f, X: p.RateRPS, Level: words.Grouped(p.RateRPS, 0),
					Text: latency(l), Short: words.Time(l.Seconds)})
			}
			if len(s.Points) > 0 {
				lines.Series = append(lines.Series, s)
			}
		}
		if len(lines.Series) > 0 {
			charts = append(charts, draw.Named(name, lines.SVG()))
		}
	}
	return template.HTML(draw.Box("latency", "Latency by rate", "without points that were refused", charts, false))
}
