package plot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/draw"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// CardOf is what a page declares of the picture that links to it show: bars of a metric over a
// factor or several, a claim's ratios, or words alone.
type CardOf struct {
	Figure
	X any `toml:"x"`
	// At keeps some levels, and Labels names them; Caption says what the bars are.
	At      map[string]any    `toml:"at"`
	Labels  map[string]string `toml:"labels"`
	Caption string            `toml:"caption"`
}

// Card draws a page's card; nil if it declares no chart.
func (b *Book) Card(of CardOf) (*draw.Card, error) {
	if of.Metric == "" && of.Claim == "" {
		return nil, nil
	}
	b.wordless, of.Keep = nil, of.At
	if err := of.keep(); err != nil {
		return nil, err
	}
	r, err := b.pick(of.Figure)
	if err != nil {
		return nil, err
	}
	source := b.Host(r.Host) + ", measured by the lab, " + day(r)
	if r.published {
		source = b.Host(r.Host) + ", published, " + day(r)
	}
	if of.Claim != "" {
		return b.cardOfClaim(of, r, source)
	}
	return b.cardOfBars(of, r, source)
}

func (b *Book) cardOfClaim(of CardOf, r Run, source string) (*draw.Card, error) {
	x, err := b.experiment(of.Exp)
	if err != nil {
		return nil, err
	}
	c, ok := x.Claim(of.Claim)
	said, _ := r.Claim(of.Claim)
	if !ok || len(said.Effects) == 0 {
		return nil, fmt.Errorf("derived/data/verdicts/%s/%s.json has no ratio of %s", of.Exp, r.Run, of.Claim)
	}
	m, _ := metric.Lookup(c.Metric)
	ratios := draw.Ratios{Groups: []draw.Group[draw.Ratio]{{}}}
	for _, e := range said.Effects {
		ratios.BandLow, ratios.BandHigh = e.BandLow, e.BandHigh
		row := ratio(e, c.Over, "")
		row.Label = words.LevelCell(e.A[c.Over]) + " over " + words.LevelCell(e.B[c.Over])
		for _, k := range slices.Sorted(maps.Keys(e.At)) {
			row.Label = fmt.Sprintf("at %s %s", words.LevelCell(e.At[k]), k)
		}
		ratios.Groups[0].Rows = append(ratios.Groups[0].Rows, row)
	}
	caption := fmt.Sprintf("%s, ratio over %s; shaded: as claimed", m.Label, c.Over)
	return new(draw.CardOfRatios(caption, source, ratios)), nil
}

func (b *Book) cardOfBars(of CardOf, r Run, source string) (*draw.Card, error) {
	m, known := metric.Lookup(of.Metric)
	if !known {
		return nil, fmt.Errorf("metric %q is not known", of.Metric)
	}
	var keys []string
	switch x := of.X.(type) {
	case string:
		keys = []string{x}
	case []any:
		keys = strict.Called(x, func(k any) string { return fmt.Sprint(k) })
	}
	over := strict.Called(keys, func(k string) string { return words.LowerFirst(words.SettingName(k)) })
	rows, _ := r.rows(of.Levels, of.Metric)
	var bars []draw.Bar
	for _, c := range rows {
		label, ok := of.label(c, keys)
		if !ok {
			continue
		}
		if slices.ContainsFunc(bars, func(o draw.Bar) bool { return o.Label == label }) {
			return nil, fmt.Errorf("two conditions are %q; tell them apart by x = […], or keep one by at = {…}", label)
		}
		fig := c.Metrics[of.Metric]
		text, _ := b.text(r, fig, of.Metric)
		bars = append(bars, draw.Bar{Figure: marks(fig), Label: label, Text: text})
	}
	if len(bars) == 0 {
		return nil, fmt.Errorf("no figure of %s over %s in data/verdicts/%s/%s.json",
			of.Metric, strings.Join(keys, ", "), of.Exp, r.Run)
	}
	what := m.Label
	if of.Metric == "throughput_rps" {
		what = "Requests a second"
	}
	return new(draw.CardOfBars(cmp.Or(of.Caption, what+" by "+words.List(over)), source, bars)), b.wordless
}

// label names a condition by its levels of some factors; it has none if one is missing.
func (of CardOf) label(c verdict.Summary, keys []string) (string, bool) {
	var said []string
	for _, k := range keys {
		l, ok := c.Levels[k]
		if !ok {
			return "", false
		}
		name := cmp.Or(of.Labels[l.String()], c.Shown[k])
		if on, is := l.Bool(); is {
			name = cmp.Or(words.OwnNames[k], k)
			if !on {
				name = "no " + name
			}
		}
		said = append(said, name)
	}
	return draw.Short(strings.Join(said, ", "), 28), true
}
