package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/session"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

type runCall struct {
	Names []string `arg:"" optional:"" name:"name" help:"Experiments, as 11-threads, or entries, as 11, for all of their experiments."`
	Core  bool     `help:"The core set, asked anew: only blocks that were measured in this clone count."`
	All   bool     `help:"All experiments."`
	session.Options
}

// The default limits on time: with building and the site, the core set must be done within five
// minutes, and everything within 25.
const (
	coreBudget = 225 * time.Second
	allBudget  = 24 * time.Minute
)

// do measures the chosen experiments within one budget.
func (c *runCall) do(ctx context.Context, out io.Writer) (int, error) {
	root, err := journal.Find(".")
	if err != nil {
		return exitFailed, err
	}
	xs, err := experiment.LoadDir(root.Experiments())
	if err == nil {
		xs, err = c.choose(xs) // refuse a wrong name at once; reading the journal takes seconds
	}
	if err != nil {
		return exitFailed, err
	}
	o := c.Options
	switch o.Anew = c.Core; {
	case o.Budget > 0:
	case c.Core:
		o.Budget = coreBudget
	case c.All:
		o.Budget = allBudget
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
	held, err := s.Measure(ctx, xs, out)
	switch {
	case err != nil:
		return exitFailed, err
	case !held:
		return exitNotHeld, nil
	}
	return exitHeld, nil
}

// choose picks the named experiments and those of the named entries, or all, or the core set.
func (c *runCall) choose(xs []*experiment.Experiment) ([]*experiment.Experiment, error) {
	ways := strict.Count([]bool{len(c.Names) > 0, c.Core, c.All}, func(said bool) bool { return said })
	if ways != 1 {
		return nil, errors.New("name experiments or entries, or say --core, or --all: one of these")
	}
	var known []string
	for _, x := range xs {
		known = append(known, x.Entry, x.Name)
	}
	for _, name := range c.Names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("no experiment and no entry %q; %s", name, strict.Instead(name, slices.Compact(known)))
		}
	}
	return strict.Filter(xs, func(x *experiment.Experiment) bool {
		return c.All || c.Core && x.Core || slices.Contains(c.Names, x.Name) || slices.Contains(c.Names, x.Entry)
	}), nil
}
