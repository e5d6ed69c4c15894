package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/line-rate/line-rate/lab/internal/shaper"
)

// watchShaper prints an interface's shaper's counters until it is ended. The
// lab starts it inside the wire's namespaces; nobody else needs it.
func watchShaper(ctx context.Context, args []string, out io.Writer) (int, error) {
	if len(args) != 1 {
		return exitFailed, errors.New("watch-shaper takes the name of an interface")
	}
	queue, err := shaper.Open(args[0])
	if err != nil {
		return exitFailed, err
	}
	defer queue.Close()
	tick := time.NewTicker(shaper.Every)
	defer tick.Stop()
	for {
		r, err := queue.Read()
		if err != nil {
			return exitFailed, err
		}
		if _, err := fmt.Fprintln(out, r.Line()); err != nil {
			return exitFailed, err
		}
		select {
		case <-ctx.Done():
			return exitHeld, nil
		case <-tick.C:
		}
	}
}
