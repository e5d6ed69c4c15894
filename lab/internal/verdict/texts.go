package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// Words are a figure as pages print it.
type Words struct {
	Text     string `json:"text,omitempty"`     // with its unit: "39,850", "24.2 µs"
	Interval string `json:"interval,omitempty"` // to the same digits, without the unit: "24.1 to 24.4"; absent without a width
}

// print adds to a file what pages print of it.
func (f *File) print(x *experiment.Experiment) {
	for i := range f.Conditions {
		c := &f.Conditions[i]
		c.Name, c.Shown = conditionName(x, c.Levels), map[string]string{}
		for factor, l := range c.Levels {
			c.Shown[factor] = shownLevel(l)
		}
		c.ClientWall = clientFull(c.Bounds)
		for name, fig := range c.Metrics {
			if m, ok := metric.Lookup(name); ok && f.shows(x, name) {
				fig.Words = fig.print(string(m.Unit))
				if m.Unit == metric.BitsPerSecond && f.LineRateBps > 0 && fig.Median != nil {
					fig.LineShare = fmt.Sprintf("%.3g", 100*(*fig.Median/f.LineRateBps))
				}
				c.Metrics[name] = fig
			}
		}
	}
	for _, claims := range [][]Claim{f.Claims, f.Earlier, f.Withdrawn} {
		for i := range claims {
			printEffects(claims[i].Effects)
			claims[i].Span = spanOf(claims[i].Effects)
		}
	}
	if f.Control != nil {
		printEffects(f.Control.Effects)
	}
}

// shows tells whether pages may print a metric in words. A measured run has some
// sixty figures a condition, of which pages print those that the experiment
// names, and what the wire carried each way, which a chart shows of any run. A
// published text has few figures, and pages may print all of them. A page that
// asks for another figure fails to build.
func (f *File) shows(x *experiment.Experiment, name string) bool {
	return f.Source != string(results.Measured) || slices.Contains(x.Metrics, name) || name == "wire_tx_bps" || name == "wire_rx_bps"
}

func printEffects(effects []Effect) {
	for i := range effects {
		e := &effects[i]
		e.Words = Words{e.Text(), e.Interval()}
		if e.Ratio == 0 {
			continue
		}
		change, at := 100*(e.Ratio-1), 0
		if math.Abs(change) < 10 {
			at = -1
		}
		e.Percent, e.Change = grouped(100*e.Ratio, at), grouped(change, at)
		if change > 0 {
			e.Change = "+" + e.Change
		}
	}
}

// print writes a figure. One that a text printed has no words here, since pages
// show it as it was printed.
func (f Figure) print(unit string) Words {
	switch {
	case f.Printed != "":
		return Words{}
	case f.Below != nil:
		return Words{Text: "<" + figureText(unit, *f.Below, nil, nil)}
	case f.Median == nil:
		return Words{}
	case f.Low == nil || f.High == nil || *f.Low == *f.High:
		return Words{Text: figureText(unit, *f.Median, f.Low, f.High)}
	}
	by := shownIn(unit, *f.Median).factor
	low, high := *f.Low*by, *f.High*by
	at := figurePlace(*f.Median*by, &low, &high)
	return Words{figureText(unit, *f.Median, f.Low, f.High), grouped(low, at) + " to " + grouped(high, at)}
}

// unbroken is the space that keeps a figure and its unit on one line.
const unbroken = "\u00a0"

// figureText prints a figure in the unit that suits its size, with the digits
// that its interval justifies. A rate has no unit: the words around it say what
// is counted.
func figureText(unit string, v float64, low, high *float64) string {
	in := shownIn(unit, v)
	v *= in.factor
	if low != nil && high != nil {
		l, h := *low*in.factor, *high*in.factor
		low, high = &l, &h
	}
	text := grouped(v, figurePlace(v, low, high))
	if in.name == "" || unit == string(metric.PerSecond) {
		return text
	}
	return text + unbroken + in.name
}

// figurePlace is the place of a figure's last digit: that of any number, except
// that a small whole number without a width has no digits after the point.
func figurePlace(v float64, low, high *float64) int {
	wide := low != nil && high != nil && *high > *low
	if !wide && math.Abs(v) < 1000 && v == math.Floor(v) {
		return 0
	}
	return lastPlace(v, low, high)
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

// A Span is the range of a claim's comparisons, those without a complete block
// left out.
type Span struct {
	Of   int    `json:"of"` // comparisons with a complete block
	Text string `json:"text,omitempty"`
}

// spanOf sums up several comparisons; one speaks for itself.
func spanOf(effects []Effect) *Span {
	if len(effects) < 2 {
		return nil
	}
	var seen []Effect
	exact := true
	for _, e := range effects {
		if e.Ratio > 0 || e.Pairs > 0 {
			seen = append(seen, e)
			exact = exact && e.Ratio > 0
		}
	}
	out := &Span{Of: len(seen)}
	switch {
	case len(seen) == 0:
	case exact:
		least := slices.MinFunc(seen, func(a, b Effect) int { return cmp.Compare(a.Ratio, b.Ratio) })
		most := slices.MaxFunc(seen, func(a, b Effect) int { return cmp.Compare(a.Ratio, b.Ratio) })
		out.Text = least.Text() + " to " + most.Text()
	default:
		low, high := math.Inf(1), 0.0
		for _, e := range seen {
			least, most := e.RatioLow, e.RatioHigh
			if e.Ratio > 0 {
				least, most = e.Ratio, e.Ratio
			}
			if most == 0 {
				most = math.Inf(1)
			}
			low, high = min(low, least), max(high, most)
		}
		out.Text = rangeText(low, known(finite(high)))
	}
	return out
}
