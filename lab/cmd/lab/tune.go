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

func (tuneCall) Help() string {
	return `Actions:

  plan     print every write that apply would make; changes nothing, needs no root
  show     list what is turned, with the originals; without a knob, of all
  apply    save every original, then write and read back
  restore  write the originals back and forget them; without a knob, of all
  hold     apply, print "tune ready", and restore when standard input ends or on SIGTERM

Knobs, each with its options:

` + tune.Usage()
}

func (c tuneCall) do(_ context.Context, out io.Writer) (int, error) {
	if err := tune.Do(c.Action, c.Knob, c.Options, out); err != nil {
		return exitFailed, err
	}
	return exitHeld, nil
}
