package session

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/line-rate/line-rate/lab/internal/derive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// claims are those of the experiment, with their verdicts now. What was not measured is open.
func (o *outcome) claims() []verdict.Claim {
	if o.verdicts != nil {
		return o.verdicts.Claims
	}
	not := verdict.Inconclusive
	if o.unable {
		not = verdict.NotApplicable
	}
	return strict.Called(o.experiment.Claims, func(c experiment.Claim) verdict.Claim {
		return verdict.Claim{ID: c.ID, Verdict: not, Reason: "not measured: " + o.unmade}
	})
}

// A tally counts the claims of a call by their verdicts.
type tally map[verdict.Verdict]int

func (s *Session) tally() tally {
	of := tally{}
	for _, o := range s.outcomes {
		for _, c := range o.claims() {
			of[c.Verdict]++
		}
	}
	return of
}

// decided is how many claims have a verdict that decides them, and all how many there are.
func (t tally) decided() int { return t[verdict.Reproduced] + t[verdict.Refuted] }
func (t tally) all() (n int) {
	for _, of := range t {
		n += of
	}
	return n
}

// A Standing says how claims stand, from good to bad.
type Standing int

const (
	Held    Standing = iota // each holds or is not applicable
	NotHeld                 // some is refuted or inconclusive
	Invalid                 // the trials of some allow no verdict
)

// standing is that of the worst verdict.
func (t tally) standing() Standing {
	switch {
	case t[verdict.Invalid] > 0:
		return Invalid
	case t[verdict.Refuted]+t[verdict.Inconclusive] > 0:
		return NotHeld
	}
	return Held
}

// report prints the table of claims, the paths of the results, how disturbed the machine was, what faults
// refused, which claims need more blocks, and how many are decided.
func (s *Session) report(out io.Writer) {
	whose, err := derive.Whose(s.j.Root)
	if err != nil {
		fmt.Fprintf(out, "warning: %v; so what holds is called confirmed here, whoever claimed it\n", err)
	}
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CLAIM\tVERDICT\tFIGURES")
	var open []string
	for _, o := range s.outcomes {
		for _, c := range o.claims() {
			name := o.experiment.Name + "/" + c.ID
			fmt.Fprintf(table, "%s\t%s\t%s\n", name, whose[name].Word(c.Verdict), c.Reason)
			switch {
			case c.Open && c.VisitsNeeded > 0:
				open = append(open, fmt.Sprintf("%s (about %d)", name, c.VisitsNeeded))
			case c.Open:
				open = append(open, name)
			}
		}
	}
	table.Flush()
	fmt.Fprintln(out)
	var made []*results.File
	for _, o := range s.outcomes {
		for _, f := range o.runs {
			made = append(made, f)
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
	printDisturbance(out, made)
	if len(open) > 0 {
		fmt.Fprintf(out, "open for want of blocks: %s\nlab reproduce goes on from here: the blocks made in this clone count.\n",
			strings.Join(open, ", "))
	}
	t := s.tally()
	fmt.Fprintf(out, "%d of %s decided here; %d not applicable\n", t.decided(), words.Count(t.all(), "claim"), t[verdict.NotApplicable])
}

// printDisturbance says how disturbed the machine was, and how many blocks each fault refused.
func printDisturbance(out io.Writer, made []*results.File) {
	var figures []map[string]float64
	blocks, refused, shared, faults := 0, 0, false, map[string]int{}
	for _, f := range made {
		blocks += f.Provenance.Blocks
		shared = shared || f.SharedCores()
		seen := map[int]map[string]bool{} // the faults of each block
		for _, t := range f.Trials {
			figures = append(figures, t.Metrics)
			for _, why := range t.Reasons {
				if seen[t.Block] == nil {
					seen[t.Block] = map[string]bool{}
				}
				seen[t.Block][why.Gate] = true
			}
		}
		refused += len(seen)
		for _, of := range seen {
			for name := range of {
				faults[name]++
			}
		}
	}
	if why := gate.Disturbed(figures, shared).String(); why != "" {
		fmt.Fprintln(out, why)
	}
	if refused > 0 {
		fmt.Fprintf(out, "faults refused %d of %s: %s\n", refused, words.Count(blocks, "block"), words.Tally(faults))
	}
}
