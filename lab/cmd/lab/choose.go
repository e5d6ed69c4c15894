package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/session"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// listExperiments gives the journal's experiments alone.
func listExperiments() (*archive.Journal, error) {
	root, err := journal.Find(".")
	if err != nil {
		return nil, err
	}
	xs, err := experiment.LoadDir(root.Experiments())
	return &archive.Journal{Root: root, Experiments: xs}, err
}

// openFor opens the journal for what is picked of its experiments. A wrong name is refused by them
// at once; reading all of the journal takes seconds.
func openFor[T any](pick func(*archive.Journal) (T, error)) (j *archive.Journal, picked T, err error) {
	some, err := listExperiments()
	if err == nil {
		_, err = pick(some)
	}
	if err == nil {
		j, err = open()
	}
	if err == nil {
		picked, err = pick(j)
	}
	return j, picked, err
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
)

// budgetOf is the time that the chosen experiments ask for together, within those limits.
func budgetOf(xs []*experiment.Experiment, entries []string, all bool) time.Duration {
	asked := session.TimeFor(xs)
	switch {
	case all:
		return min(asked, allBudget)
	case len(entries) == 0:
		return min(asked, coreBudget)
	}
	return min(asked, longest)
}
