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

// claims are those of the experiment, with their verdicts now. An unmeasured claim is open.
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

// count is how many claims of the call have one of these verdicts.
func (s *Session) count(of ...verdict.Verdict) (n int) {
	for _, o := range s.outcomes {
		n += strict.Count(o.claims(), func(c verdict.Claim) bool { return slices.Contains(of, c.Verdict) })
	}
	return n
}

func decided(c verdict.Claim) bool {
	return c.Verdict == verdict.Confirmed || c.Verdict == verdict.Refuted
}

// report prints the table of claims, the paths of the results, how disturbed the machine was, in how many
// blocks faults were, and how many claims are decided.
func (s *Session) report(out io.Writer) {
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CLAIM\tVERDICT\tFIGURES")
	for _, o := range s.outcomes {
		for _, c := range o.claims() {
			fmt.Fprintf(table, "%s/%s\t%s\t%s\n", o.experiment.Name, c.ID, c.Verdict.Word(), c.Reason)
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
	open, decided, not := s.count(verdict.Open), s.count(verdict.Confirmed, verdict.Refuted), s.count(verdict.NotApplicable)
	if open > 0 && !s.Scratch {
		fmt.Fprintln(out, "the same command goes on from here: its blocks count")
	}
	fmt.Fprintf(out, "%d of %s decided here; %d not applicable\n", decided, words.Count(open+decided+not, "claim"), not)
}
