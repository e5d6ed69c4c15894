package verdict

import (
	"math"
	"strconv"

	"github.com/line-rate/line-rate/lab/internal/stats"
)

// votes counts the complete blocks by what they say about one edge of a claim.
// Blocks that are neither inside nor beyond cannot tell.
type votes struct{ inside, beyond, all int }

// A span is the range of a block's ratio. For a block that cannot tell it is
// blind and reaches from 0 to infinity.
type span struct {
	least, most float64
	blind       bool
}

var anywhere = span{0, math.Inf(1), true}

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
	for i := range edges {
		edges[i].all++
	}
	if b.low > 0 {
		add(&edges[0], s.least >= b.low, s.most < b.low)
	}
	if !math.IsInf(b.high, 1) {
		add(&edges[last], s.most <= b.high, s.least > b.high)
	}
}

func add(v *votes, inside, beyond bool) {
	if inside {
		v.inside++
	}
	if beyond {
		v.beyond++
	}
}

// judge applies the rule of the package comment. level is the claim's part of
// stats.Alpha, and ways the number of edges that could refute the claim, over
// all its comparisons.
func judge(edges []votes, level float64, ways int) Verdict {
	held := len(edges) > 0
	for _, e := range edges {
		if e.all < stats.MinSamples {
			return Inconclusive
		}
		if stats.Shown(e.beyond, e.all, level/float64(ways)) {
			return Refuted
		}
		held = held && stats.Shown(e.inside, e.all, level)
	}
	if held {
		return Reproduced
	}
	return Inconclusive
}

// needed estimates how many further blocks would decide if the shares of votes
// stayed the same; 0 if unknown.
func needed(edges []votes, level float64, ways int) int {
	hold, refute := 0, 0
	never := len(edges) == 0
	for _, e := range edges {
		all, ok := stats.Foretell(e.inside, e.all, level)
		never, hold = never || !ok, max(hold, all-e.all)
		if all, ok := stats.Foretell(e.beyond, e.all, level/float64(ways)); ok && e.all > 0 && (refute == 0 || all-e.all < refute) {
			refute = max(1, all-e.all)
		}
	}
	switch {
	case never:
		return refute
	case refute > 0:
		return min(max(hold, 1), refute)
	}
	return max(hold, 1)
}

// strength gives the logarithms of the e-values: the smallest over the edges
// for "inside", the largest for "beyond".
func strength(edges []votes) (hold, refute float64) {
	hold, refute = math.Inf(1), math.Inf(-1)
	for _, e := range edges {
		hold = min(hold, stats.LogE(e.inside, e.all))
		refute = max(refute, stats.LogE(e.beyond, e.all))
	}
	return hold, refute
}

// eValue rounds an e-value for a file. It is capped at 1e12: a larger one says
// nothing more, and after a thousand blocks it exceeds a float64.
func eValue(log float64) float64 { return rough(min(math.Exp(log), 1e12)) }

// rough rounds an estimate to four significant digits.
func rough(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', 3, 64), 64)
	return v
}
