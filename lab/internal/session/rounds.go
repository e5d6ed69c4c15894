package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
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

// An Outcome is what came of one experiment.
type Outcome struct {
	Experiment *experiment.Experiment
	Runs       []*results.File // made by this session
	Verdicts   *verdict.File   // now; nil while there are none
	Unmade     string          // why nothing was measured
	Unable     bool            // whether this machine cannot measure it; its claims are not applicable

	record *record
	run    *run.Run        // under way; nil if none is
	told   map[string]bool // faults of the run that were said
	over   bool            // no further block is possible or needed
	clear  int             // blocks that decide its claims if all agree
	needs  []int           // for each open claim, about how many further blocks decide it
	block  time.Duration   // about how long one takes
	blocks int             // made by this session
	spent  time.Duration   // on them
	left   time.Time       // when the last one ended
}

// spend measures one block after the other until the budget is spent, and keeps what is under way then.
func (s *Session) spend(ctx context.Context) (failed error) {
	s.estimate()
	for failed == nil || s.KeepGoing && ctx.Err() == nil {
		o, wait := s.next()
		if o == nil {
			break
		}
		if wait > 0 {
			s.tell(fmt.Sprintf("%s is left alone for %s", o.Experiment.Name, words.Duration(wait)), false)
			if s.sleep(ctx, wait) != nil {
				failed = errors.Join(failed, errors.New("interrupted between two blocks"))
			}
			continue
		}
		if err := s.measureBlock(ctx, o); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", o.Experiment.Name, err))
			if o.over = true; len(o.Runs) == 0 {
				o.Unmade = "the run failed"
			}
		}
	}
	why := results.Budget
	if ctx.Err() != nil || failed != nil && !s.KeepGoing {
		why = results.Interrupted
	}
	for _, o := range s.outcomes {
		switch {
		case o.run != nil:
			if err := s.end(o, why); err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", o.Experiment.Name, err))
			} else if why == results.Interrupted {
				s.sayKept(o.Runs[len(o.Runs)-1])
			}
		case o.over || o.blocks > 0:
		case failed != nil:
			o.Unmade = "something else failed before"
		default:
			o.Unmade = fmt.Sprintf("it takes about %s, in %s at least %s apart, for which the budget has no room",
				words.Duration(time.Duration(o.clear)*o.block), words.Count(o.clear, "block"), words.Duration(results.VisitGap))
		}
	}
	return failed
}

// estimate says what each experiment takes, before anything was measured.
func (s *Session) estimate() {
	for _, o := range s.outcomes {
		x := o.Experiment
		o.block, o.clear = run.BlockTime(x), clearCase(x, s.profile.Cores)
		for _, r := range o.record.runs {
			o.clear = max(1, o.clear-r.File.Provenance.Blocks)
		}
		claims := strict.Count(x.Claims, func(c experiment.Claim) bool { return x.Needs(c).Cores <= s.profile.Cores })
		if claims == 0 || s.plan(x).Unreachable() != "" {
			o.block, o.clear, claims = time.Millisecond, 1, 1 // saying why it is not measured takes no time
		}
		if o.needs = slices.Repeat([]int{o.clear}, claims); o.Verdicts != nil && len(o.record.runs) > 0 {
			o.expect()
		}
	}
}

// stretch is how many blocks beyond the clear case halve an estimate.
const stretch = 3

// next says which experiment has the next block, and how long to wait before it; nil if no time is left
// that would be of use. A block counts only if the last one of its experiment ended results.VisitGap ago, so
// several experiments take turns: those that are likely to decide most claims a second and that the time
// left carries to the end. The others, if an hour could decide something of them, only fill gaps: a later
// call goes on from there.
func (s *Session) next() (next *Outcome, wait time.Duration) {
	if s.single {
		if o := s.outcomes[0]; !s.full(o) && s.fits(o, 0) {
			return o, 0
		}
		return nil, 0
	}
	now := s.Now()
	room := s.until.Sub(now)
	if next, wait = s.first(s.round(s.until)); next != nil {
		room = wait
	}
	fills := slices.DeleteFunc(s.round(now.Add(time.Hour)), func(o *Outcome) bool { return s.wait(o)+s.blockTime(o) > room })
	if fill, later := s.first(fills); fill != nil && (next == nil || later == 0) {
		return fill, later
	}
	return next, wait
}

// first is the experiment that was left alone for longest, and how long it still has to be; nil of none.
func (s *Session) first(of []*Outcome) (first *Outcome, wait time.Duration) {
	for _, o := range of {
		if first == nil || o.left.Before(first.left) {
			first, wait = o, s.wait(o)
		}
	}
	return first, wait
}

// round lists the experiments of which the time until then decides claims, those first that decide most a
// second, as far as there is room for all.
func (s *Session) round(until time.Time) (in []*Outcome) {
	type offer struct {
		of   *Outcome
		rate float64 // claims a second
		cost time.Duration
	}
	var offers []offer
	room := until.Sub(s.Now())
	for _, o := range s.outcomes {
		best := offer{of: o}
		if s.full(o) {
			continue
		}
		slices.Sort(o.needs)
		for i, blocks := range o.needs {
			cost := time.Duration(blocks) * s.blockTime(o)
			// An estimate counts half after the clear case, and half again with each further stretch: else a
			// claim that lies on its limit would take all the time.
			doubt := max(0, o.blocks-o.clear+stretch) / stretch
			rate := math.Ldexp(float64(i+1), -doubt) / cost.Seconds()
			if takes := s.wait(o) + cost + time.Duration(blocks-1)*results.VisitGap; takes <= room && rate > best.rate {
				best.rate, best.cost = rate, cost
			}
		}
		if best.rate > 0 {
			offers = append(offers, best)
		}
	}
	slices.SortStableFunc(offers, func(a, b offer) int { return cmp.Compare(b.rate, a.rate) })
	for _, o := range offers {
		if o.cost <= room {
			in, room = append(in, o.of), room-o.cost
		}
	}
	return in
}

// full reports whether an experiment has all blocks that it may have.
func (s *Session) full(o *Outcome) bool { return o.over || s.Blocks > 0 && o.blocks >= s.Blocks }

// expect estimates from the verdicts so far how many further blocks each open claim takes.
func (o *Outcome) expect() {
	o.needs = nil
	for _, c := range o.Verdicts.Claims {
		switch {
		case !c.Open:
		case c.VisitsNeeded > 0:
			o.needs = append(o.needs, c.VisitsNeeded)
		case c.Verdict == verdict.Invalid || c.Blocks < o.clear: // faults, which may pass
			o.needs = append(o.needs, max(stretch, o.clear-c.Blocks))
		}
	}
}

// wait is how long an experiment is left alone from now on, so that its next block counts apart.
func (s *Session) wait(o *Outcome) time.Duration {
	if s.single {
		return 0
	}
	return max(0, o.left.Add(results.VisitGap).Sub(s.Now()))
}

// fits reports whether the budget has room for another block after that wait. An experiment that was
// asked for by name has one block, however little time there is.
func (s *Session) fits(o *Outcome, wait time.Duration) bool {
	return s.single && o.blocks == 0 || !s.Now().Add(wait+s.blockTime(o)).After(s.until)
}

// blockTime is about how long the next block of an experiment takes. Where it has none, its plan is as
// wrong as those of the others were.
func (s *Session) blockTime(o *Outcome) time.Duration {
	if o.blocks > 0 || s.took <= s.planned {
		return o.block
	}
	return time.Duration(float64(o.block) * float64(s.took) / float64(s.planned))
}

// measureBlock measures one block of an experiment, and keeps its run where no further one follows.
func (s *Session) measureBlock(ctx context.Context, o *Outcome) error {
	began := s.Now()
	if o.run == nil {
		err := s.begin(o)
		if none, unable := errors.AsType[run.Unable](err); unable {
			s.Say("nothing of %s can be measured here, and no results file is written: %s", o.Experiment.Name, none.Why)
			o.over, o.Unmade, o.Unable = true, none.Why, true
			return nil
		}
		if err != nil {
			return err
		}
	}
	f := o.run.File
	trials, err := s.block(o.run, ctx, func(group, groups int) { s.tellGroup(o, group, groups) })
	if err != nil {
		return s.fail(ctx, o, err)
	}
	if o.blocks == 0 {
		s.planned += o.block
	}
	o.blocks++
	o.left = s.Now()
	o.spent += o.left.Sub(began)
	if o.blocks == 1 {
		s.took += o.spent
	}
	o.block = o.spent / time.Duration(o.blocks)
	o.Verdicts = o.record.with(f)
	o.expect()
	p := f.Provenance
	switch {
	case p.StoppedEarly != "":
		p.Ended, o.over = results.Failing, true
	case verdict.Decided(o.Verdicts) && (!s.single || p.Blocks >= leastBlocks):
		p.Ended, o.over = results.Decided, true
	case f.Full(), s.Blocks > 0 && o.blocks >= s.Blocks:
		p.Ended = results.Blocks
	case !s.fits(o, 0):
		p.Ended = results.Budget
	}
	if err := s.setAside(o.run); err != nil {
		return s.fail(ctx, o, err)
	}
	if s.tellBlock(o, trials); p.Ended != "" {
		return s.end(o, p.Ended)
	}
	if !s.single {
		o.run.Rest()
	}
	return nil
}

// begin starts a run of an experiment.
func (s *Session) begin(o *Outcome) (err error) {
	p := s.plan(o.Experiment)
	p.Budget = max(time.Second, s.until.Sub(s.Now()).Round(time.Second))
	if p.Seed = s.Seed + uint64(len(o.Runs)); s.Seed == 0 {
		p.Seed = rand.Uint64N(1 << 53) // so that any JSON reader keeps it exact
	}
	if o.run, err = s.start(p); err != nil {
		return err
	}
	o.told = map[string]bool{}
	s.Show(fmt.Sprintf("%s (a block takes about %s): %s", o.Experiment.Name, words.Duration(o.block), o.Experiment.Title), true)
	s.Due()
	return nil
}

// end keeps a run with the blocks that it has.
func (s *Session) end(o *Outcome, why results.Ended) error {
	r := o.run
	o.run = nil
	r.Rest()
	r.File.Provenance.Ended = why
	err := s.keep(r)
	if err == nil {
		o.Runs = append(o.Runs, r.File)
		o.record.add(r.File, o.Experiment)
	}
	o.Verdicts = o.record.verdicts() // without a run that could not be kept
	return err
}

// fail ends a run that cannot go on, and keeps its complete blocks unless nothing was measured in them.
func (s *Session) fail(ctx context.Context, o *Outcome, err error) error {
	f, interrupted := o.run.File, ctx.Err() != nil
	valid := slices.ContainsFunc(f.Trials, func(t results.Trial) bool { return t.Valid })
	kept := "this experiment left nothing behind"
	if f.Provenance.Blocks > 0 && (valid || interrupted) {
		kept = words.Count(f.Provenance.Blocks, "complete block is kept", "complete blocks are kept")
		if failed := s.end(o, results.Interrupted); failed != nil {
			return errors.Join(err, failed)
		}
		if !interrupted {
			s.sayKept(f)
		}
	} else {
		o.run.Rest()
		o.run, o.Verdicts = nil, o.record.verdicts()
		err = errors.Join(err, s.forget(f))
	}
	if !interrupted {
		return err
	}
	if left, ok := errors.AsType[run.Unrestored](err); ok {
		return fmt.Errorf("interrupted; %s; %w", kept, left)
	}
	return fmt.Errorf("interrupted; %s", kept)
}

func (s *Session) sayKept(f *results.File) { sayKept(f, s.Say) }

// tellGroup shows on a terminal which block is measured, and which of its groups.
func (s *Session) tellGroup(o *Outcome, group, groups int) {
	if !s.Terminal {
		return
	}
	what := fmt.Sprintf("%s block %d", o.Experiment.Name, o.run.File.Provenance.Blocks+1)
	if groups > 1 {
		what += fmt.Sprintf(" (%d/%d)", group, groups)
	}
	s.tell(what, false)
}

// tellBlock shows the progress after a block. Each fault is said once in a run.
func (s *Session) tellBlock(o *Outcome, trials []results.Trial) {
	f := o.run.File
	p := f.Provenance
	for _, t := range trials {
		for _, why := range t.Reasons {
			if !o.told[why.Gate] {
				o.told[why.Gate] = true
				c, _ := strict.First(f.Conditions, func(c results.Condition) bool { return c.ID == t.Condition })
				s.Say("  %s block %d  %s: invalid: %s: %s", f.Experiment, p.Blocks, c.Levels.Key(), why.Gate, why.Detail)
			}
		}
	}
	what := fmt.Sprintf("%s block %d", f.Experiment, p.Blocks)
	if p.Ended != "" {
		what += fmt.Sprintf(", the last (%s)", p.Ended)
	}
	s.tell(what, p.Ended != "")
}

// tell shows what goes on, and how far the session is: on a terminal in one line, which is rewritten, and
// in a log as a plain line, one for each block and at most one in ten seconds unless it is due.
func (s *Session) tell(what string, due bool) {
	now := s.Now()
	t := s.tally()
	s.Show(fmt.Sprintf("  %s: %s, at most %s left, %d of %d claims decided", what, words.Duration(now.Sub(s.began)),
		words.Duration(max(0, s.until.Sub(now))), t.decided(), t.all()-t[verdict.NotApplicable]), due)
}

// Decidable reports why the budget of an experiment has no room for as many blocks as its claims take
// even if all blocks agree. For one that has been measured a block is enough, since the blocks of
// several runs add up.
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

// TimeFor is what experiments ask for together, but at least what one alone takes with the gaps between
// its blocks.
func TimeFor(xs []*experiment.Experiment) time.Duration {
	var sum, least time.Duration
	for _, x := range xs {
		sum += budgetOf(x)
		least = max(least, budgetOf(x)+time.Duration(clearCase(x, math.MaxInt)+stretch)*results.VisitGap)
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
	nth, claims := verdict.Asked(nil).Part(x, cores)
	if claims == 0 {
		return stats.MinSamples
	}
	return stats.Fewest(stats.Level(nth, claims))
}
