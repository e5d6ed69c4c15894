package main

import (
	"context"
	"io"

	"github.com/line-rate/line-rate/lab/internal/tune"
)

// A tuneCall turns a knob of the kernel, or prints what turning it would write.
type tuneCall struct {
	Action string `arg:"" enum:"plan,show,apply,restore,hold" help:"One of these."`
	Knob   string `arg:"" optional:"" help:"Which; without one, show and restore are of all."`
	tune.Options
}

func (c tuneCall) do(_ context.Context, out io.Writer) (int, error) {
	if err := tune.Do(c.Action, c.Knob, c.Options, out); err != nil {
		return exitFailed, err
	}
	return exitHeld, nil
}
