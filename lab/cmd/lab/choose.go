package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/journal"
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
