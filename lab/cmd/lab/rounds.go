package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/line-rate/line-rate/lab/internal/results"
)

// A guest is a run under way. It has a goroutine of its own, which does something only
// from when it is given a turn until it gives the turn back, after a block or at its end:
// so one run measures at a time, and all else of a bench needs no lock.
type guest struct {
	turn chan results.Ended // empty for one more block; else why the run ends
	back chan returned
}

// returned is what came of a turn.
type returned struct {
	over   bool // the run has ended
	blocks int  // of this turn
	err    error
}

// turn has an experiment measured for one block, or ends its run for that reason. Without
// breaks, it is measured for so many blocks as the run makes, at most so many if most is
// not 0.
func (b *bench) turn(
	ctx context.Context, o *outcome, why results.Ended, budget time.Duration, breaks bool, most int,
) returned {
	if g := o.open; g != nil {
		g.turn <- why
		return <-g.back
	}
	g := &guest{make(chan results.Ended), make(chan returned)}
	before := 0 // blocks of earlier turns
	var rest func() results.Ended
	if breaks {
		rest = func() results.Ended {
			before++
			g.back <- returned{blocks: 1}
			return <-g.turn
		}
	}
	o.open = g
	go func() {
		f, err := b.make(ctx, o, budget, most, rest)
		r := returned{over: true, err: err}
		if o.open = nil; f != nil {
			r.blocks = f.Provenance.Blocks - before
			o.made = append(o.made, f)
			o.record.add(f, o.x)
		}
		o.says = o.record.said() // without a run that could not be kept
		g.back <- r
	}()
	return <-g.back
}

// spend measures whatever is worth most, until the budget is spent.
func (b *bench) spend(ctx context.Context, outcomes []*outcome, budget time.Duration, stay bool) (failed error) {
	s := b.shares(outcomes, budget, stay)
	for failed == nil || b.KeepGoing && ctx.Err() == nil {
		at, wait, ok := s.next(b.now())
		if !ok {
			break
		}
		o, p := outcomes[at], s.parts[at]
		if wait > 0 {
			b.report.Pause(o.x, wait)
			if b.sleep(ctx, wait) != nil {
				failed = errors.Join(failed, errors.New("interrupted between two blocks"))
			}
			continue
		}
		if !stay {
			b.report.Visit(o.x, p.made+1)
		}
		began := b.now()
		r := b.turn(ctx, o, "", max(time.Second, s.until.Sub(began).Round(time.Second)), !stay, max(0, p.most-p.made))
		s.made(p, r.blocks, b.now().Sub(began), b.now())
		p.say(o.says)
		if r.over && (len(o.made) == 0 || r.err != nil || dead(o.made[len(o.made)-1])) {
			p.over = true
		}
		if r.err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", o.x.Name, r.err))
			if len(o.made) == 0 {
				o.unmade = "the run failed"
			}
		}
	}
	why := results.Budget
	if ctx.Err() != nil || failed != nil && !b.KeepGoing {
		why = results.Interrupted
	}
	for i, o := range outcomes {
		p := s.parts[i]
		if o.open != nil {
			switch r := b.turn(ctx, o, why, 0, true, 0); {
			case r.err != nil:
				failed = errors.Join(failed, fmt.Errorf("%s: %w", o.x.Name, r.err))
			case why == results.Interrupted:
				n := o.made[len(o.made)-1].Provenance.Blocks
				b.report.Say("kept %s of a run of %s that was cut short", count(n, "block", "blocks"), o.x.Name)
			}
		}
		switch {
		case p.over || p.made > 0:
		case failed != nil:
			o.unmade = "something else failed before"
		default:
			o.unmade = fmt.Sprintf("it takes about %s, in %s at least %s apart, for which the budget has no room",
				short(time.Duration(p.clear)*p.block), count(p.clear, "block", "blocks"), short(visitGap))
		}
	}
	return failed
}

// dead tells whether a run measured nothing, or nothing any more.
func dead(f *results.File) bool {
	return f.Provenance.Blocks == 0 || f.Provenance.Ended == results.Failing
}

// shares are the parts that the outcomes have in the budget.
func (b *bench) shares(outcomes []*outcome, budget time.Duration, stay bool) *spend {
	s := &spend{until: b.now().Add(budget), stay: stay}
	for _, o := range outcomes {
		p := &part{block: b.plan(o.x).BlockTime(), most: b.Blocks, over: o.unmade != ""}
		p.clear = clearCase(o.x, b.profile.Cores)
		for _, c := range o.x.Claims {
			if c.Needs.Cores <= b.profile.Cores {
				p.claims++
			}
		}
		if p.claims == 0 || b.plan(o.x).Unreachable() != "" {
			p.block, p.claims, p.clear = time.Millisecond, 1, 1 // saying why it is not measured takes no time
		}
		if !stay {
			p.say(o.says)
		}
		s.parts = append(s.parts, p)
	}
	return s
}
