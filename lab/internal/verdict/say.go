package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// says gives the median, its interval, and how many blocks agree with the claim. An example is "cost with 2 workers
// over that with 1: 0.39 (0.37 to 0.41); 17 of 18 blocks lie at 0.5 or below, and 1 does not".
func (m *comparison) says(c experiment.Claim, begun int) string {
	n := len(m.all)
	yes, no := m.count()
	switch {
	case c.Form() == experiment.BottleneckForm:
		return fmt.Sprintf("%s alone was the bottleneck in %d of %s", words.Resource(c.Bound), yes, words.Count(n, "block"))
	case n == 0:
		return m.figures(c)
	}
	print := words.Edge
	if m.b == nil {
		print = func(v float64) string { return words.Figure(m.unit(), v) }
	}
	low, high := print(m.band.low), print(m.band.high)
	in := "between " + low + " and " + high
	switch {
	case m.band.low == m.band.high:
		in = "at " + low
	case math.IsInf(m.band.high, 1):
		in = "at " + low + " or above"
	case m.band.low <= 0:
		in = "at " + high + " or below"
	}
	blocks := words.Plural(n, "block")
	if n < begun {
		blocks += " that counted"
	}
	said := fmt.Sprintf("%s; %d of %d %s %s %s", m.figures(c), yes, n, blocks, words.Plural(n, "lies", "lie"), in)
	if no > 0 {
		said += fmt.Sprintf(", and %d %s not", no, words.Plural(no, "does", "do"))
	}
	return said
}

// figures names the comparison, with the median and its interval or, for too few blocks, the range of all.
func (m *comparison) figures(c experiment.Claim) string {
	e := m.effect(0)
	name, of := e.Names(), words.Words{Text: e.Text, Interval: cmp.Or(e.Interval, e.Spread)}
	if m.b == nil {
		of = words.Words{Text: "no block counts"}
		if c.Profile != "" {
			name = fmt.Sprintf("the share of %s in the %s", c.Subject(), profile.Kind(c.Profile).Doc().Name)
		}
		if len(m.a) > len(c.Where) {
			name += " " + setting.LimitTo(m.a)
		}
	}
	switch {
	case len(m.all) == 0:
	case m.b == nil && m.known:
		of = words.Measured(m.unit(), m.median(), &m.low, &m.high)
	case m.b == nil:
		of = words.Measured(m.unit(), m.median(), nil, nil)
	case !m.exact():
		of.Text += ", as far as coarse figures tell"
	}
	if of.Interval != "" {
		of.Text += " (" + of.Interval + ")"
	}
	return name + ": " + of.Text
}

// unit is that of a value's figures.
func (m *comparison) unit() string {
	if of, ok := metric.Lookup(m.metric); ok {
		return string(of.Unit)
	}
	return string(metric.Ratio) // a share
}

// median is that of a value or, if only a limit is known, of the limit.
func (m *comparison) median() float64 {
	return stats.Median(strict.Map(m.all, func(r results.Reading) float64 { return *cmp.Or(r.Nominal, &r.High) }))
}

// effect is a ratio as files have it.
func (m *comparison) effect(begun int) Effect {
	e := Effect{Metric: m.metric, Blocks: begun, Pairs: len(m.all), BandLow: finite(m.band.low),
		BandHigh: finite(m.band.high)}
	e.For, e.Against = m.count()
	if m.over != "" {
		e.A, e.B = setting.Levels{m.over: m.a[m.over]}, setting.Levels{m.over: m.b[m.over]}
		if at := m.a.Without(m.over); len(at) > 0 {
			e.At = at
		}
	}
	if m.known {
		e.Low, e.High = finite(m.low), finite(m.high)
	}
	if e.Text = "no block counts"; e.Pairs == 0 {
		return e
	}
	if low, high := m.medians(); m.exact() {
		e.Ratio = words.Digits(m.median())
		e.Words = words.Ratio(e.Ratio, e.Low, e.High)
		e.Change = words.Change(e.Ratio)
	} else {
		e.RatioLow, e.RatioHigh = finite(low), finite(high)
		e.Text = words.Range(e.RatioLow, e.RatioHigh)
		if e.HasInterval() {
			e.Interval = words.Range(e.Low, e.High)
		}
	}
	low, high := m.ends()
	if least, most := slices.Min(low), slices.Max(high); !m.known && e.Pairs > 1 && (least > 0 || !math.IsInf(most, 1)) {
		e.Spread = "blocks from " + words.Range(finite(least), finite(most))
	}
	return e
}

// finite is 0 for an end that is open.
func finite(v float64) float64 {
	if math.IsInf(v, 0) {
		return 0
	}
	return words.Digits(v)
}

// Names names the comparison: "throughput with 2 workers over that with 1, where RFS is off".
func (e Effect) Names() string {
	out := words.Metric(e.Metric)
	for factor, a := range e.A { // there is exactly one
		out += " with " + setting.JoinLevel(factor, a) + " over that with " + setting.JoinOther(factor, e.B[factor])
	}
	if at := setting.LimitTo(e.At); at != "" {
		return out + ", " + at
	}
	return out
}

// Criterion says in words what makes a claim hold, to continue "holds if".
func Criterion(c experiment.Claim) string {
	what, over, where := words.Metric(c.Metric), setting.Phrase(c.Over), ""
	if at := setting.LimitTo(c.Where); at != "" {
		where = at + ", "
	}
	levels := strict.Map(c.Compared, setting.LevelPhrase)
	all := "all levels of " + over
	if levels != nil {
		all = fmt.Sprintf("the levels %s of %s", words.List(levels), over)
	}
	switch c.Kind {
	case experiment.Flat:
		return fmt.Sprintf("%sbetween any two of %s, %s at the one is at most %s above that at the other", where, all, what,
			words.Percent(*c.Margin))
	case experiment.Monotonic:
		return fmt.Sprintf("%sfrom step to step of %s, %s falls by at most %s, and the last is above the first", where, all, what,
			words.Percent(*c.Margin))
	case experiment.Bound:
		return where + words.Resource(c.Bound) + " alone is the bottleneck of most blocks"
	case experiment.Share:
		doc := profile.Kind(c.Profile).Doc()
		return fmt.Sprintf("%sthe %s gives %s %s of its %s", where, doc.Name, c.Subject(), barsOf(c, words.Percent), doc.Per)
	case experiment.Value:
		m, _ := metric.Lookup(c.Metric)
		print := func(v float64) string { return words.Figure(string(m.Unit), v) }
		return fmt.Sprintf("%s%s is %s", where, what, barsOf(c, print))
	}
	if levels == nil {
		levels = []string{"at its first", "at its last level"}
	}
	return fmt.Sprintf("%s%s where %s is %s, over that where it is %s, is %s", where, what, over, levels[1], levels[0],
		barsOf(c, words.Number))
}

// barsOf says what a claim's bars ask for.
func barsOf(c experiment.Claim, print func(float64) string) string {
	low, high := c.Edges()
	switch {
	case c.Equals != "":
		return strings.TrimSuffix(fmt.Sprintf("the level set for %s plus %d", setting.Phrase(c.Equals), c.Plus), " plus 0")
	case low == high:
		return print(low)
	case c.AtMost == nil:
		return "at least " + print(low)
	case c.AtLeast == nil:
		return "at most " + print(high)
	}
	return "at least " + print(low) + " and at most " + print(high)
}

// Needs says a claim's preconditions in words; empty without any.
func Needs(n experiment.Needs) string {
	var out []string
	if n.Bound != "" {
		out = append(out, words.Resource(n.Bound)+" as the bottleneck")
	}
	if n.LineRate {
		out = append(out, "a wire of known line rate")
	}
	if n.Cores > 0 {
		out = append(out, fmt.Sprintf("at least %d cores", n.Cores))
	}
	return words.List(out)
}
