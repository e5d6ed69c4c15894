package verdict

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
)

// A comparison is one ratio held against the band that a claim wants it in,
// with what both witnesses make of it.
//
// Figures are readings: each may stand for a range. A block's ratio then lies
// between a least and a greatest one, and each is a figure of its own that a
// block gives. What is tested against an edge is the one nearer to it, so that
// the answer holds wherever in their ranges the true figures lay.
type comparison struct {
	effect    Effect
	name      string            // metric and levels, for reasons
	as, bs    []results.Reading // by block
	low, high float64
	fine      bool          // no figure may stand for much else than itself
	sum       stats.Summary // of the ratios as they stand; only if fine
	test      stats.T       // as sum
	least     witnesses     // of the least ratios
	most      witnesses     // of the greatest
	inside    float64       // p of "the ratio lies in the band"
	outside   float64       // p of "it lies outside"
	plan      plan
}

// witnesses are both, for one end of the ranges.
type witnesses struct {
	sum  stats.Summary
	test stats.T
}

func heard(ratios []float64) witnesses {
	return witnesses{stats.Summarise(ratios), stats.Paired(ratios)}
}

// fine is how far apart the ends of a ratio may lie that is shown as one figure:
// well below the smallest margin of any claim.
const fine = 0.005

// compare holds readings of the same blocks against a band.
func compare(e Effect, name string, as, bs []results.Reading, low, high float64) (comparison, error) {
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
	least, most := make([]float64, len(as)), make([]float64, len(as))
	var nominal []float64
	for i := range as {
		if as[i].High <= 0 || bs[i].High <= 0 {
			return c, fmt.Errorf("%s: block %d of %d has nought, which has no ratio", e.Metric, i+1, len(as))
		}
		least[i], most[i] = as[i].Low/bs[i].High, as[i].High/bs[i].Low
		if as[i].Nominal != nil && bs[i].Nominal != nil {
			nominal = append(nominal, *as[i].Nominal / *bs[i].Nominal)
		}
	}
	c.least, c.most = heard(least), heard(most)
	if c.fine = len(nominal) == len(as) && c.most.sum.Median <= (1+fine)*c.least.sum.Median; c.fine {
		c.sum, c.test = stats.Summarise(nominal), stats.Paired(nominal)
		c.effect.Ratio = digits(c.sum.Median)
	} else {
		c.effect.RatioLow, c.effect.RatioHigh = digits(c.least.sum.Median), finite(c.most.sum.Median)
	}
	if c.least.sum.HasInterval {
		c.inside, c.outside = c.equivalent(), c.differs()
		c.effect.Low, c.effect.High = digits(c.least.sum.Low), finite(c.most.sum.High)
		c.effect.PInside, c.effect.POutside = ptr(rough(c.inside)), ptr(rough(c.outside))
	}
	return c, nil
}

// finite leaves out what has no upper end: a figure divided by one that may have
// been as small as it likes.
func finite(v float64) float64 {
	if math.IsInf(v, 1) {
		return 0
	}
	return digits(v)
}

// equivalent is the p of two one-sided tests, each of the end nearer to its edge.
func (c comparison) equivalent() float64 {
	return max(c.least.test.Inside(c.low, math.Inf(1)).P, c.most.test.Inside(0, c.high).P)
}

// differs is the p of the ratio's lying beyond an edge, for the end nearer to it.
func (c comparison) differs() float64 {
	below, above := c.most.test.Below(c.low), c.least.test.Above(c.high)
	switch {
	case math.IsInf(c.high, 1):
		return below
	case c.low <= 0:
		return above
	}
	return min(1, 2*min(below, above))
}

// interval is what the first witness says: the exact interval.
func (c comparison) interval() Verdict {
	low, high := c.least.sum.Low, c.most.sum.High
	switch {
	case !c.least.sum.HasInterval:
		return Inconclusive
	case low >= c.low && high <= c.high:
		return Reproduced
	case high < c.low || low > c.high:
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

// margin is how far an interval, or a lone ratio, reaches out of its band, in
// logarithms; below zero it lies inside.
func (c comparison) margin() float64 {
	from, to := c.least.sum.Median, c.most.sum.Median
	if c.least.sum.HasInterval {
		from, to = c.least.sum.Low, c.most.sum.High
	}
	return max(math.Log(c.low/from), math.Log(to/c.high))
}

func (c comparison) String() string {
	want := fmt.Sprintf("%s to %s", bar(c.low), bar(c.high))
	if math.IsInf(c.high, 1) {
		want = "at least " + bar(c.low)
	} else if c.low == 0 {
		want = "at most " + bar(c.high)
	}
	return fmt.Sprintf("%s: %s, claimed %s", c.name, c.figures(), want)
}

// bar prints an edge as the claim has it. The edges of a margin may have no end
// of digits, and four of them are enough.
func bar(v float64) string {
	if s := strconv.FormatFloat(v, 'g', -1, 64); len(s) <= 6 {
		return s
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func (c comparison) figures() string {
	said := fmt.Sprintf("ratio %.3f", c.sum.Median)
	if !c.fine {
		said = "ratio " + between(c.least.sum.Median, c.most.sum.Median)
	}
	if c.least.sum.HasInterval {
		said += ", interval " + between(c.least.sum.Low, c.most.sum.High)
	}
	if !c.fine {
		said += ", for all that the figures may stand for"
	}
	return said
}

// between names a range that may have no upper end.
func between(low, high float64) string {
	if math.IsInf(high, 1) {
		return fmt.Sprintf("%.3f or more", low)
	}
	return fmt.Sprintf("%.3f to %.3f", low, high)
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

// evaluateRatios compares levels of one factor, within each combination of the
// other factors' levels. All comparisons have to agree.
func (d *decider) evaluateRatios(c experiment.Claim) (finding, error) {
	f := finding{points: true, pairs: math.MaxInt}
	against := false
	for _, s := range d.strata(c) {
		if err := d.sameRange(c, s); err != nil {
			return f, err
		}
		for _, p := range pairsOf(c.Kind, len(s)) {
			low, high := band(c, p.whole)
			got, err := d.comparison(c, s[p.a], s[p.b], low, high)
			if err != nil {
				return f, err
			}
			f.comparisons = append(f.comparisons, got)
			f.pairs = min(f.pairs, got.effect.Pairs)
			if got.effect.Pairs > 0 {
				from, to := got.least.sum.Median, got.most.sum.Median
				f.points = f.points && from >= low && to <= high
				against = against || to < low || from > high
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
	f.unseen = !f.points && !against
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
		if w == nil || rank[c.verdict()] > rank[w.verdict()] || c.verdict() == w.verdict() && c.margin() > w.margin() {
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
		if !c.fine {
			continue // no number of blocks makes a figure finer
		}
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
	if !c.least.sum.HasInterval {
		return e, nil
	}
	if !c.fine {
		return e, []stats.Warning{stats.Coarse}
	}
	e.SmallestEffect, e.BlocksNeeded, e.BlocksOver = rough(c.plan.smallest), c.plan.blocks, c.plan.over
	if !full {
		return e, stats.Warn(c.sum, c.test, 0, nil)
	}
	ratio, boot, err := stats.Bootstrap(nominal(c.as), nominal(c.bs))
	if err != nil {
		return e, stats.Warn(c.sum, c.test, 0, nil)
	}
	e.BootLow, e.BootHigh = digits(boot.Low), digits(boot.High)
	return e, stats.Warn(c.sum, c.test, ratio, &boot)
}

// nominal are fine readings as the plain figures that stand in the file.
func nominal(rs []results.Reading) []float64 {
	out := make([]float64, len(rs))
	for i, r := range rs {
		out[i] = *r.Nominal
	}
	return out
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

// paired gives a metric's readings in the blocks that hold it under both
// conditions.
func (d *decider) paired(name, a, b string) (as, bs []results.Reading) {
	for _, block := range blocksOf(d.valid[a]) {
		x, xok := d.r.Reading(d.valid[a][block], name)
		y, yok := d.r.Reading(d.valid[b][block], name)
		if xok && yok {
			as, bs = append(as, x), append(bs, y)
		}
	}
	return as, bs
}

// sameRange refuses to hold a bar against a text whose levels lie closer
// together, or farther apart, than those that the bar was set for: five times
// the connections need not do what sixteen times do.
func (d *decider) sameRange(c experiment.Claim, s []results.Condition) error {
	if c.Kind != experiment.Ratio || d.r.Source != results.Published || len(s) < 2 {
		return nil
	}
	for _, f := range d.x.Factors {
		if f.Name != c.Over {
			continue
		}
		first, last := f.Ends()
		from, to := s[0].Levels[c.Over], s[len(s)-1].Levels[c.Over]
		a, aok := first.Int()
		b, bok := last.Int()
		x, xok := from.Int()
		y, yok := to.Int()
		if numbers := aok && bok && xok && yok && a > 0; numbers && b*x != y*a || !numbers && (first != from || last != to) {
			return incomparable{fmt.Sprintf("the claim is about %s from %s to %s; the text's go from %s to %s", c.Over, first, last, from, to)}
		}
	}
	return nil
}

func only(ls setting.Levels, name string) setting.Levels {
	return setting.Levels{name: ls[name]}
}
