package run

import (
	"context"
	"fmt"
	"time"

	"github.com/line-rate/line-rate/lab/internal/speed"
)

// calibrate finds the server's core's own full speed, as far as it shows it
// now. A faster pass that turns up later takes this one's place.
func (e *engine) calibrate() error {
	const passes = 10
	for range passes {
		if _, err := e.pass(); err != nil {
			return err
		}
	}
	return nil
}

// pass runs the calibration loop once.
func (e *engine) pass() (time.Duration, error) {
	seen, err := e.loop(e.plan.Split.Server)
	if err != nil {
		return 0, fmt.Errorf("the calibration loop: %w", err)
	}
	if e.reference == 0 || seen < e.reference {
		e.reference = seen
	}
	return seen, nil
}

// How many loops a core may take to show its full speed, with a pause between.
// Before a group it is waited for, some seconds, since trials on a slow core
// would count for nothing; after it about one second, which tells a core that
// flickers, as shared ones were seen to several times a second, from one that
// is slow.
const (
	loopsBefore = 80
	loopsAfter  = 12
	loopPause   = 60 * time.Millisecond
	// loopsSpare is how many loops a whole run may wait for its core beyond the
	// one that each calibration takes: about half a minute.
	loopsSpare = 350
)

// calibrated measures one group between two calibrations of the server's core.
func (e *engine) calibrated(ctx context.Context, sequence []int) (measured, error) {
	before, err := e.speed(ctx, loopsBefore)
	if err != nil {
		return measured{}, err
	}
	m, err := e.turn(ctx, sequence)
	if err != nil {
		return m, err
	}
	after, err := e.speed(ctx, loopsAfter)
	if err != nil {
		return m, err
	}
	for i := range m.trials {
		t := &m.trials[i]
		t.Metrics["calibration_before_s"], t.Metrics["calibration_after_s"] = before.Seconds(), after.Seconds()
		slow(t, e.reference)
	}
	return m, nil
}

// speed runs the calibration loop until it finds the core at its full speed, or
// so many times, and returns the fastest it saw.
func (e *engine) speed(ctx context.Context, loops int) (fastest time.Duration, err error) {
	for i := 1; ; i++ {
		seen, err := e.pass()
		if err != nil {
			return 0, err
		}
		if fastest == 0 || seen < fastest {
			fastest = seen
		}
		if !speed.Slow(e.reference, fastest) || i == loops || e.spare == 0 {
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

// recheck holds the valid trials against the fastest calibration of the whole
// run, which may have come after them.
func (e *engine) recheck() {
	for i := range e.file.Trials {
		if t := &e.file.Trials[i]; t.Valid {
			slow(t, e.reference)
		}
	}
}
