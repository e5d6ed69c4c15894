package verdict

import (
	"fmt"
	"math"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
)

// A comparison is one ratio held against the band that a claim wants it in,
// with what both witnesses make of it.
type comparison struct {
	effect    Effect
	name      string    // metric and levels, for reasons
	as, bs    []float64 // figures by block
	low, high float64
	sum       stats.Summary
	test      stats.T
	inside    float64 // p of "the ratio lies in the band"
	outside   float64 // p of "it lies outside"
	plan      plan
}

// compare holds figures of the same blocks against a band.
func compare(e Effect, name string, as, bs []float64, low, high float64) (comparison, error) {
	c := comparison{effect: e, name: name, as: as, bs: bs, low: low, high: high, inside: 1, outside: 1}
	if low > 0 {
		c.effect.BandLow = digits(low)
	}
	if !math.IsInf(high, 1) {
		c.effect.BandHigh = digits(high)
	}
	if c.effect.Pairs = len(as); len(as) == 0 {
		return c, nil
	}
	ratios, err := stats.Ratios(as, bs)
	if err != nil {
		return c, fmt.Errorf("%s: %w", e.Metric, err)
	}
	c.sum, c.test = stats.Summarise(ratios), stats.Paired(ratios)
	c.effect.Ratio = digits(c.sum.Median)
	if c.sum.HasInterval {
		c.inside, c.outside = c.test.Inside(low, high).P, c.test.Outside(low, high)
		c.effect.Low, c.effect.High = digits(c.sum.Low), digits(c.sum.High)
		c.effect.PInside, c.effect.POutside = ptr(rough(c.inside)), ptr(rough(c.outside))
	}
	return c, nil
}

// interval is what the first witness says: the exact interval.
func (c comparison) interval() Verdict {
	switch {
	case !c.sum.HasInterval:
		return Inconclusive
	case c.sum.Low >= c.low && c.sum.High <= c.high:
		return Reproduced
	case c.sum.High < c.low || c.sum.Low > c.high:
		return Refuted
	}
	return Inconclusive
}

// student is what the second says, uncorrected: the t test.
func (c comparison) student() Verdict {
	switch {
	case c.inside <= stats.Alpha:
		return Reproduced
	case c.outside <= stats.Alpha:
		return Refuted
	}
	return Inconclusive
}

// verdict is what they agree on.
func (c comparison) verdict() Verdict {
	if v := c.interval(); v == c.student() {
		return v
	}
	return Inconclusive
}

// strain is how far an interval, or a lone ratio, reaches out of its band, in
// logarithms; below zero it lies inside.
func (c comparison) strain() float64 {
	from, to := c.sum.Median, c.sum.Median
	if c.sum.HasInterval {
		from, to = c.sum.Low, c.sum.High
	}
	return max(math.Log(c.low/from), math.Log(to/c.high))
}

func (c comparison) String() string {
	want := fmt.Sprintf("%.3g to %.3g", c.low, c.high)
	if math.IsInf(c.high, 1) {
		want = fmt.Sprintf("at least %.3g", c.low)
	} else if c.low == 0 {
		want = fmt.Sprintf("at most %.3g", c.high)
	}
	return fmt.Sprintf("%s: %s, claimed %s", c.name, c.figures(), want)
}

func (c comparison) figures() string {
	if !c.sum.HasInterval {
		return fmt.Sprintf("ratio %.3f", c.sum.Median)
	}
	return fmt.Sprintf("ratio %.3f, interval %.3f to %.3f", c.sum.Median, c.sum.Low, c.sum.High)
}

// open says why a comparison was left open, which is more than that its
// interval crosses an edge where one witness had an opinion.
func (c comparison) open() string {
	is := map[Verdict]string{Reproduced: "inside", Refuted: "outside"}
	interval, student := c.interval(), c.student()
	switch {
	case interval == student, interval == Inconclusive && student == Inconclusive:
		return ""
	case interval == Inconclusive:
		p := c.inside
		if student == Refuted {
			p = c.outside
		}
		return fmt.Sprintf("; the t test puts it %s (p %.2g), the exact interval does not", is[student], p)
	case student == Inconclusive:
		return fmt.Sprintf("; the exact interval lies %s, but the t test does not bear it out (p %.2g)", is[interval], min(c.inside, c.outside))
	}
	return fmt.Sprintf("; the exact interval lies %s, while the t test puts it %s", is[interval], is[student])
}

// weighRatios compares levels of one factor, within each combination of the
// other factors' levels. All comparisons have to agree.
func (d *decider) weighRatios(c experiment.Claim) (finding, error) {
	f := finding{points: true, pairs: math.MaxInt}
	for _, s := range d.strata(c) {
		for _, p := range pairsOf(c.Kind, len(s)) {
			low, high := band(c, p.whole)
			got, err := d.comparison(c, s[p.a], s[p.b], low, high)
			if err != nil {
				return f, err
			}
			f.comparisons = append(f.comparisons, got)
			f.pairs = min(f.pairs, got.effect.Pairs)
			if got.effect.Pairs > 0 {
				f.points = f.points && got.sum.Median >= low && got.sum.Median <= high
			}
		}
	}
	if len(f.comparisons) == 0 {
		return f, incomparable{fmt.Sprintf("the run recorded %s at one level of %s only", c.Metric, c.Over)}
	}
	if f.pairs == 0 && d.r.Source == results.Published {
		return f, incomparable{fmt.Sprintf("the text prints %s at some levels of %s for different runs only", c.Metric, c.Over)}
	}
	if w := f.worst(); w != nil {
		f.why = w.String()
	}
	return f, nil
}

// worst is the comparison that decides: of those with the worst verdict, the
// one furthest out of its band, or nearest to leaving it.
func (f *finding) worst() *comparison {
	rank := map[Verdict]int{Reproduced: 0, Inconclusive: 1, Refuted: 2}
	var w *comparison
	for i := range f.comparisons {
		c := &f.comparisons[i]
		if c.effect.Pairs == 0 {
			continue
		}
		if w == nil || rank[c.verdict()] > rank[w.verdict()] || c.verdict() == w.verdict() && c.strain() > w.strain() {
			w = c
		}
	}
	return w
}

// agreed is what both witnesses make of the whole claim, before anything is
// corrected: one comparison refutes it, and all are needed to reproduce it.
func (f *finding) agreed() Verdict { return f.worst().verdict() }

// p is the claim's own p value for what the witnesses agree on, and 1 where
// they agree on nothing. A claim that needs all comparisons has the largest p
// of them (intersection-union, which needs no correction); one that any
// comparison refutes has the smallest, times their number.
func (f *finding) p() float64 {
	largest, least := 0.0, 1.0
	for _, c := range f.comparisons {
		largest = max(largest, c.inside)
		if c.verdict() == Refuted {
			least = min(least, c.outside)
		}
	}
	switch f.agreed() {
	case Reproduced:
		return largest
	case Refuted:
		return min(1, least*float64(len(f.comparisons)))
	}
	return 1
}

// conclude gives the verdict, its reason, and the corrected p where the
// witnesses agree. Corrected for the claims about ratios that this run decides.
func (f *finding) conclude(corrected float64, claims int) (Verdict, string, *float64) {
	w, agreed := f.worst(), f.agreed()
	switch {
	case agreed == Inconclusive:
		return Inconclusive, w.String() + w.open() + w.wanting(), nil
	case corrected > stats.Alpha:
		why := fmt.Sprintf("; both witnesses agree, but p is %.2g after correction for %d %s and %d %s",
			corrected, len(f.comparisons), plural(len(f.comparisons), "comparison"), claims, plural(claims, "claim"))
		return Inconclusive, w.String() + why + w.wanting(), ptr(rough(corrected))
	case agreed == Reproduced && len(f.comparisons) > 1:
		return agreed, fmt.Sprintf("all %d comparisons hold; nearest to the edge is %s", len(f.comparisons), w), ptr(rough(corrected))
	}
	return agreed, w.String(), ptr(rough(corrected))
}

// A plan says what a comparison's noise lets so many blocks see.
type plan struct {
	smallest     float64 // effect, as a ratio; 0 if none can be told
	blocks, over int     // to decide what was seen, or how many would not do
}

// prepare makes the plans, of blocks to decide where that is open. The level is
// a claim's share of the error, as if all claims were open.
func (f *finding) prepare(claims int, corrected float64) {
	alpha := stats.Alpha / float64(max(1, claims))
	for i := range f.comparisons {
		c := &f.comparisons[i]
		smallest, ok := stats.SmallestEffect(c.test.SD(), c.effect.Pairs, alpha)
		if !ok {
			continue
		}
		if c.plan.smallest = smallest; c.verdict() != Inconclusive && corrected <= stats.Alpha {
			continue
		}
		if c.plan.blocks, ok = stats.BlocksNeeded(c.test, c.low, c.high, alpha); !ok {
			c.plan.blocks, c.plan.over = 0, stats.MaxBlocks
		}
	}
}

// wanting says so in words.
func (c comparison) wanting() string {
	if c.plan.smallest == 0 {
		return ""
	}
	said := fmt.Sprintf("; the smallest effect these %d blocks could have seen is a ratio of %.3g", c.effect.Pairs, c.plan.smallest)
	switch {
	case c.plan.over > 0:
		said += fmt.Sprintf(", and to decide takes more than %d", c.plan.over)
	case c.plan.blocks > c.effect.Pairs:
		said += fmt.Sprintf(", and to decide takes about %d", c.plan.blocks)
	}
	return said
}

// shown is the comparison as a verdict file keeps it, and what to be wary of.
func (c comparison) shown(full bool) (Effect, []stats.Warning) {
	e := c.effect
	if !c.sum.HasInterval {
		return e, nil
	}
	e.SmallestEffect, e.BlocksNeeded, e.BlocksOver = rough(c.plan.smallest), c.plan.blocks, c.plan.over
	if !full {
		return e, stats.Warn(c.sum, c.test, 0, nil)
	}
	ratio, boot, err := stats.Bootstrap(c.as, c.bs)
	if err != nil {
		return e, stats.Warn(c.sum, c.test, 0, nil)
	}
	e.BootLow, e.BootHigh = digits(boot.Low), digits(boot.High)
	return e, stats.Warn(c.sum, c.test, ratio, &boot)
}

// effects gives all comparisons as a verdict file keeps them, with their
// warnings, each once.
func (f *finding) effects(full bool) ([]Effect, []stats.Warning) {
	var out []Effect
	var all, kept []stats.Warning
	for _, c := range f.comparisons {
		e, ws := c.shown(full)
		out, all = append(out, e), append(all, ws...)
	}
	for _, w := range stats.AllWarnings {
		if slices.Contains(all, w) {
			kept = append(kept, w)
		}
	}
	return out, kept
}

// comparison pairs two conditions by block.
func (d *decider) comparison(c experiment.Claim, a, b results.Condition, low, high float64) (comparison, error) {
	e := Effect{Metric: c.Metric, A: only(a.Levels, c.Over), B: only(b.Levels, c.Over)}
	if rest := a.Levels.Without(c.Over); len(rest) > 0 {
		e.At = rest
	}
	as, bs := d.paired(c.Metric, a.ID, b.ID)
	return compare(e, fmt.Sprintf("%s %s over %s", c.Metric, a.Levels[c.Over], b.Levels[c.Over]), as, bs, low, high)
}

// paired gives a metric's figures in the blocks that hold it under both
// conditions.
func (d *decider) paired(name, a, b string) (as, bs []float64) {
	for _, block := range blocksOf(d.valid[a]) {
		x, xok := d.valid[a][block].Metrics[name]
		y, yok := d.valid[b][block].Metrics[name]
		if xok && yok {
			as, bs = append(as, x), append(bs, y)
		}
	}
	return as, bs
}

func only(ls setting.Levels, name string) setting.Levels {
	return setting.Levels{name: ls[name]}
}
