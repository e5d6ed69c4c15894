package run

import (
	"context"
	"fmt"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/slots"
)

// calibrated measures one group between two loops on the server's core, which tell its speed. A
// slow core refuses nothing: it slows all conditions of a group alike.
func (e *engine) calibrated(ctx context.Context, sequence []int) (measured, error) {
	before, err := e.speed()
	if err != nil {
		return measured{}, err
	}
	m, err := e.group(ctx, sequence)
	if err != nil {
		return m, err
	}
	after, err := e.speed()
	if err != nil {
		return m, err
	}
	for i := range m.trials {
		t := &m.trials[i]
		t.Metrics["calibration_before_s"], t.Metrics["calibration_after_s"] = before.Seconds(), after.Seconds()
		slots.Round(t.Metrics)
	}
	return m, nil
}

// speed times the loop once.
func (e *engine) speed() (time.Duration, error) {
	seen, err := cores.TimeLoop(e.plan.Split.Server)
	if err != nil {
		return 0, fmt.Errorf("the calibration loop: %w", err)
	}
	if e.fastest == 0 || seen < e.fastest {
		e.fastest = seen
	}
	return seen, nil
}
