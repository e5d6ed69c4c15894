package contest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/kinds"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/tell"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A profiled is one server in one round.
type profiled struct {
	cost   float64 // CPU time a request while it was profiled
	before float64 // and just before
	counts kinds.Counts
}

// of is what a kind of work costs a request.
func (p profiled) of(k kinds.Kind) float64 {
	return p.cost * float64(p.counts.Of[k]) / float64(p.counts.All)
}

// What a kind of work must have for a row of its own: such a share of the dearer server's cost, or a
// difference that is shown and such a share of the whole one. The rest is in one row.
const (
	rowOfCost       = 0.02
	rowOfDifference = 0.1
)

// remaining is the row of all kinds without one.
const remaining = "other"

// reasons says where the difference is between a server and the first, from rounds of all servers.
func reasons(servers []Server, i int, rounds [][]profiled) compare.Reasons {
	out := compare.Reasons{Name: servers[i].Name, Base: servers[0].Name}
	seen := map[kinds.Kind]bool{}
	for _, r := range rounds {
		for _, p := range []profiled{r[0], r[i]} {
			for k := range p.counts.Of {
				seen[k] = true
			}
		}
	}
	// In each round what a row has of a server is the sum of its kinds.
	row := func(name string, of ...kinds.Kind) compare.Reason {
		r := compare.Reason{Kind: name}
		var base, other []float64
		for _, round := range rounds {
			b, o := 0.0, 0.0
			for _, k := range of {
				b, o = b+round[0].of(k), o+round[i].of(k)
			}
			base, other, r.Each = append(base, b), append(other, o), append(r.Each, o-b)
		}
		s := stats.Summarise(r.Each)
		r.Base, r.Other = stats.Median(base), stats.Median(other)
		r.Difference, r.Low, r.High = s.Median, s.Low, s.High
		return r
	}
	all := slices.Sorted(maps.Keys(seen))
	out.All = row("all", all...)
	var calls, rest []kinds.Kind
	for _, k := range all {
		r := row(string(k), k)
		switch {
		case max(r.Base, r.Other) >= rowOfCost*max(out.All.Base, out.All.Other) && k != kinds.Calls,
			r.Shown() && math.Abs(r.Difference) >= rowOfDifference*math.Abs(out.All.Difference) && k != kinds.Calls:
			out.Kinds = append(out.Kinds, r)
		case k.IsCall():
			calls = append(calls, k)
		default:
			rest = append(rest, k)
		}
	}
	if len(calls) > 0 {
		out.Kinds = append(out.Kinds, row(string(kinds.Calls), calls...))
	}
	slices.SortStableFunc(out.Kinds, func(a, b compare.Reason) int {
		return cmp.Compare(math.Abs(b.Difference), math.Abs(a.Difference))
	})
	if len(rest) > 0 {
		out.Kinds = append(out.Kinds, row(remaining, rest...))
	}
	for n, r := range out.Kinds {
		if r.Shown() && out.All.Shown() {
			out.Kinds[n].Share = words.Digits(r.Difference / out.All.Difference)
		}
	}
	out.Says = finding(out)
	return out
}

// finding names the kind of work that has most of the difference, and no more than is shown: most
// of it only where the least that its interval holds is half of the most that the whole one's does.
func finding(r compare.Reasons) string {
	all := r.All
	if !all.Shown() {
		return "whether they differ at all was not shown in this pass, so no kind of work is the cause"
	}
	for _, k := range r.Kinds {
		least, most := k.Low, all.High
		if all.Difference < 0 {
			least, most = -k.High, -all.Low
		}
		if least <= 0 || k.Kind == remaining {
			continue
		}
		in := tell.UnitOf(r)
		has := fmt.Sprintf("%s of %s %s (%s)", in.Figure(k.Difference), in.Figure(all.Difference), in.Name, in.Interval(k))
		if least >= most/2 {
			return "most of the difference is " + k.Kind + ", " + has
		}
		return "a part of the difference is " + k.Kind + ", " + has
	}
	return "no kind of work is shown to be the cause: each interval holds 0"
}

// The profiler's own part in the cost above which it is told.
const costly = 1.1

// caveats are what to know of the profiles.
func caveats(servers []Server, rounds [][]profiled) (out []string) {
	unnamed := false
	for i, s := range servers {
		var raised []float64
		for _, r := range rounds {
			p := r[i]
			raised = append(raised, p.cost/p.before)
			if p.counts.Unnamed > p.counts.All/100 {
				unnamed = true
			}
		}
		if m := stats.Median(raised); m > costly {
			out = append(out, fmt.Sprintf("profiling raised the CPU a request of %s by %.0f %%", s.Name, 100*(m-1)))
		}
	}
	if unnamed {
		out = append(out, "code that is compiled at run time, or stripped, has no symbols and counts as own code")
	}
	return out
}
