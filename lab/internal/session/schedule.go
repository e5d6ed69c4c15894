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
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// estimate says what an experiment takes, before anything was measured.
func (s *Session) estimate(o *outcome) {
	x := o.experiment
	o.block, o.clear = run.BlockTime(x), clearCase(x, s.profile.Cores)
	for _, r := range o.record.runs {
		o.clear = max(1, o.clear-r.File.Provenance.Blocks)
	}
	claims := strict.Count(x.Claims, func(c experiment.Claim) bool { return x.Cores(c) <= s.profile.Cores })
	if o.needs = slices.Repeat([]int{o.clear}, claims); o.verdicts != nil {
		o.expect()
	}
}

// expect estimates from the verdicts so far how many further blocks each open claim takes.
func (o *outcome) expect() {
	o.needs = nil
	for _, c := range o.verdicts.Claims {
		switch {
		case c.Verdict != verdict.Open:
		case c.Needed > 0:
			o.needs = append(o.needs, c.Needed)
		case 2*c.Refused > c.Blocks || c.Blocks < o.clear: // faults, which may pass
			o.needs = append(o.needs, max(stretch, o.clear-c.Blocks))
		default: // nobody can tell
			o.needs = append(o.needs, 4*o.clear)
		}
	}
}

// stretch is how many blocks beyond the clear case halve an estimate.
const stretch = 3

// An offer is a block that an experiment could have.
type offer struct {
	*outcome
	wait  time.Duration // until it counts apart from the last one of its experiment
	cost  time.Duration // of the blocks that decide the claims it goes for
	span  time.Duration // from now to the end of those blocks, with the gaps between them
	fits  bool          // the time left carries these claims to the end
	worth float64       // claims a second
}

// next says which experiment has the next block, and how long to wait before it; nil if no time is left for one.
// Experiments take turns, since a block counts only if the last one of its experiment ended results.BlockGap ago.
// Those that decide most claims a second are chosen as far as the time left carries all of them. Of the chosen ones
// the longest goes first, so that none is left alone with its gaps, unless it had more blocks than it should take. Of the
// others a block fills a gap: a later call goes on from there.
func (s *Session) next() (*outcome, time.Duration) {
	room := s.until.Sub(s.Now())
	var offers []offer
	for _, o := range s.outcomes {
		wait := max(0, o.left.Add(results.BlockGap).Sub(s.Now()))
		// An experiment alone has one block, however little time there is.
		if !o.over && (wait+o.block <= room || o.blocks == 0 && len(s.outcomes) == 1) {
			offers = append(offers, s.offer(o, wait, room))
		}
	}
	slices.SortStableFunc(offers, func(a, b offer) int { return cmp.Compare(b.worth, a.worth) })
	var chosen, rest offer
	var others []offer
	for _, of := range offers {
		if of.fits && of.cost <= room {
			room -= of.cost
			chosen = sooner(chosen, of, of.span > chosen.span)
		} else {
			others = append(others, of)
		}
	}
	for _, of := range others {
		if chosen.outcome == nil || of.wait+of.block <= chosen.wait {
			rest = sooner(rest, of, of.worth > rest.worth)
		}
	}
	if rest.outcome != nil {
		return rest.outcome, rest.wait
	}
	return chosen.outcome, chosen.wait
}

// sooner is the one of two offers that begins first; of those that begin at once, the second if it comes before. The
// first may be none.
func sooner(a, b offer, before bool) offer {
	if a.outcome == nil || b.wait < a.wait || b.wait == 0 && a.wait == 0 && before {
		return b
	}
	return a
}

// offer is what a block now is worth: the most of the claim that is decided first, the first two, and so on.
func (s *Session) offer(o *outcome, wait, room time.Duration) offer {
	best := offer{outcome: o, wait: wait, cost: o.block, span: wait + o.block, fits: s.Blocks > 0}
	// The more blocks beyond the clear case, the less likely is a decision within a further stretch: else a claim that
	// lies on its limit would take all the time.
	doubt := max(0, o.blocks-o.clear+stretch) / stretch
	slices.Sort(o.needs)
	for i, blocks := range o.needs {
		cost := time.Duration(blocks) * o.block
		span := wait + cost + time.Duration(blocks-1)*results.BlockGap
		fits, worth := span <= room, math.Ldexp(float64(i+1), -doubt)/cost.Seconds()
		if fits && !best.fits || fits == best.fits && worth > best.worth {
			best.cost, best.span, best.fits, best.worth = cost, span>>doubt, fits, worth
		}
	}
	return best
}

// Decidable reports why the budget of an experiment has no room for as many blocks as its claims take
// even if all blocks agree.
func Decidable(x *experiment.Experiment) error {
	block, least := run.BlockTime(x), clearCase(x, math.MaxInt)
	holds := int(budgetOf(x) / block)
	if holds >= least {
		return nil
	}
	return fmt.Errorf("budget_s = %v: it holds %s of about %.1f s, and %d are the least that tell; give %.0f s or more, or "+
		"shorten [block]", x.BudgetS, words.Count(holds, "block"), block.Seconds(), least, math.Ceil(float64(least)*block.Seconds()))
}

// timeFor is what experiments ask for together; but at least what one takes with the gaps between its blocks.
func timeFor(xs []*experiment.Experiment) (sum time.Duration) {
	var least time.Duration
	for _, x := range xs {
		sum += budgetOf(x)
		least = max(least, budgetOf(x)+time.Duration(clearCase(x, math.MaxInt)+stretch)*results.BlockGap)
	}
	return max(sum, least)
}

// budgetOf is what an experiment asks for.
func budgetOf(x *experiment.Experiment) time.Duration {
	return time.Duration(x.BudgetS * float64(time.Second))
}

// clearCase is how many blocks, each apart from the others, decide the claims of an experiment on a host
// with so many cores, if all of them agree.
func clearCase(x *experiment.Experiment, cores int) int {
	return max(stats.MinSamples, verdict.Least(x, cores))
}
