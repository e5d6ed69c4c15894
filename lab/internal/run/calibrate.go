package run

import (
	"context"
	"fmt"
	"time"

	"github.com/line-rate/line-rate/lab/internal/speed"
)

// A pace is the fastest that the server's core was seen at in one block: what a
// block's trials are held to.
type pace struct{ best time.Duration }

// pass runs the calibration loop once.
func (e *engine) pass(p *pace) (time.Duration, error) {
	seen, err := e.loop(e.plan.Split.Server)
	if err != nil {
		return 0, fmt.Errorf("the calibration loop: %w", err)
	}
	if p.best == 0 || seen < p.best {
		p.best = seen
	}
	if e.fastest == 0 || seen < e.fastest {
		e.fastest = seen
	}
	return seen, nil
}

// How many loops a core may take to show again the speed that it had in this block
// before, with a pause between. Before a further group it is waited for, some
// seconds, since trials at two speeds cannot be compared; after a group about one
// second, which tells a core that flickers, as shared ones were seen to several
// times a second, from one that has become slow.
const (
	loopsBefore = 80
	loopsAfter  = 12
	loopPause   = 60 * time.Millisecond
	// loopsSpare is how many loops a whole run may wait for its core beyond the
	// one that each calibration takes: about half a minute.
	loopsSpare = 350
)

// calibrated measures one group between two calibrations of the server's core.
func (e *engine) calibrated(ctx context.Context, sequence []int, p *pace) (measured, error) {
	before, err := e.speed(ctx, p, loopsBefore)
	if err != nil {
		return measured{}, err
	}
	m, err := e.turn(ctx, sequence)
	if err != nil {
		return m, err
	}
	after, err := e.speed(ctx, p, loopsAfter)
	if err != nil {
		return m, err
	}
	for i := range m.trials {
		t := &m.trials[i]
		t.Metrics["calibration_before_s"], t.Metrics["calibration_after_s"] = before.Seconds(), after.Seconds()
	}
	return m, nil
}

// speed runs the calibration loop until it finds the core as fast as it was in this
// block, or so many times, and returns the fastest it saw. The first loop of a block
// has nothing to be held to: a core that is slow all the block long slows all of its
// conditions, and waiting for minutes would only spend the budget.
func (e *engine) speed(ctx context.Context, p *pace, loops int) (fastest time.Duration, err error) {
	for i := 1; ; i++ {
		seen, err := e.pass(p)
		if err != nil {
			return 0, err
		}
		if fastest == 0 || seen < fastest {
			fastest = seen
		}
		if !speed.Slow(p.best, fastest) || i == loops || e.spare == 0 {
			return fastest, nil
		}
		e.spare--
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-time.After(e.pause):
		}
	}
}
