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
	claims := strict.Count(x.Claims, func(c experiment.Claim) bool { return x.Needs(c).Cores <= s.profile.Cores })
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
		case c.VisitsNeeded > 0:
			o.needs = append(o.needs, c.VisitsNeeded)
		case 2*c.Refused > c.Blocks || c.Blocks < o.clear: // faults, which may pass
			o.needs = append(o.needs, max(stretch, o.clear-c.Blocks))
		}
	}
}

// next says which experiment has the next block, and how long to wait before it; nil if no time is left
// that would be of use. A block counts only if the last one of its experiment ended results.VisitGap ago, so
// several experiments take turns: those that are likely to decide most claims a second and that the time
// left carries to the end. The others, if an hour could decide something of them, only fill gaps: a later
// call goes on from there.
func (s *Session) next() (next *outcome, wait time.Duration) {
	room := s.until.Sub(s.Now())
	if s.Single { // it has one block, however little time there is
		if o := s.outcomes[0]; o.over || o.blocks > 0 && o.block > room {
			return nil, 0
		}
		return s.outcomes[0], 0
	}
	gap := room
	for _, of := range s.offers(room) {
		if of.cost <= room {
			next, room = longer(next, of.outcome), room-of.cost
		}
	}
	if next != nil {
		gap = s.wait(next)
	}
	var fill *outcome
	for _, of := range s.offers(time.Hour) {
		if s.wait(of.outcome)+of.block <= gap {
			fill = longer(fill, of.outcome)
		}
	}
	if fill != nil && (next == nil || s.wait(fill) == 0) {
		next = fill
	}
	if next == nil {
		return nil, 0
	}
	return next, s.wait(next)
}

// longer is the one of two experiments that was left alone for longer; the first may be nil.
func longer(a, b *outcome) *outcome {
	if a == nil || b.left.Before(a.left) {
		return b
	}
	return a
}

// wait is how long an experiment is left alone from now on, so that its next block counts apart.
func (s *Session) wait(o *outcome) time.Duration {
	return max(0, o.left.Add(results.VisitGap).Sub(s.Now()))
}

// An offer is the most that some time decides of an experiment.
type offer struct {
	*outcome
	rate float64       // claims a second
	cost time.Duration // of the blocks
}

// stretch is how many blocks beyond the clear case halve an estimate.
const stretch = 3

// offers lists the experiments of which that time decides claims, those first that decide most a second.
func (s *Session) offers(room time.Duration) (all []offer) {
	for _, o := range s.outcomes {
		if o.over {
			continue
		}
		best := offer{outcome: o}
		// An estimate counts half after the clear case, and half again with each further stretch: else a
		// claim that lies on its limit would take all the time.
		doubt := max(0, o.blocks-o.clear+stretch) / stretch
		slices.Sort(o.needs)
		for i, blocks := range o.needs {
			cost := time.Duration(blocks) * o.block
			rate := math.Ldexp(float64(i+1), -doubt) / cost.Seconds()
			if takes := s.wait(o) + cost + time.Duration(blocks-1)*results.VisitGap; takes <= room && rate > best.rate {
				best.rate, best.cost = rate, cost
			}
		}
		if best.rate > 0 {
			all = append(all, best)
		}
	}
	slices.SortStableFunc(all, func(a, b offer) int { return cmp.Compare(b.rate, a.rate) })
	return all
}

// Decidable reports why the budget of an experiment has no room for as many blocks as its claims take
// even if all blocks agree.
func Decidable(x *experiment.Experiment) error {
	block, least := run.BlockTime(x), clearCase(x, math.MaxInt)
	holds := int(budgetOf(x) / block)
	if holds >= least {
		return nil
	}
	return fmt.Errorf("budget_s = %v: it holds %s of about %.1f s, and %d are the least that tell; give %.0f s or more, or shorten [block]",
		x.BudgetS, words.Count(holds, "block"), block.Seconds(), least, math.Ceil(float64(least)*block.Seconds()))
}

// timeFor is what experiments ask for together; but of those that take turns, at least what one alone takes
// with the gaps between its blocks.
func timeFor(xs []*experiment.Experiment, single bool) time.Duration {
	var sum, least time.Duration
	for _, x := range xs {
		sum += budgetOf(x)
		least = max(least, budgetOf(x)+time.Duration(clearCase(x, math.MaxInt)+stretch)*results.VisitGap)
	}
	if single {
		return sum
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
