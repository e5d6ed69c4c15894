package pages

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// fillWords adds to a file what pages print of it.
func fillWords(f *verdict.File, x *experiment.Experiment) {
	figureConditions(f.Conditions, f.LineRateBps, x)
	if f.Together != nil {
		figureConditions(f.Together.Conditions, f.LineRateBps, x)
	}
	for i := range f.Claims {
		f.Claims[i].Span = spanOf(f.Claims[i].Effects)
	}
}

func figureConditions(conds []medians.Summary, lineRate float64, x *experiment.Experiment) {
	for i := range conds {
		c := &conds[i]
		name(c, x)
		c.ClientWall = clientFull(c.Bounds)
		for name, fig := range c.Metrics {
			if m, ok := metric.Lookup(name); ok && shows(x, name) {
				fig.Words = figureWords(fig, string(m.Unit))
				if m.Unit == metric.BitsPerSecond && lineRate > 0 && fig.Median != nil {
					fig.LineShare = fmt.Sprintf("%.3g", 100*(*fig.Median/lineRate))
				}
				c.Metrics[name] = fig
			}
		}
	}
}

// name gives a condition its name, and its levels in words.
func name(c *medians.Summary, x *experiment.Experiment) {
	c.Name, c.Shown = ConditionName(x, c.Levels), map[string]string{}
	for factor, l := range c.Levels {
		c.Shown[factor] = setting.LevelCell(l)
	}
}

// shows reports whether pages may print a metric in words. A run has some sixty
// figures a condition, of which pages print those that the experiment names, and what
// the wire carried each way, which a chart shows of any run. A page that asks for
// another figure fails to build.
func shows(x *experiment.Experiment, name string) bool {
	return slices.Contains(x.Metrics, name) || name == "wire_tx_bps" || name == "wire_rx_bps"
}

// figureWords writes a figure. One that a text printed has no words here, since pages
// show it as it was printed.
func figureWords(f medians.Figure, unit string) words.Words {
	switch {
	case f.Printed != "":
		return words.Words{}
	case f.Below != nil:
		return words.Words{Text: "<" + words.Figure(unit, *f.Below, nil, nil)}
	case f.Median == nil:
		return words.Words{}
	}
	return words.Measured(unit, *f.Median, f.Low, f.High)
}

// clientFull tells whether a condition's figures are those of a client at its
// limit: in most of its trials the client was full and the server was not.
func clientFull(bounds map[string]int) bool {
	all, client := 0, 0
	for bound, n := range bounds {
		all += n
		met := strings.Split(bound, "+")
		if slices.Contains(met, string(gate.BoundClientCPU)) && !slices.Contains(met, string(gate.BoundServerCPU)) {
			client += n
		}
	}
	return 2*client > all
}

// spanOf sums up several comparisons; one speaks for itself.
func spanOf(effects []verdict.Effect) *verdict.Span {
	if len(effects) < 2 {
		return nil
	}
	seen := strict.Filter(effects, func(e verdict.Effect) bool { return e.Ratio > 0 || e.Pairs > 0 })
	coarse := slices.ContainsFunc(seen, func(e verdict.Effect) bool { return e.Ratio <= 0 })
	out := &verdict.Span{Of: len(seen)}
	switch {
	case len(seen) == 0:
	case !coarse:
		least := slices.MinFunc(seen, func(a, b verdict.Effect) int { return cmp.Compare(a.Ratio, b.Ratio) })
		most := slices.MaxFunc(seen, func(a, b verdict.Effect) int { return cmp.Compare(a.Ratio, b.Ratio) })
		out.Text = least.Text + " to " + most.Text
	default:
		low, high := math.Inf(1), 0.0
		for _, e := range seen {
			least, most := e.RatioLow, e.RatioHigh
			if e.Ratio > 0 {
				least, most = e.Ratio, e.Ratio
			}
			low, high = min(low, least), max(high, cmp.Or(most, math.Inf(1)))
		}
		if math.IsInf(high, 1) {
			high = 0 // open
		}
		out.Text = words.Range(low, words.Known(high))
	}
	return out
}
