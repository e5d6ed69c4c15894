package session

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A schedule shares one budget of time among experiments. Evidence counts by visits, and a
// visit takes one block, so it goes round: one block of an experiment, then one of the
// next, and back to the first when it was left alone for results.VisitGap at least. It goes
// round those experiments that are likely to decide most claims per second and that the time
// left carries to the end. The others, if an hour could decide something of them, only fill
// gaps: a later call goes on from there. What is likely is estimated anew before each block.
// For an experiment without blocks, the estimate is its clear case; for another, it is what
// its open claims still need. The estimate counts half after the clear case, and half again
// with each further stretch of blocks; otherwise a claim that lies exactly on its limit would
// take all the time that is left. A schedule only chooses; it measures nothing.
type schedule struct {
	until  time.Time // end of the budget
	single bool      // the only part is measured without a break, since it is asked for by name
	parts  []*part

	planned, took time.Duration // for the first blocks of parts
}

// A part is the share of one experiment.
type part struct {
	block  time.Duration // about how long one block takes, with all that goes with it
	claims int           // of the experiment
	clear  int           // blocks that decide its claims if all agree
	most   int           // blocks that may be made; 0: any number
	over   bool          // no further block is possible or needed

	made  int           // blocks so far
	spent time.Duration // on them
	left  time.Time     // when the last one ended
	needs []int         // for each open claim, about how many further blocks decide it; nil before the first verdict
}

// stretch is how many blocks beyond the clear case halve an estimate.
const stretch = 3

// next says which part is measured next, and how long to wait before; false if no time is
// left that would be of use.
func (s *schedule) next(now time.Time) (at int, wait time.Duration, ok bool) {
	if s.single {
		p := s.parts[0]
		return 0, 0, !p.over && (p.most == 0 || p.made < p.most) && (p.made == 0 || !now.Add(p.block).After(s.until))
	}
	free := func(i int) time.Time { return s.parts[i].left.Add(results.VisitGap) }
	// Of those whose gap is over, the one that was left first; else the one whose gap is
	// over first, which is the same.
	first := func(in []int) (at int, wait time.Duration, ok bool) {
		for n, i := range in {
			if n == 0 || free(i).Before(free(at)) {
				at, ok = i, true
			}
		}
		return at, max(0, free(at).Sub(now)), ok
	}
	at, wait, ok = first(s.round(now, s.until))
	room := s.until.Sub(now)
	if ok {
		room = wait
	}
	fills := s.round(now, now.Add(time.Hour))
	fills = slices.DeleteFunc(fills, func(i int) bool { return max(0, free(i).Sub(now))+s.blockTime(s.parts[i]) > room })
	if fill, later, some := first(fills); some && (!ok || later == 0) {
		return fill, later, true
	}
	return at, wait, ok
}

// blockTime is about how long a part's next block takes. Blocks that were never made take
// longer than planned as those did that were made, or a round would begin more than the
// budget can finish.
func (s *schedule) blockTime(p *part) time.Duration {
	if p.made > 0 || s.took < s.planned || s.planned == 0 {
		return p.block
	}
	return time.Duration(float64(p.block) * float64(s.took) / float64(s.planned))
}

// round lists the parts that the time until then carries to a decision, best first.
func (s *schedule) round(now, until time.Time) (in []int) {
	type offer struct {
		part int
		rate float64 // claims per second
		cost time.Duration
	}
	var offers []offer
	for i, p := range s.parts {
		best := offer{part: i}
		block := s.blockTime(p)
		for _, e := range p.estimates() {
			cost := time.Duration(e.blocks) * block
			takes := max(0, p.left.Add(results.VisitGap).Sub(now)) + cost + time.Duration(e.blocks-1)*results.VisitGap
			if r := math.Ldexp(float64(e.claims), -p.doubt()) / cost.Seconds(); !now.Add(takes).After(until) && r > best.rate {
				best.rate, best.cost = r, cost
			}
		}
		if best.rate > 0 {
			offers = append(offers, best)
		}
	}
	slices.SortStableFunc(offers, func(a, b offer) int { return cmp.Compare(b.rate, a.rate) })
	room := until.Sub(now)
	for _, o := range offers {
		if o.cost <= room {
			in, room = append(in, o.part), room-o.cost
		}
	}
	return in
}

// An estimate is about how many further blocks decide so many claims.
type estimate struct{ claims, blocks int }

// estimates gives the estimates for one claim, for two and so on.
func (p *part) estimates() (all []estimate) {
	switch {
	case p.over || p.most > 0 && p.made >= p.most:
		return nil
	case p.needs == nil:
		return []estimate{{p.claims, p.clear}}
	}
	for _, n := range slices.Sorted(slices.Values(p.needs)) {
		if n > 0 {
			all = append(all, estimate{len(all) + 1, n})
		}
	}
	return all
}

// doubt is how often the estimate is halved.
func (p *part) doubt() int { return max(0, p.made-p.clear+stretch) / stretch }

// add takes account of blocks of a part that ended now.
func (s *schedule) add(p *part, blocks int, length time.Duration, now time.Time) {
	if p.made == 0 {
		s.planned += time.Duration(blocks) * p.block
		s.took += length
	}
	p.spent, p.left = p.spent+length, now
	if p.made += blocks; p.made > 0 {
		p.block = p.spent / time.Duration(p.made)
	}
}

// update takes account of the verdicts so far.
func (p *part) update(now *verdict.File) {
	if p.over = p.over || now != nil && verdict.Decided(now); now == nil {
		return
	}
	p.needs = []int{}
	for _, c := range now.Claims {
		if c.Open && c.VisitsNeeded == 0 && (c.Verdict == verdict.Invalid || c.Blocks < p.clear) {
			c.VisitsNeeded = max(stretch, p.clear-c.Blocks) // gates closed, which may pass
		}
		if c.Open {
			p.needs = append(p.needs, c.VisitsNeeded)
		}
	}
}

// Decidable reports why the budget of a design has no room for as many blocks as its claims
// take even if all blocks agree. For one that has been measured a block is enough, since the
// blocks of several runs add up.
func Decidable(x *experiment.Experiment, measured bool) error {
	block, least := run.BlockTime(x), clearCase(x, math.MaxInt)
	if measured {
		least = 1
	}
	holds := int(budgetOf(x) / block)
	if holds >= least {
		return nil
	}
	return fmt.Errorf("budget_s = %v: it holds %s of about %.1f s, and %d are the least that tell; give %.0f s or "+
		"more, or shorten [block]",
		x.BudgetS, words.Count(holds, "block"), block.Seconds(), least, math.Ceil(float64(least)*block.Seconds()))
}

// TimeFor is what experiments ask for together, but at least what the gaps of one alone take.
func TimeFor(xs []*experiment.Experiment) time.Duration {
	var sum, least time.Duration
	for _, x := range xs {
		own := budgetOf(x)
		sum, least = sum+own, max(least, own+time.Duration(clearCase(x, math.MaxInt)+stretch)*results.VisitGap)
	}
	return max(sum, least)
}

// budgetOf is what an experiment asks for.
func budgetOf(x *experiment.Experiment) time.Duration {
	return time.Duration(x.BudgetS * float64(time.Second))
}

// clearCase is how many visits of one block decide the claims of a question's first
// design, on a host with so many cores, if all of them agree.
func clearCase(x *experiment.Experiment, cores int) int {
	nth, claims := verdict.Asked(nil).Part(x, cores)
	if claims == 0 {
		return stats.MinSamples
	}
	return stats.Fewest(stats.Level(nth, claims))
}
