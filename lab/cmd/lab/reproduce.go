package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/session"
)

type runCall struct {
	Experiment string `arg:"" help:"Its name, as lab list has it."`
	Blocks     int    `placeholder:"N" help:"N blocks at the most."`
	Scratch    bool   `help:"For trial: the run is kept out of data/, its verdicts rest on it alone, and it counts for nothing."`
	fleetFlags
	options
}

// do makes one run; its claims are decided on all runs of this host.
func (c *runCall) do(ctx context.Context, out io.Writer) (int, error) {
	o := c.session()
	o.Blocks, o.Trial = c.Blocks, c.Scratch
	var x *experiment.Experiment
	return c.measure(ctx, c.words(), c.options, o, out, func() (j *archive.Journal, err error) {
		j, x, err = openFor(c.Experiment)
		return j, err
	}, func(ctx context.Context, s *session.Session, out io.Writer) (session.Standing, error) {
		return s.Run(ctx, x, out)
	})
}

// words are the call as the lab on the server's host of a fleet is given it.
func (c *runCall) words() []string {
	words := []string{"run", c.Experiment}
	if c.Blocks > 0 {
		words = append(words, "--blocks", strconv.Itoa(c.Blocks))
	}
	if c.Scratch {
		words = append(words, "--scratch")
	}
	return words
}

type reproduceCall struct {
	Entries   []string `arg:"" optional:"" name:"entry" help:"Those whose experiments are meant (default: the core set)."`
	All       bool     `help:"All experiments."`
	Again     bool     `help:"What this clone measured earlier does not count."`
	KeepGoing bool     `help:"On a failed experiment go on with the next."`
	fleetFlags
	options
}

// do measures the chosen experiments within one budget. Their claims are decided only on
// runs that this clone made.
func (c *reproduceCall) do(ctx context.Context, out io.Writer) (int, error) {
	o := c.session()
	o.Again, o.KeepGoing = c.Again, c.KeepGoing
	var xs []*experiment.Experiment
	return c.measure(ctx, c.words(), c.options, o, out, func() (j *archive.Journal, err error) {
		if j, err = listExperiments(); err == nil {
			_, err = choose(j.Experiments, c.Entries, c.All)
		}
		if err == nil {
			j, err = open()
		}
		if err == nil {
			xs, err = choose(j.Experiments, c.Entries, c.All)
		}
		return j, err
	}, func(ctx context.Context, s *session.Session, out io.Writer) (session.Standing, error) {
		for _, x := range xs {
			if x.Planned != "" {
				s.Say("passed over: %s", planned(x))
			}
		}
		ready := runnable(xs)
		if len(ready) == 0 {
			return session.Invalid, errors.New("nothing to run: all that was asked for is planned")
		}
		if s.Budget == 0 {
			s.Budget = budgetOf(ready, c.Entries, c.All)
		}
		return s.Reproduce(ctx, ready, out)
	})
}

// words are the call as the lab on the server's host of a fleet is given it.
func (c *reproduceCall) words() []string {
	words := append([]string{"reproduce"}, c.Entries...)
	for name, is := range map[string]bool{"--all": c.All, "--again": c.Again, "--keep-going": c.KeepGoing} {
		if is {
			words = append(words, name)
		}
	}
	return words
}

// measure has a session here carry out a call, or the lab on the server's host of a fleet.
func (f fleetFlags) measure(
	ctx context.Context, words []string, flags options, o session.Options, out io.Writer,
	find func() (*archive.Journal, error), call func(context.Context, *session.Session, io.Writer) (session.Standing,
		error),
) (int, error) {
	if remote, err := f.remote(); err != nil {
		return exitFailed, err
	} else if remote {
		return f.runRemote(ctx, words, flags, o.Trial, out)
	}
	if f.ClientsOnStdio {
		ignoreBrokenPipe()
		o.Server, ctx = fleet.Serve(ctx, os.Stdin, os.Stdout)
		defer o.Server.Close()
	}
	j, err := find()
	if err != nil {
		return exitFailed, err
	}
	s, err := session.Open(j, o)
	if err != nil {
		return exitFailed, err
	}
	defer s.Close()
	if out, err = s.ConnectClients(ctx, out); err != nil {
		return exitFailed, err
	}
	status, err := call(ctx, s, out)
	if err == nil {
		return int(status), nil
	}
	// The end of the host that started the run may be why it ended.
	if gone, ok := errors.AsType[fleet.Gone](context.Cause(ctx)); ok {
		err = fmt.Errorf("%v: %w", gone, err)
	}
	return exitFailed, err
}
