package main

import (
	"fmt"
	"io"

	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// report prints the table of claims, the paths of the results in the journal that they
// went into, and how many claims are decided.
func report(out io.Writer, root, into journal.Root, outcomes []*outcome) {
	var rows []row
	for _, o := range outcomes {
		if o.says == nil {
			for _, c := range o.x.Claims {
				rows = append(rows, row{o.x.Name + "/" + c.ID, string(verdict.Inconclusive), "not measured: " + o.unmade})
			}
			continue
		}
		for _, c := range o.says.Claims {
			rows = append(rows, row{o.x.Name + "/" + c.ID, string(c.Verdict), c.Reason})
		}
	}
	showClaims(out, rows, columns(out))
	fmt.Fprintln(out)
	for _, o := range outcomes {
		if o.says == nil {
			continue
		}
		if wall := pages.Wall(o.says, o.x); wall != "" {
			fmt.Fprintf(out, "%s: %s\n", o.x.Name, wall)
		}
	}
	for _, o := range outcomes {
		for _, f := range o.made {
			about, invalid := "", 0
			for _, t := range f.Trials {
				if !t.Valid {
					invalid++
				}
			}
			if invalid > 0 {
				about = fmt.Sprintf(" (%d of %d trials invalid)", invalid, len(f.Trials))
			}
			if why := f.Provenance.StoppedEarly; why != "" {
				about += "; stopped early: " + why
			}
			fmt.Fprintf(out, "results: %s%s\n", root.Rel(into.Result(f.Experiment, f.Run)), about)
			if o.least > 0 {
				stayed(out, o, f)
			}
		}
	}
	restless(out, outcomes)
	decided, claims, inapplicable := tally(outcomes)
	fmt.Fprintf(out, "%d of %s decided here; %d not applicable\n", decided, count(claims, "claim", "claims"), inapplicable)
}

// status is the exit status of the worst verdict.
func status(outcomes []*outcome) int {
	worst := exitHeld
	for _, o := range outcomes {
		if o.says == nil {
			worst = max(worst, exitNotHeld)
			continue
		}
		for _, c := range o.says.Claims {
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
