package session

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/line-rate/line-rate/lab/internal/derive"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// report prints the table of claims, the paths of the results, and how many claims are decided.
func (s *Session) report(out io.Writer) {
	whose, err := derive.Whose(s.j.Root)
	if err != nil {
		fmt.Fprintf(out, "warning: %v; so what holds is called confirmed here, whoever claimed it\n", err)
	}
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CLAIM\tVERDICT\tFIGURES")
	row := func(o *Outcome, claim string, v verdict.Verdict, why string) {
		name := o.Experiment.Name + "/" + claim
		fmt.Fprintf(table, "%s\t%s\t%s\n", name, whose[name].Word(v), why)
	}
	for _, o := range s.outcomes {
		if o.Verdicts == nil {
			for _, c := range o.Experiment.Claims {
				row(o, c.ID, o.unmade(), "not measured: "+o.Unmade)
			}
			continue
		}
		for _, c := range o.Verdicts.Claims {
			row(o, c.ID, c.Verdict, c.Reason)
		}
	}
	table.Flush()
	fmt.Fprintln(out)
	for _, o := range s.outcomes {
		for _, f := range o.Runs {
			about, invalid := "", strict.Count(f.Trials, func(t results.Trial) bool { return !t.Valid })
			if invalid > 0 {
				about = fmt.Sprintf(" (%d of %d trials invalid)", invalid, len(f.Trials))
			}
			if why := f.Provenance.StoppedEarly; why != "" {
				about += "; stopped early: " + why
			}
			fmt.Fprintf(out, "results: %s%s\n", s.j.Root.Rel(s.destination().Result(f.Experiment, f.Run)), about)
		}
	}
	printOpen(out, s.outcomes)
	of, claims := tally(s.outcomes)
	fmt.Fprintf(out, "%d of %s decided here; %d not applicable\n", decisions(of), words.Count(claims, "claim"),
		of[verdict.NotApplicable])
}

// unmade is what claims are of which nothing was measured.
func (o *Outcome) unmade() verdict.Verdict {
	if o.Unable {
		return verdict.NotApplicable
	}
	return verdict.Inconclusive
}

// A Standing says how claims stand, from good to bad.
type Standing int

const (
	Held    Standing = iota // each holds or is not applicable
	NotHeld                 // some is refuted or inconclusive
	Invalid                 // the trials of some allow no verdict
)

// standing is that of the worst verdict.
func standing(outcomes []*Outcome) Standing {
	switch of, _ := tally(outcomes); {
	case of[verdict.Invalid] > 0:
		return Invalid
	case of[verdict.Refuted]+of[verdict.Inconclusive] > 0:
		return NotHeld
	}
	return Held
}

// tally counts the claims, and those of each verdict. What was not measured is open.
func tally(outcomes []*Outcome) (of map[verdict.Verdict]int, claims int) {
	of = map[verdict.Verdict]int{}
	for _, o := range outcomes {
		claims += len(o.Experiment.Claims)
		if o.Verdicts == nil {
			of[o.unmade()] += len(o.Experiment.Claims)
			continue
		}
		for _, c := range o.Verdicts.Claims {
			of[c.Verdict]++
		}
	}
	return of, claims
}

// decisions is how many claims have a verdict that decides them.
func decisions(of map[verdict.Verdict]int) int { return of[verdict.Reproduced] + of[verdict.Refuted] }

// printOpen says what faults refused in a call, how disturbed the machine was, and which claims
// need more blocks.
func printOpen(out io.Writer, outcomes []*Outcome) {
	made, refused, faults, open := 0, 0, map[string]int{}, ""
	var figures []map[string]float64
	shared := false
	for _, o := range outcomes {
		for _, f := range o.Runs {
			made += f.Provenance.Blocks
			refused += refusals(f, faults)
			shared = shared || f.SharedCores()
			for _, t := range f.Trials {
				figures = append(figures, t.Metrics)
			}
		}
		if o.Verdicts == nil {
			continue
		}
		for _, c := range o.Verdicts.Claims {
			switch name := ", " + o.Experiment.Name + "/" + c.ID; {
			case !c.Open:
			case c.VisitsNeeded > 0:
				open += fmt.Sprintf("%s (about %d)", name, c.VisitsNeeded)
			default:
				open += name
			}
		}
	}
	if why := gate.Disturbed(figures, shared).String(); why != "" {
		fmt.Fprintln(out, why)
	}
	if refused > 0 {
		names := ""
		for _, g := range slices.Sorted(maps.Keys(faults)) {
			names += fmt.Sprintf(", %s %d", g, faults[g])
		}
		fmt.Fprintf(out, "faults refused %d of %s: %s\n", refused, words.Count(made, "block"), names[2:])
	}
	if open != "" {
		fmt.Fprintf(out, "open for want of blocks: %s\nlab reproduce goes on from here: the blocks made in this clone count.\n",
			open[2:])
	}
}

// refusals counts the blocks of which a fault refused a trial, and adds them to the faults.
func refusals(f *results.File, faults map[string]int) int {
	type one struct {
		block int
		gate  string
	}
	seen, blocks := map[one]bool{}, map[int]bool{}
	for _, t := range f.Trials {
		for _, why := range t.Reasons {
			if at := (one{t.Block, why.Gate}); !seen[at] {
				seen[at] = true
				faults[why.Gate]++
			}
			blocks[t.Block] = true
		}
	}
	return len(blocks)
}
