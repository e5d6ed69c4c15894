package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/line-rate/line-rate/lab/internal/tune"
)

// A tuneCall turns a knob of the kernel, or prints what turning it would write. The knob
// defines what its arguments mean.
type tuneCall struct {
	Call []string `arg:"" optional:"" name:"argument"`
}

func (tuneCall) Help() string { return tune.Usage() }

func (c tuneCall) do(_ context.Context, out io.Writer) (int, error) {
	call, err := tune.Read(c.Call)
	if errors.Is(err, flag.ErrHelp) {
		return exitFailed, err
	}
	if err != nil {
		return exitFailed, fmt.Errorf("tune: %w; see lab tune -h", err)
	}
	var ended tune.Ended
	switch err := call.Run(out, os.Stderr); {
	case errors.Is(err, tune.ErrDiffers):
		return exitNotHeld, nil
	case errors.As(err, &ended) && ended.Status > 0:
		return ended.Status, nil // the script has printed why
	case err != nil:
		return exitFailed, err
	}
	return exitHeld, nil
}
