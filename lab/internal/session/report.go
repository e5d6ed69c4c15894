package session

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/line-rate/line-rate/lab/internal/derive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/terminal"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// report prints the table of claims, the paths of the results in the journal that they
// went into, and how many claims are decided.
func report(out io.Writer, root, into journal.Root, outcomes []*Outcome) {
	var rows [][3]string
	whose, err := derive.Whose(root)
	if err != nil {
		fmt.Fprintf(out, "warning: %v; so what holds is called confirmed here, whoever claimed it\n", err)
	}
	add := func(x *experiment.Experiment, claim string, v verdict.Verdict, why string) {
		name := x.Name + "/" + claim
		rows = append(rows, [3]string{name, whose[name].Word(v), why})
	}
	for _, o := range outcomes {
		if o.Verdicts == nil {
			for _, c := range o.Experiment.Claims {
				add(o.Experiment, c.ID, o.unmade(), "not measured: "+o.Unmade)
			}
			continue
		}
		for _, c := range o.Verdicts.Claims {
			add(o.Experiment, c.ID, c.Verdict, c.Reason)
		}
	}
	showClaims(out, rows, terminal.Columns(out))
	fmt.Fprintln(out)
	for _, o := range outcomes {
		for _, f := range o.Runs {
			about, invalid := "", strict.Count(f.Trials, func(t results.Trial) bool { return !t.Valid })
			if invalid > 0 {
				about = fmt.Sprintf(" (%d of %d trials invalid)", invalid, len(f.Trials))
			}
			if why := f.Provenance.StoppedEarly; why != "" {
				about += "; stopped early: " + why
			}
			fmt.Fprintf(out, "results: %s%s\n", root.Rel(into.Result(f.Experiment, f.Run)), about)
			if o.least > 0 {
				printVisit(out, o, f)
			}
		}
	}
	printWeather(out, outcomes)
	of, claims := tally(outcomes)
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

// showClaims prints claims with their verdicts and the figures that these rest on as a
// table, or, on a terminal that is too narrow for one, the figures below each claim.
func showClaims(out io.Writer, rows [][3]string, width int) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CLAIM\tVERDICT\tFIGURES")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\n", r[0], r[1], r[2])
	}
	w.Flush()
	if width > 0 && slices.ContainsFunc(strings.Split(b.String(), "\n"),
		func(line string) bool { return len(line) > width }) {
		b.Reset()
		for _, r := range rows {
			fmt.Fprintf(&b, "%s\n%s\n", terminal.Fit(r[0]+": "+r[1], width), terminal.Fit("    "+r[2], width))
		}
	}
	fmt.Fprintf(out, "\n%s", b.String())
}

// printWeather says what a restless machine cost a call: how many blocks it refused and by
// which gates, which claims are open for that, and which just need more blocks. A claim is
// open for that if the blocks refused in this call are as many as it still needs.
func printWeather(out io.Writer, outcomes []*Outcome) {
	made, refused, closed, because, rest := 0, 0, map[string]int{}, "", ""
	for _, o := range outcomes {
		lost := 0
		for _, f := range o.Runs {
			made += f.Provenance.Blocks
			lost += refusals(f, closed)
		}
		if refused += lost; o.Verdicts == nil {
			continue
		}
		for _, c := range o.Verdicts.Claims {
			switch name := ", " + o.Experiment.Name + "/" + c.ID; {
			case !c.Open:
			case lost > 0 && (c.Verdict == verdict.Invalid || c.VisitsNeeded > 0 && c.VisitsNeeded <= lost):
				because += name
			case c.VisitsNeeded > 0:
				rest += fmt.Sprintf("%s (about %d)", name, c.VisitsNeeded)
			default:
				rest += name
			}
		}
	}
	if refused > 0 {
		gates := ""
		for _, g := range slices.Sorted(maps.Keys(closed)) {
			gates += fmt.Sprintf(", %s %d", g, closed[g])
		}
		of := words.Count(made, "block was", "blocks were")
		fmt.Fprintf(out, "%d of %s refused, since this machine was restless: %s\n", refused, of, gates[2:])
	}
	if because != "" {
		fmt.Fprintf(out, "open because of that: %s\n", because[2:])
	}
	if rest != "" {
		fmt.Fprintf(out, "open for want of blocks: %s\n", rest[2:])
	}
	if because+rest != "" {
		fmt.Fprintln(out, "lab reproduce goes on from here: the blocks made in this clone count.")
	}
}

// refusals counts the blocks of which a disturbance of the machine refused a trial, and
// adds them to the gates that it closed.
func refusals(f *results.File, closed map[string]int) int {
	seen := map[string]int{} // by gate, the last block
	last, n := 0, 0
	for _, t := range f.Trials {
		for _, why := range t.Reasons {
			if g, _ := gate.Of(why.Gate); g.Kind != gate.Passing || seen[why.Gate] == t.Block {
				continue
			}
			if closed[why.Gate], seen[why.Gate] = closed[why.Gate]+1, t.Block; last != t.Block {
				last, n = t.Block, n+1
			}
		}
	}
	return n
}

// printVisit says what a run that had no breaks saw in its stay, whatever the record needs.
func printVisit(out io.Writer, o *Outcome, f *results.File) {
	alone := *o.record
	alone.runs = nil
	for _, c := range alone.with(f).Claims {
		if of := words.Count(c.Blocks, "block"); c.Blocks > 0 {
			fmt.Fprintf(out, "in this stay, of %s %d were for %s and %d against\n", of, c.For, c.ID, c.Against)
		}
	}
}
