package verdict

import (
	"fmt"
	"math"
	"slices"

	"github.com/line-rate/line-rate/lab/confseq"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A comparison is one ratio and the band in which a claim wants it.
//
// A figure is a reading and may stand for a range. So a block's ratio is a
// range too, and the block's vote counts the whole range. The answer is then
// right wherever in their ranges the true figures are.
type comparison struct {
	effect  Effect
	band    band
	spans   []span    // by block; "anywhere" for a block that cannot tell
	nominal []float64 // ratios of the nominal figures of blocks that can tell; used only if fine
	fine    bool      // whether every ratio is a single figure rather than a range
	edges   []votes
}

// fine is the relative width up to which a ratio's range is shown as a single
// figure: well below the smallest margin of any claim.
const fine = 0.005

// compare computes the ratio of two conditions for each block and counts it in
// the band. It takes no readings of blocks that cannot tell.
func compare(e Effect, within band, blocks []block, blind []blindness,
	readings func(block) (a, b results.Reading)) (*comparison, error) {
	c := &comparison{effect: e, band: within, fine: true, edges: within.edges()}
	if within.low > 0 {
		c.effect.BandLow = words.Digits(within.low)
	}
	if !math.IsInf(within.high, 1) {
		c.effect.BandHigh = words.Digits(within.high)
	}
	for i, bl := range blocks {
		at := anywhere(bl.later)
		if blind[i] == none {
			a, b := readings(bl)
			if a.High <= 0 || b.High <= 0 {
				return c, fmt.Errorf("in block %d of %d the %s is zero, so there is no ratio", i+1, len(blocks),
					metricPhrase(e.Metric))
			}
			at = span{least: a.Low / b.High, most: a.High / b.Low}
			at.later = bl.later
			c.effect.Pairs++
			if a.Nominal != nil && b.Nominal != nil {
				c.nominal = append(c.nominal, *a.Nominal / *b.Nominal)
			}
		}
		c.add(at)
	}
	c.effect.Blocks, c.effect.Visits = len(blocks), visitsOf(blocks)
	if c.effect.Pairs == 0 {
		return c, nil
	}
	from, to := c.medians()
	if c.fine = len(c.nominal) == c.effect.Pairs && to <= (1+fine)*from; c.fine {
		c.effect.Ratio = words.Digits(stats.Median(c.nominal))
	} else {
		c.effect.RatioLow, c.effect.RatioHigh = words.Digits(from), finite(to)
	}
	return c, nil
}

func (c *comparison) add(s span) {
	c.spans = append(c.spans, s)
	c.band.count(c.edges, s)
	switch {
	case s.blind:
	case c.band.inside(s):
		c.effect.For++
	case c.band.beyond(s):
		c.effect.Against++
	}
}

// settle gives the evidence of the comparison at the claim's part of the error.
func (c *comparison) settle(level float64) {
	if judge(c.edges, level) == Inconclusive {
		c.effect.VisitsNeeded = needed(c.edges, level)
	}
	hold, refute := strength(c.edges)
	c.effect.EFor, c.effect.EAgainst = eValue(hold), eValue(refute)
	c.interval(level)
}

// interval gives the confidence sequence of the ratio, from the blocks that are bet on.
func (c *comparison) interval(level float64) {
	var least, most []float64
	for _, s := range c.spans {
		if !s.later {
			least, most = append(least, s.least), append(most, s.most)
		}
	}
	if low, high, ok := confseq.Median(least, most, level); ok {
		c.effect.Low, c.effect.High = words.Digits(low), finite(high)
	}
}

// medians are the medians of the lower and of the upper ends, over the blocks
// that can tell.
func (c *comparison) medians() (from, to float64) {
	var a, b []float64
	for _, s := range c.spans {
		if !s.blind {
			a, b = append(a, s.least), append(b, s.most)
		}
	}
	return stats.Median(a), stats.Median(b)
}

// finite is 0 for an infinite upper end: the divisor may have been as small as
// 0.
func finite(v float64) float64 {
	if math.IsInf(v, 1) {
		return 0
	}
	return words.Digits(v)
}

// margin is how far the medians reach out of the band, as a logarithm; negative
// inside.
func (c *comparison) margin() float64 {
	from, to := c.medians()
	return max(math.Log(c.band.low/from), math.Log(to/c.band.high))
}

// warnings says what to be careful about.
func (c *comparison) warnings() (ws []stats.Warning) {
	if c.effect.Blocks < stats.MinSamples || c.effect.Pairs == 0 {
		return nil
	}
	from, to := c.spans[0].least, c.spans[0].most
	for _, s := range c.spans {
		from, to = min(from, s.least), max(to, s.most)
	}
	if c.effect.High > 0 && c.effect.Low == words.Digits(from) && c.effect.High == words.Digits(to) {
		ws = append(ws, stats.FewBlocks)
	}
	if !c.fine {
		return append(ws, stats.Coarse)
	}
	if slices.Min(c.nominal) == slices.Max(c.nominal) {
		ws = append(ws, stats.NoSpread)
	}
	return ws
}

// effects lists all comparisons for the verdict file, and each warning once.
func (f *finding) effects() ([]Effect, []stats.Warning) {
	var out []Effect
	var all []stats.Warning
	for _, c := range f.comparisons {
		c.effect.Spread = c.spread()
		c.effect.print()
		out, all = append(out, c.effect), append(all, c.warnings()...)
	}
	return out, strict.Filter(stats.AllWarnings, func(w stats.Warning) bool { return slices.Contains(all, w) })
}

// A pair is two conditions to compare, as indexes into a list, and the band in
// which the claim wants their ratio.
type pair struct {
	a, b int
	band band
}

// pairs gives the conditions that the claim compares, and the pairs: levels of
// one factor at equal levels of all other factors.
func (rec *record) pairs(c experiment.Claim) (compared []setting.Levels, out []pair) {
	place := func(levels setting.Levels) int {
		key := levels.Key()
		i := slices.IndexFunc(compared, func(l setting.Levels) bool { return l.Key() == key })
		if i < 0 {
			i, compared = len(compared), append(compared, levels)
		}
		return i
	}
	for _, s := range rec.strata(c) {
		if named := c.Compared(); named != nil {
			if s = arranged(s, c.Over, named); len(s) < len(named) {
				continue
			}
		}
		for _, p := range kinds[c.Kind].(comparer).pairs(c, len(s)) {
			out = append(out, pair{place(s[p.a]), place(s[p.b]), p.band})
		}
	}
	return compared, out
}

// strata groups the conditions that have the claim's metric by the levels of
// all factors but the claim's. Each group is in the order of that factor's
// levels.
func (rec *record) strata(c experiment.Claim) [][]setting.Levels {
	var order []string
	groups := map[string][]setting.Levels{}
	for _, levels := range rec.holding(c) {
		if _, ok := levels[c.Over]; !ok {
			continue
		}
		key := levels.Without(c.Over).Key()
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], levels)
	}
	return strict.Map(order, func(key string) []setting.Levels { return groups[key] })
}

// arranged sorts the conditions of a group as the claim names their levels.
func arranged(s []setting.Levels, over string, named []setting.Level) (out []setting.Levels) {
	for _, l := range named {
		out = append(out, strict.Filter(s, func(levels setting.Levels) bool { return levels[over] == l })...)
	}
	return out
}

// comparing has what the kinds of claims about ratios have in common.
type comparing struct{ plain }

func (comparing) recorded(c experiment.Claim, t results.Trial) bool { return has(t, c.Metric) }

func (comparing) blind(c experiment.Claim, s *source, t results.Trial) blindness {
	if r, ok := s.Reading(t, c.Metric); ok && r.High <= 0 {
		return nought
	}
	return none
}

// A comparer is a kind whose claims are about ratios.
type comparer interface {
	// pairs gives those of n levels that a claim compares, by their numbers.
	pairs(c experiment.Claim, n int) []pair
}

func isRatio(k experiment.Kind) bool {
	_, ok := kinds[k].(comparer)
	return ok
}

// decide decides a claim by all of its comparisons.
func (comparing) decide(rec *record, c experiment.Claim) (finding, error) {
	compared, pairs := rec.pairs(c)
	f := finding{}
	if len(pairs) == 0 {
		return f, fmt.Errorf("the run recorded %s at one level of %s only", metricPhrase(c.Metric), setting.Phrase(c.Over))
	}
	f.seen = rec.look(c, rec.begun(compared))
	for _, p := range pairs {
		got, err := comparisonOf(c, compared[p.a], compared[p.b], p, f.seen)
		if err != nil {
			return f, err
		}
		got.settle(rec.level)
		f.comparisons = append(f.comparisons, *got)
	}
	f.concludeRatios(rec)
	for i, p := range pairs {
		if why := follows(c, compared[p.a], compared[p.b], f.comparisons[i], f.seen); why != "" && f.verdict != Inconclusive {
			f.verdict, f.why = Inconclusive, why
		}
	}
	return f, nil
}

// follows says that what others ran follows one of two conditions and may explain their ratio; empty
// if it does not.
func follows(c experiment.Claim, a, b setting.Levels, got comparison, seen sight) string {
	var more []float64
	for i, bl := range seen.blocks {
		x, known := bl.of.at(a)[bl.number].Metrics[gate.Strangers]
		y, both := bl.of.at(b)[bl.number].Metrics[gate.Strangers]
		if seen.blind[i] == none && known && both {
			more = append(more, x-y)
		}
	}
	if len(more) == 0 {
		return ""
	}
	from, to := got.medians()
	by, k, n, is := gate.Follows(more, (from+to)/2)
	if !is {
		return ""
	}
	if by < 0 {
		a = b
	}
	return fmt.Sprintf("others ran more in the slots where %s is %s, in %d of %d blocks: something follows it, as work that a server "+
		"leaves to others", setting.Phrase(c.Over), setting.LevelPhrase(a[c.Over]), k, n)
}

// comparison compares two conditions by block.
func comparisonOf(c experiment.Claim, a, b setting.Levels, p pair, seen sight) (*comparison, error) {
	e := Effect{Metric: c.Metric, A: only(a, c.Over), B: only(b, c.Over)}
	if rest := a.Without(c.Over); len(rest) > 0 {
		e.At = rest
	}
	return compare(e, p.band, seen.blocks, seen.blind, func(bl block) (x, y results.Reading) {
		x, _ = bl.of.Reading(bl.of.at(a)[bl.number], c.Metric)
		y, _ = bl.of.Reading(bl.of.at(b)[bl.number], c.Metric)
		return x, y
	})
}

func only(ls setting.Levels, name string) setting.Levels {
	return setting.Levels{name: ls[name]}
}
