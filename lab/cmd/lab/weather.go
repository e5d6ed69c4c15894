package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// restless says what a restless machine cost a call: how many blocks it refused and by
// which gates, which claims are open for that, and which just need more blocks. A claim is
// open for that if the blocks refused in this call are as many as it still needs.
func restless(out io.Writer, outcomes []*outcome) {
	made, refused, closed, because, rest := 0, 0, map[string]int{}, "", ""
	for _, o := range outcomes {
		lost := 0
		for _, f := range o.made {
			made += f.Provenance.Blocks
			lost += refusals(f, closed)
		}
		if refused += lost; o.says == nil {
			continue
		}
		for _, c := range o.says.Claims {
			switch name := ", " + o.x.Name + "/" + c.ID; {
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
		of := count(made, "block was", "blocks were")
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

// stayed says what a run that had no breaks saw in its stay, whatever the record needs.
func stayed(out io.Writer, o *outcome, f *results.File) {
	alone := *o.record
	alone.runs = nil
	for _, c := range alone.with(f).Claims {
		if of := count(c.Blocks, "block", "blocks"); c.Blocks > 0 {
			fmt.Fprintf(out, "in this stay, of %s %d were for %s and %d against\n", of, c.For, c.ID, c.Against)
		}
	}
}
