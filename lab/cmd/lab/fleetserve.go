package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/session"
)

// ignoreBrokenPipe has a lab live longer than the host that started it, to end in good
// order: otherwise writing to a connection that is gone would kill it.
func ignoreBrokenPipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// filesCall is the lab's call that gives files to lab fleet collect.
const filesCall = "fleet-files"

// An offerCall gives the runs of a fleet that lie on its server's host to the host that
// collects them.
type offerCall struct{}

func (offerCall) do(ctx context.Context, _ io.Writer) (int, error) {
	ignoreBrokenPipe()
	s, ctx := fleet.Serve(ctx, os.Stdin, os.Stdout)
	defer s.Close()
	if _, err := s.Asked(ctx); err != nil {
		return exitFailed, err
	}
	j, err := open()
	if err == nil {
		err = session.OfferAll(ctx, j, s)
	}
	return exitHeld, err
}

// An agentCall answers for a client's host.
type agentCall struct{}

func (agentCall) do(ctx context.Context, _ io.Writer) (int, error) {
	ignoreBrokenPipe()
	root, err := journal.Find(".")
	if err != nil {
		return exitFailed, err
	}
	o, err := session.Owner(root, func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) })
	if err == nil {
		err = fleet.Agent(ctx, o, os.Stdin, os.Stdout)
	}
	return exitHeld, err
}

// An answersCall compares some of a server's answers with those of its catalogue. The lab
// calls it before and after a trial, on the client's side of the wire; it has no other use.
type answersCall struct {
	probe.Check
}

func (c *answersCall) do(ctx context.Context, out io.Writer) (int, error) {
	return exitHeld, c.Run(ctx, out)
}
