package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/line-rate/line-rate/lab/internal/shaper"
	"github.com/line-rate/line-rate/lab/internal/shaper/queue"
)

// A shaperCall prints the counters of an interface's shaper until it is ended. The lab
// calls it inside the wire's namespaces; it has no other use.
type shaperCall struct {
	Interface string `arg:""`
}

func (c shaperCall) do(ctx context.Context, out io.Writer) (int, error) {
	q, err := queue.Open(c.Interface)
	if err != nil {
		return exitFailed, err
	}
	defer q.Close()
	tick := time.NewTicker(shaper.Every)
	defer tick.Stop()
	for {
		r, err := q.Read()
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
