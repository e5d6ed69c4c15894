package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/session"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

type runCall struct {
	Experiment string `arg:"" help:"Its name, as that of its file in lab/experiments."`
	Blocks     int    `placeholder:"N" help:"N blocks at the most."`
	Scratch    bool   `help:"For trial: the run is kept out of data/, its verdicts rest on it alone, and it counts for nothing."`
	session.Options
}

// do makes one run; its claims are decided on all runs of this host.
func (c *runCall) do(ctx context.Context, out io.Writer) (int, error) {
	o := c.Options
	o.Longest, o.Single, o.Blocks, o.Trial = longest, true, c.Blocks, c.Scratch
	return spend(ctx, o, out, func(j *archive.Journal) ([]*experiment.Experiment, error) {
		x, err := j.Experiment(c.Experiment)
		return []*experiment.Experiment{x}, err
	})
}

type reproduceCall struct {
	Entries []string `arg:"" optional:"" name:"entry" help:"Entries, as 11, or experiments, as 11-threads (default: the core set)."`
	All     bool     `help:"All experiments."`
	session.Options
}

// do measures the chosen experiments within one budget. Their claims are decided only on
// runs that this clone made.
func (c *reproduceCall) do(ctx context.Context, out io.Writer) (int, error) {
	o := c.Options
	o.Longest = longest
	switch {
	case c.All:
		o.Longest = allBudget
	case len(c.Entries) == 0:
		o.Longest = coreBudget
	}
	return spend(ctx, o, out, func(j *archive.Journal) ([]*experiment.Experiment, error) {
		return choose(j.Experiments, c.Entries, c.All)
	})
}

// spend has a session measure what is picked of the journal's experiments. A wrong name is refused by
// them at once; reading all of the journal takes seconds.
func spend(ctx context.Context, o session.Options, out io.Writer,
	pick func(*archive.Journal) ([]*experiment.Experiment, error)) (int, error) {
	root, err := journal.Find(".")
	if err != nil {
		return exitFailed, err
	}
	xs, err := experiment.LoadDir(root.Experiments())
	if err == nil {
		xs, err = pick(&archive.Journal{Root: root, Experiments: xs})
	}
	if err != nil {
		return exitFailed, err
	}
	j, err := open()
	if err != nil {
		return exitFailed, err
	}
	s, err := session.Open(j, o)
	if err != nil {
		return exitFailed, err
	}
	defer s.Close()
	status, err := s.Measure(ctx, xs, out)
	if err != nil {
		return exitFailed, err
	}
	return int(status), nil
}

// choose picks the named experiments and those of the named entries, or all, or the core set.
func choose(xs []*experiment.Experiment, entries []string, all bool) ([]*experiment.Experiment, error) {
	if all && len(entries) > 0 {
		return nil, errors.New("name entries or say --all, not both")
	}
	var known []string
	for _, x := range xs {
		known = append(known, x.Entry, x.Name)
	}
	for _, e := range entries {
		if !slices.Contains(known, e) {
			return nil, fmt.Errorf("no entry and no experiment is called %q; %s", e, strict.Instead(e, slices.Compact(known)))
		}
	}
	return slices.DeleteFunc(slices.Clone(xs), func(x *experiment.Experiment) bool {
		return !all && !slices.Contains(entries, x.Entry) && !slices.Contains(entries, x.Name) && !(len(entries) == 0 && x.Core)
	}), nil
}

// The default limits on the time that reproduce takes: with building and the site, the
// core set must be done within five minutes, and all of it within 25.
const (
	coreBudget = 225 * time.Second
	allBudget  = 24 * time.Minute
	longest    = 24 * time.Hour
)
