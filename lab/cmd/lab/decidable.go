package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
)

// undecidable finds the designs whose own budget has no room for as many blocks as their
// claims take even if all blocks agree. For one that has been measured, a block is enough,
// since the blocks of several runs add up.
func undecidable(j *archive.Journal) (faults []archive.Fault) {
	for _, x := range runnable(j.Experiments) {
		least := clearCase(x, math.MaxInt)
		if slices.ContainsFunc(j.Runs, func(f *results.File) bool { return f.Experiment == x.Name && f.Source == results.Measured }) {
			least = 1
		}
		if err := decidable(x, least); err != nil {
			faults = append(faults, archive.Fault{Path: j.Root.Rel(j.Root.Experiment(x.Name)), Err: err})
		}
	}
	return faults
}

func decidable(x *experiment.Experiment, least int) error {
	block := run.BlockTime(x)
	holds := int(time.Duration(x.BudgetS*float64(time.Second)) / block)
	if holds >= least {
		return nil
	}
	return fmt.Errorf("budget_s = %v: it holds %s of about %.1f s, and %d are the least that tell; give %.0f s or more, or shorten [block]",
		x.BudgetS, count(holds, "block", "blocks"), block.Seconds(), least, math.Ceil(float64(least)*block.Seconds()))
}
