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
	over bool          // the run has ended
	f    *results.File // what was kept of it; nil if nothing was
	err  error
}

// visit has an experiment measured for one block, or, to stay, for so many as the run
// makes, at most so many if that is not 0.
func (b *bench) visit(ctx context.Context, o *outcome, budget time.Duration, stay bool, blocks int) returned {
	if o.open != nil {
		return o.leave("")
	}
	g := &guest{make(chan results.Ended), make(chan returned)}
	turn := func() results.Ended {
		g.back <- returned{}
		return <-g.turn
	}
	if stay {
		turn = nil
	}
	o.open = g
	go func() {
		f, err := b.make(ctx, o, budget, blocks, turn)
		g.back <- returned{true, f, err}
	}()
	return o.came(<-g.back)
}

// leave gives the open run a turn, or ends it for that reason.
func (o *outcome) leave(why results.Ended) returned {
	o.open.turn <- why
	return o.came(<-o.open.back)
}

// came takes over what came of a turn.
func (o *outcome) came(r returned) returned {
	if r.over {
		o.open = nil
		if r.f != nil {
			o.made = append(o.made, r.f)
			o.record.add(r.f, o.x)
		}
		o.says = o.record.said() // without a run that could not be kept
	}
	return r
}

// blocks is how many blocks were kept of a run that is over.
func (r returned) blocks() int {
	if r.f == nil {
		return 0
	}
	return r.f.Provenance.Blocks
}

// close ends the runs under way, each of which keeps its blocks.
func (b *bench) close(ctx context.Context, outcomes []*outcome, cut bool) (failed error) {
	why := results.Budget
	if cut = cut || ctx.Err() != nil; cut {
		why = results.Interrupted
	}
	for _, o := range outcomes {
		if o.open == nil {
			continue
		}
		switch r := o.leave(why); {
		case r.err != nil:
			failed = errors.Join(failed, fmt.Errorf("%s: %w", o.x.Name, r.err))
		case cut:
			b.report.Say("kept %s of a run of %s that was cut short", count(r.blocks(), "block", "blocks"), o.x.Name)
		}
	}
	return failed
}

// sleep waits, unless the call is interrupted.
func sleep(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(length):
		return nil
	}
}

// spend measures whatever is worth most, until the budget is spent.
func (b *bench) spend(ctx context.Context, outcomes []*outcome, budget time.Duration, stay bool) (failed error) {
	s := &spend{whole: budget, until: b.now().Add(budget), stay: stay}
	for _, o := range outcomes {
		p := &part{block: b.plan(o.x).BlockTime(), clear: clearCase(o.x, b.profile.Cores), most: b.Blocks, over: o.unmade != ""}
		for _, c := range o.x.Claims {
			if c.Needs.Cores <= b.profile.Cores {
				p.claims++
			}
		}
		if p.claims == 0 || b.plan(o.x).Unreachable() != "" {
			p.block, p.claims, p.clear = time.Millisecond, max(1, p.claims), 1 // saying why it is not measured takes no time
		}
		if !stay {
			p.say(o.says)
		}
		s.parts = append(s.parts, p)
	}
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
		began, blocks := b.now(), 0
		if p.most > 0 {
			blocks = p.most - p.made
		}
		r := b.visit(ctx, o, max(time.Second, s.until.Sub(began).Round(time.Second)), stay, blocks)
		blocks = 1
		if stay {
			blocks = r.blocks()
		}
		p.took(blocks, b.now().Sub(began), b.now())
		p.say(o.says)
		if r.over && (r.blocks() == 0 || r.f.Provenance.Ended == results.Failing) {
			p.over = true
		}
		if r.err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", o.x.Name, r.err))
			if p.over = true; r.f == nil {
				o.unmade = "the run failed"
			}
		}
	}
	failed = errors.Join(failed, b.close(ctx, outcomes, failed != nil && !b.KeepGoing))
	for i, o := range outcomes {
		switch p := s.parts[i]; {
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
