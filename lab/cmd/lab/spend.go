package main

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// A spend shares one budget of time among experiments. Evidence counts by visits, and a
// visit takes one block, so it goes round: one block of an experiment, then one of the
// next, and back to the first when it was left alone for visitGap at least. It goes round
// those experiments that are likely to decide most claims per second and that the time
// left carries to the end. The others, if an hour could decide something of them, only fill
// gaps: a later call goes on from there. What is likely is estimated anew before each block. For an experiment without
// blocks, the estimate is its clear case; for another, it is what its open claims still
// need. The estimate counts half after the clear case, and half again with each further
// stretch of blocks; otherwise a claim that lies exactly on its limit would take all the
// time that is left. A spend only chooses; it measures nothing.
type spend struct {
	until time.Time // end of the budget
	// stay has the only part measured without a break, since its run is asked for by name.
	stay  bool
	parts []*part

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

// visitGap is how long an experiment is left alone at least, so that its next block is
// another visit.
const visitGap = results.VisitGap

// stretch is how many blocks beyond the clear case halve an estimate.
const stretch = 3

// next says which part is measured next, and how long to wait before; false if no time is
// left that would be of use.
func (s *spend) next(now time.Time) (at int, wait time.Duration, ok bool) {
	if s.stay {
		p := s.parts[0]
		return 0, 0, !p.over && (p.most == 0 || p.made < p.most) && (p.made == 0 || !now.Add(p.block).After(s.until))
	}
	free := func(i int) time.Time { return s.parts[i].left.Add(visitGap) }
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
func (s *spend) blockTime(p *part) time.Duration {
	if p.made > 0 || s.took < s.planned || s.planned == 0 {
		return p.block
	}
	return time.Duration(float64(p.block) * float64(s.took) / float64(s.planned))
}

// round lists the parts that the time until then carries to a decision, best first.
func (s *spend) round(now, until time.Time) (in []int) {
	type offer struct {
		part int
		rate float64 // claims per second
		cost time.Duration
	}
	var offers []offer
	for i, p := range s.parts {
		best := offer{part: i}
		block := s.blockTime(p)
		for _, e := range p.foretold() {
			cost := time.Duration(e.blocks) * block
			takes := max(0, p.left.Add(visitGap).Sub(now)) + cost + time.Duration(e.blocks-1)*visitGap
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

// foretold gives the estimates for one claim, for two and so on.
func (p *part) foretold() (all []estimate) {
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

// made takes account of blocks of a part that ended now.
func (s *spend) made(p *part, blocks int, length time.Duration, now time.Time) {
	if p.made == 0 {
		s.planned += time.Duration(blocks) * p.block
		s.took += length
	}
	p.spent, p.left = p.spent+length, now
	if p.made += blocks; p.made > 0 {
		p.block = p.spent / time.Duration(p.made)
	}
}

// say updates a part with the verdicts so far.
func (p *part) say(says *verdict.File) {
	if p.over = p.over || says != nil && verdict.Decided(says); says == nil {
		return
	}
	p.needs = []int{}
	for _, c := range says.Claims {
		if c.Open && c.VisitsNeeded == 0 && (c.Verdict == verdict.Invalid || c.Blocks < p.clear) {
			c.VisitsNeeded = max(stretch, p.clear-c.Blocks) // gates closed, which may pass
		}
		if c.Open {
			p.needs = append(p.needs, c.VisitsNeeded)
		}
	}
}
