package main

import (
	"context"
	"io"

	"github.com/line-rate/line-rate/lab/internal/probe"
)

// An answersCall compares some of a server's answers with those of its catalogue. The lab
// calls it before and after a trial, on the client's side of the wire; it has no other use.
type answersCall struct {
	probe.Check
}

func (c *answersCall) do(ctx context.Context, out io.Writer) (int, error) {
	return exitHeld, c.Run(ctx, out)
}
