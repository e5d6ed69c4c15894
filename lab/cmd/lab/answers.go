package main

import (
	"context"
	"io"
	"os"

	"github.com/line-rate/line-rate/lab/internal/answer"
)

// watchAnswers compares a server's answers with those of its catalogue. The lab
// starts it beside each trial, on the client's side of the wire; nobody else
// needs it.
func watchAnswers(ctx context.Context, args []string, out io.Writer) (int, error) {
	if err := answer.Watch(ctx, args, os.Stdin, out); err != nil {
		return exitFailed, err
	}
	return exitHeld, nil
}
