package session

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// claims are those of the experiment, with their verdicts now. What was not measured is open.
func (o *outcome) claims() []verdict.Claim {
	if o.verdicts != nil {
		return o.verdicts.Claims
	}
	not := verdict.Open
	if o.unable {
		not = verdict.NotApplicable
	}
	return strict.Map(o.experiment.Claims, func(c experiment.Claim) verdict.Claim {
		return verdict.Claim{ID: c.ID, Verdict: not, Reason: "not measured: " + o.unmade}
	})
}

// count is how many claims of the call have one of these verdicts; without any, how many there are.
func (s *Session) count(verdicts ...verdict.Verdict) (n int) {
	for _, o := range s.outcomes {
		n += strict.Count(o.claims(), func(c verdict.Claim) bool {
			return len(verdicts) == 0 || slices.Contains(verdicts, c.Verdict)
		})
	}
	return n
}

// decided is how many claims are.
func (s *Session) decided() int { return s.count(verdict.Confirmed, verdict.Refuted) }

// A Standing says how claims stand.
type Standing int

const (
	Held    Standing = iota // each is confirmed or not applicable
	NotHeld                 // some is refuted or open
)

// standing is that of the worst verdict.
func (s *Session) standing() Standing {
	if s.count(verdict.Refuted, verdict.Open) > 0 {
		return NotHeld
	}
	return Held
}

// report prints the table of claims, the paths of the results, how disturbed the machine was, in how many
// blocks faults were, and how many claims are decided.
func (s *Session) report(out io.Writer) {
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CLAIM\tVERDICT\tFIGURES")
	open := false
	for _, o := range s.outcomes {
		for _, c := range o.claims() {
			name := o.experiment.Name + "/" + c.ID
			fmt.Fprintf(table, "%s\t%s\t%s\n", name, c.Verdict.Word(), c.Reason)
			open = open || c.Verdict == verdict.Open
		}
	}
	table.Flush()
	fmt.Fprintln(out)
	var figures []map[string]float64
	blocks, refused, shared := 0, 0, false
	for _, o := range s.outcomes {
		for _, f := range o.runs {
			fmt.Fprintf(out, "results: %s\n", s.j.Root.Rel(s.destination().Result(f.Experiment, f.Run)))
			blocks += f.Provenance.Blocks
			shared = shared || f.SharedCores()
			faulty := map[int]bool{}
			for _, t := range f.Trials {
				figures = append(figures, t.Metrics)
				if !t.Valid {
					faulty[t.Block] = true
				}
			}
			refused += len(faulty)
		}
	}
	if why := gate.Disturbed(figures, shared); why != "" {
		fmt.Fprintln(out, why)
	}
	if refused > 0 {
		fmt.Fprintf(out, "faults refused trials in %d of %s\n", refused, words.Count(blocks, "block"))
	}
	if open && !s.Trial {
		fmt.Fprintln(out, "lab reproduce goes on from here: the blocks made in this clone count.")
	}
	fmt.Fprintf(out, "%d of %s decided here; %d not applicable\n", s.decided(), words.Count(s.count(), "claim"),
		s.count(verdict.NotApplicable))
}
