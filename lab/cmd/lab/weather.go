package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// restless says what a restless machine cost a call: how many blocks were refused and by
// which gates, which claims are open for that, and which just need more blocks. A claim is
// open for the weather if the blocks refused in this call are as many as it still needs.
func restless(out io.Writer, outcomes []*outcome) {
	made, refused, closed := 0, 0, map[string]int{}
	var kept, longer []string
	for _, o := range outcomes {
		lost := 0
		for _, f := range o.made {
			made += f.Provenance.Blocks
			lost += refusals(f, closed)
		}
		refused += lost
		for _, c := range openClaims(o) {
			name := o.x.Name + "/" + c.ID
			switch {
			case lost > 0 && (c.Verdict == verdict.Invalid || c.BlocksNeeded > 0 && c.BlocksNeeded <= lost):
				kept = append(kept, name)
			case c.BlocksNeeded > 0:
				longer = append(longer, fmt.Sprintf("%s (about %d)", name, c.BlocksNeeded))
			default:
				longer = append(longer, name)
			}
		}
	}
	if refused > 0 {
		gates := slices.SortedFunc(maps.Keys(closed), func(a, b string) int {
			return cmp.Or(cmp.Compare(closed[b], closed[a]), cmp.Compare(a, b))
		})
		for i, g := range gates {
			gates[i] = fmt.Sprintf("%s %d", g, closed[g])
		}
		fmt.Fprintf(out, "%d of %s refused, since this machine was restless: %s\n", refused, count(made, "block was", "blocks were"), strings.Join(gates, ", "))
	}
	for _, list := range []struct {
		what  string
		names []string
	}{{"open because of that", kept}, {"open for want of blocks", longer}} {
		if len(list.names) > 0 {
			fmt.Fprintf(out, "%s: %s\n", list.what, strings.Join(list.names, ", "))
		}
	}
	if len(kept)+len(longer) > 0 {
		fmt.Fprintln(out, "The same command goes on from here: the blocks made in this clone count.")
	}
}

// stayed says what a run that had no breaks saw in its stay, whatever the record needs.
func stayed(out io.Writer, o *outcome, f *results.File) {
	alone := *o.record
	alone.runs = nil
	for _, c := range alone.with(f).Claims {
		if c.Blocks > 0 {
			fmt.Fprintf(out, "in this stay, of %s %d were for %s and %d against\n", count(c.Blocks, "block", "blocks"), c.For, c.ID, c.Against)
		}
	}
}

// openClaims gives those that further blocks may decide.
func openClaims(o *outcome) (all []verdict.Claim) {
	if o.says == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(o.says.Claims), func(c verdict.Claim) bool { return !c.Open })
}

// refusals counts the blocks of which a disturbance of the machine refused a trial, and
// adds to each gate that it closed the number of blocks.
func refusals(f *results.File, closed map[string]int) int {
	type of struct {
		block int
		gate  string
	}
	blocks, seen := map[int]bool{}, map[of]bool{}
	for _, t := range f.Trials {
		for _, why := range t.Reasons {
			if g, _ := gate.Of(why.Gate); g.Kind != gate.Passing || seen[of{t.Block, why.Gate}] {
				continue
			}
			blocks[t.Block], seen[of{t.Block, why.Gate}] = true, true
			closed[why.Gate]++
		}
	}
	return len(blocks)
}
