package verdict

import (
	"math"
	"strconv"

	"github.com/line-rate/line-rate/lab/confseq"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A tally counts blocks by what they say about one edge of a claim. Blocks that are
// neither inside nor beyond cannot tell.
type tally struct{ inside, beyond, all int }

// votes has the blocks on one edge: all, and the first of each visit.
type votes struct {
	tally
	first tally
}

// A span is the range of a block's ratio. For a block that cannot tell it is
// blind and reaches from 0 to infinity.
type span struct {
	least, most float64
	blind       bool
	later       bool // whether it is not the first block of its visit
}

func anywhere(later bool) span { return span{0, math.Inf(1), true, later} }

// A band is the range of ratios that a claim wants, edges included. At 0 and at
// infinity there is no edge.
type band struct{ low, high float64 }

func (b band) edges() []votes {
	if b.low > 0 && !math.IsInf(b.high, 1) {
		return make([]votes, 2)
	}
	return make([]votes, 1)
}

// inside tells whether a whole range is in the band, and beyond whether it is
// past one of the edges.
func (b band) inside(s span) bool {
	return (b.low <= 0 || s.least >= b.low) && (math.IsInf(b.high, 1) || s.most <= b.high)
}
func (b band) beyond(s span) bool { return s.most < b.low || s.least > b.high }

// count adds a block's range to the votes on the band's edges.
func (b band) count(edges []votes, s span) {
	last := len(edges) - 1
	if b.low > 0 {
		edges[0].add(s.later, s.least >= b.low, s.most < b.low)
	}
	if !math.IsInf(b.high, 1) {
		edges[last].add(s.later, s.most <= b.high, s.least > b.high)
	} else if b.low <= 0 {
		edges[last].add(s.later, false, false)
	}
}

// add counts a block; later ones of a visit are not bet on.
func (v *votes) add(later, inside, beyond bool) {
	counts := []*tally{&v.tally, &v.first}
	if later {
		counts = counts[:1]
	}
	for _, t := range counts {
		t.all++
		if inside {
			t.inside++
		}
		if beyond {
			t.beyond++
		}
	}
}

// judge applies the rule of the package comment to all edges of a claim. level is
// the claim's part of stats.Alpha.
func judge(edges []votes, level float64) Verdict {
	held := len(edges) > 0
	for _, e := range edges {
		if e.first.all < stats.MinSamples {
			return Inconclusive
		}
		held = held && confseq.Shown(e.first.inside, e.first.all, level)
	}
	switch {
	case held:
		return Reproduced
	case len(edges) > 0 && logMean(edges) >= -math.Log(level):
		return Refuted
	}
	return Inconclusive
}

// logMean is the logarithm of the mean over the edges of the e-values for "more
// than half are beyond". If the claim is true, at most half are beyond each edge,
// so each of these is a fair bet, and so is their mean.
func logMean(edges []votes) float64 {
	logs := strict.Map(edges, func(e votes) float64 { return confseq.LogE(e.first.beyond, e.first.all) })
	return confseq.LogMean(logs...)
}

// needed estimates how many further visits would decide if the shares of votes
// stayed the same; 0 if unknown.
func needed(edges []votes, level float64) int {
	hold, refute := 0, 0
	never := len(edges) == 0
	for _, e := range edges {
		n := e.first.all
		short := max(1, stats.MinSamples-n)
		all, ok := confseq.Needed(e.first.inside, n, level)
		never, hold = never || !ok, max(hold, all-n, short)
		all, ok = confseq.Needed(e.first.beyond, n, level/float64(len(edges)))
		if further := max(all-n, short); ok && n > 0 && (refute == 0 || further < refute) {
			refute = further
		}
	}
	switch {
	case never:
		return refute
	case refute > 0:
		return min(hold, refute)
	}
	return hold
}

// strength gives the logarithms of the e-values: the smallest over the edges for
// "inside", and the mean's for "beyond".
func strength(edges []votes) (hold, refute float64) {
	hold = math.Inf(1)
	for _, e := range edges {
		hold = min(hold, confseq.LogE(e.first.inside, e.first.all))
	}
	return hold, logMean(edges)
}

// eValue rounds an e-value for a file. It is capped at 1e12: a larger one says
// nothing more, and after a thousand visits it exceeds a float64.
func eValue(log float64) float64 { return rough(min(math.Exp(log), 1e12)) }

// rough rounds an estimate to four significant digits.
func rough(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', 3, 64), 64)
	return v
}
