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

// tuneKernel turns a knob of the kernel, or says what turning it would write.
func tuneKernel(_ context.Context, args []string, out io.Writer) (int, error) {
	call, err := tune.Read(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(out, tune.Usage())
		return exitHeld, nil
	}
	if err != nil {
		return exitFailed, fmt.Errorf("tune: %w; see lab tune -h", err)
	}
	var ended tune.Ended
	switch err := call.Run(out, os.Stderr); {
	case errors.Is(err, tune.ErrDiffers):
		return exitNotHeld, nil
	case errors.As(err, &ended) && ended.Status > 0:
		return ended.Status, nil // it has said why
	case err != nil:
		return exitFailed, err
	}
	return exitHeld, nil
}
