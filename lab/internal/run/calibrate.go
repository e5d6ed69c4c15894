package run

import (
	"context"
	"fmt"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// How often the calibration loop may run, with a pause between, until a core
// shows the speed that it had before. Before a block the loops take a third of
// a second: the speed of a shared core may flicker several times a second, so
// its best speed soon shows, and a core that is slow for longer slows the whole
// block alike. The first block has no best speed to compare with and always runs
// all of these loops, since an idle core is slow at first. Before a further group
// they take some seconds, since trials at two speeds cannot be compared. After a
// group they take about one second, which tells a core that flickers from one
// that has become slow.
const (
	loopsFirst  = 4
	loopsBefore = 80
	loopsAfter  = 12
	loopPause   = 60 * time.Millisecond
	// loopsSpare is how many loops a whole run may spend waiting for its core,
	// beyond the first loop of each calibration: about half a minute.
	loopsSpare = 350
)

// calibrated measures one group between two calibrations of the server's core.
// best is the fastest calibration of the block so far; 0 before the first.
func (e *engine) calibrated(ctx context.Context, sequence []int, best *time.Duration) (measured, error) {
	reference, loops := *best, loopsBefore
	if reference == 0 {
		reference, loops = e.fastest, loopsFirst
	}
	before, err := e.speed(ctx, reference, loops)
	if err != nil {
		return measured{}, err
	}
	*best = faster(*best, before)
	m, err := e.turn(ctx, sequence)
	if err != nil {
		return m, err
	}
	after, err := e.speed(ctx, *best, loopsAfter)
	if err != nil {
		return m, err
	}
	*best = faster(*best, after)
	for i := range m.trials {
		t := &m.trials[i]
		t.Metrics["calibration_before_s"], t.Metrics["calibration_after_s"] = before.Seconds(), after.Seconds()
		results.Round(t.Metrics)
	}
	return m, nil
}

// faster is the shorter of two times, where 0 means unknown.
func faster(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// speed runs the calibration loop until the core is as fast as the reference,
// but at most that many times, and returns the fastest time seen. If the
// reference is 0, no speed is fast enough to stop early.
func (e *engine) speed(ctx context.Context, reference time.Duration, loops int) (fastest time.Duration, err error) {
	for i := 1; ; i++ {
		seen, err := e.loop(e.plan.Split.Server)
		if err != nil {
			return 0, fmt.Errorf("the calibration loop: %w", err)
		}
		fastest = faster(fastest, seen)
		e.fastest = faster(e.fastest, seen)
		if reference > 0 && !cores.Slow(faster(reference, seen), fastest) || i == loops || e.spare == 0 {
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
