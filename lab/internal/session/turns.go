package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// An openRun is a run under way. It has a goroutine of its own, which does something only
// from when it is given a turn until it gives the turn back, after a block or at its end:
// so one run measures at a time, and all else of a session needs no lock.
type openRun struct {
	turn chan results.Ended // empty for one more block; else why the run ends
	back chan step
}

// A step is what came of a turn.
type step struct {
	over   bool // the run has ended
	blocks int  // of this turn
	err    error
}

// turn has an experiment measured for one block, or ends its run for that reason. Without
// breaks, it is measured for so many blocks as the run makes, at most so many if most is
// not 0.
func (s *Session) turn(
	ctx context.Context, o *Outcome, why results.Ended, budget time.Duration, breaks bool, most int,
) step {
	if r := o.open; r != nil {
		r.turn <- why
		return <-r.back
	}
	r := &openRun{make(chan results.Ended), make(chan step)}
	before := 0 // blocks of earlier turns
	var rest func() results.Ended
	if breaks {
		rest = func() results.Ended {
			before++
			r.back <- step{blocks: 1}
			return <-r.turn
		}
	}
	o.open = r
	go func() {
		f, err := s.make(ctx, o, budget, most, rest)
		end := step{over: true, err: err}
		if o.open = nil; f != nil {
			end.blocks = f.Provenance.Blocks - before
			o.Runs = append(o.Runs, f)
			o.record.add(f, o.Experiment)
		}
		o.Verdicts = o.record.verdicts() // without a run that could not be kept
		r.back <- end
	}()
	return <-r.back
}

// spend measures whatever is worth most, until the budget is spent.
func (s *Session) spend(ctx context.Context, outcomes []*Outcome, budget time.Duration, single bool) (failed error) {
	sched := s.shares(outcomes, budget, single)
	for failed == nil || s.KeepGoing && ctx.Err() == nil {
		at, wait, ok := sched.next(s.now())
		if !ok {
			break
		}
		o, p := outcomes[at], sched.parts[at]
		if wait > 0 {
			s.Pause(o.Experiment, wait)
			if s.sleep(ctx, wait) != nil {
				failed = errors.Join(failed, errors.New("interrupted between two blocks"))
			}
			continue
		}
		if !single {
			s.Visit(o.Experiment, p.made+1)
		}
		began := s.now()
		r := s.turn(ctx, o, "", max(time.Second, sched.until.Sub(began).Round(time.Second)), !single, max(0, p.most-p.made))
		sched.add(p, r.blocks, s.now().Sub(began), s.now())
		p.update(o.Verdicts)
		if r.over && (len(o.Runs) == 0 || r.err != nil || dead(o.Runs[len(o.Runs)-1])) {
			p.over = true
		}
		if r.err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", o.Experiment.Name, r.err))
			if len(o.Runs) == 0 {
				o.Unmade = "the run failed"
			}
		}
	}
	why := results.Budget
	if ctx.Err() != nil || failed != nil && !s.KeepGoing {
		why = results.Interrupted
	}
	for i, o := range outcomes {
		p := sched.parts[i]
		if o.open != nil {
			switch r := s.turn(ctx, o, why, 0, true, 0); {
			case r.err != nil:
				failed = errors.Join(failed, fmt.Errorf("%s: %w", o.Experiment.Name, r.err))
			case why == results.Interrupted:
				n := o.Runs[len(o.Runs)-1].Provenance.Blocks
				s.Say("kept %s of a run of %s that was cut short", words.Count(n, "block"), o.Experiment.Name)
			}
		}
		switch {
		case p.over || p.made > 0:
		case failed != nil:
			o.Unmade = "something else failed before"
		default:
			o.Unmade = fmt.Sprintf("it takes about %s, in %s at least %s apart, for which the budget has no room",
				words.Duration(time.Duration(p.clear)*p.block), words.Count(p.clear, "block"), words.Duration(results.VisitGap))
		}
	}
	return failed
}

// dead reports whether a run measured nothing, or nothing any more.
func dead(f *results.File) bool {
	return f.Provenance.Blocks == 0 || f.Provenance.Ended == results.Failing
}

// shares are the parts that the outcomes have in the budget.
func (s *Session) shares(outcomes []*Outcome, budget time.Duration, single bool) *schedule {
	sched := &schedule{until: s.now().Add(budget), single: single}
	for _, o := range outcomes {
		p := &part{block: s.Plan(o.Experiment).BlockTime(), most: s.Blocks, over: o.Unmade != ""}
		p.clear = clearCase(o.Experiment, s.profile.Cores)
		p.claims = strict.Count(o.Experiment.Claims, func(c experiment.Claim) bool {
			return o.Experiment.Needs(c).Cores <= s.profile.Cores
		})
		if p.claims == 0 || s.Plan(o.Experiment).Unreachable() != "" {
			p.block, p.claims, p.clear = time.Millisecond, 1, 1 // saying why it is not measured takes no time
		}
		if !single {
			p.update(o.Verdicts)
		}
		sched.parts = append(sched.parts, p)
	}
	return sched
}
