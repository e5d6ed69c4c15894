package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// An outcome is one finished run with its verdicts.
type outcome struct {
	experiment *experiment.Experiment
	results    *results.File
	verdicts   *verdict.File
}

// report prints the table of claims, then where the results are.
func report(out io.Writer, root journal.Root, done []outcome) {
	if len(done) == 0 {
		return
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nCLAIM\tVERDICT\tFIGURES")
	for _, o := range done {
		for _, c := range o.verdicts.Claims {
			fmt.Fprintf(w, "%s/%s\t%s\t%s\n", o.experiment.Name, c.ID, c.Verdict, c.Reason)
		}
	}
	w.Flush()
	fmt.Fprintln(out)
	for _, o := range done {
		invalid := ""
		if n := o.verdicts.InvalidTrials; n > 0 {
			invalid = fmt.Sprintf(" (%d of %d trials invalid)", n, o.verdicts.Trials)
		}
		if why := o.results.Provenance.StoppedEarly; why != "" {
			invalid += "; stopped early: " + why
		}
		fmt.Fprintf(out, "results: %s%s\n", root.Rel(root.Result(o.results.Experiment, o.results.Run)), invalid)
	}
}

// status is the exit status of the worst verdict.
func status(done []outcome) int {
	worst := exitHeld
	for _, o := range done {
		if !o.results.Complete() {
			worst = max(worst, exitInvalid)
		}
		for _, c := range o.verdicts.Claims {
			switch c.Verdict {
			case verdict.Refuted, verdict.Inconclusive:
				worst = max(worst, exitNotHeld)
			case verdict.Invalid:
				worst = max(worst, exitInvalid)
			}
		}
	}
	return worst
}
