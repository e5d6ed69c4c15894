// Package loader carries out plans of load in a process of their own: linerate load --plan. It adds to package load what the lab knows: the
// queues of a wire, HTTP/2, and in package run the bodies that its servers may answer.
package loader

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/internal/shaper"
	"github.com/line-rate/line-rate/lab/load"
	"github.com/line-rate/line-rate/lab/load/h2"
)

// Begin prepares the process. Go's runtime can then keep only one core busy; the load asks for
// more as it needs them.
func Begin() { runtime.GOMAXPROCS(1) }

// refusal is a plan that cannot be read.
type refusal struct{ error }

// Status is the exit status of the process: see package program.
func Status(err error) int {
	switch {
	case err == nil:
		return program.OK
	case errors.As(err, new(refusal)):
		return program.Refused
	case errors.Is(err, load.ErrNotReached):
		return program.NotReached
	}
	return program.Failure
}

// Input carries out the plan on an input, as JSON. At its end it keeps the connections until the
// word "end" or the end of the input.
func Input(ctx context.Context, in io.Reader, out io.Writer) error {
	plan, rest, err := load.ReadPlan(in)
	if err != nil {
		return refusal{err}
	}
	return Carry(ctx, plan, func() error {
		if err := write(out, load.Line{Held: true}); err != nil {
			return err
		}
		return await(ctx, rest)
	}, out)
}

// Carry carries out a plan, and writes a line of JSON for each slot, then a summary. hold is called
// while its connections are still open; nil: they are closed at once.
func Carry(ctx context.Context, plan *load.Plan, hold func() error, out io.Writer) error {
	report, err := load.Run(ctx, plan, Options(load.Options{
		Each: func(s load.SlotReport) error { return write(out, load.Line{Slot: &s}) }, Hold: hold,
	}))
	if err == nil {
		err = load.Line{Summary: &report.Summary}.Write(out)
	}
	return err
}

// Serve carries out turns on an input, one slot a line: see load.Serve.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return load.Serve(ctx, in, out, Options(load.Options{}))
}

// Options adds to some what the lab knows.
func Options(o load.Options) load.Options {
	o.Bodies, o.Queue, o.HTTP2, o.Version = Bodies, shaper.Open, h2.New, version()
	return o
}

func write(out io.Writer, l load.Line) error {
	if err := l.Write(out); err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	return nil
}

// Bodies are those that a server of the lab may answer; nil in a program that knows none.
var Bodies func(t load.Target) (load.Bodies, error)

// version says from which sources this program was built.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if s := program.StampOf(info); s.Sources != "" {
			return s.Sources[:min(12, len(s.Sources))]
		}
	}
	return "unknown"
}

// await waits for the word "end" or the end of the input.
func await(ctx context.Context, input io.Reader) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(input)
		for lines.Scan() && strings.TrimSpace(lines.Text()) != "end" {
		}
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return errors.New("ended by a signal while it waited to be ended")
	}
}
