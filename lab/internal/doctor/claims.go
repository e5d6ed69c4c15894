package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Claim names one claim of one experiment.
type Claim struct{ Experiment, ID string }

// claims lists the claims that pick selects.
func (m Machine) claims(pick func(*experiment.Experiment, experiment.Claim) bool) []Claim {
	var cs []Claim
	for _, x := range m.Experiments {
		for _, c := range x.Claims {
			if pick(x, c) {
				cs = append(cs, Claim{x.Name, c.ID})
			}
		}
	}
	return cs
}

func every(*experiment.Experiment, experiment.Claim) bool { return true }

func overWire(x *experiment.Experiment, c experiment.Claim) bool { return x.Needs(c).Wire }

// needsCPUBound selects claims about which side's CPU was the wall.
func needsCPUBound(_ *experiment.Experiment, c experiment.Claim) bool {
	walls := []string{string(gate.BoundServerCPU), string(gate.BoundClientCPU)}
	return slices.Contains(walls, c.Bound) || slices.Contains(walls, c.Needs.Bound)
}

// timed selects claims on a figure that depends on a core's speed: times and
// rates, but not counts, sizes or shares.
func timed(_ *experiment.Experiment, c experiment.Claim) bool {
	def, ok := metric.Lookup(c.Metric)
	return ok && slices.Contains([]metric.Unit{metric.Second, metric.PerSecond, metric.BitsPerSecond,
		metric.BytesPerSecond}, def.Unit)
}

// perCPU selects claims on CPU time.
func perCPU(_ *experiment.Experiment, c experiment.Claim) bool {
	return strings.Contains(c.Metric, "_cpu_")
}

// over lists the claims of the experiments of a topology ("" for any) that open more than n
// connections, and gives the largest number that any of them opens.
func (m Machine) over(topology string, n int64) (cs []Claim, largest int64) {
	cs = m.claims(func(x *experiment.Experiment, _ experiment.Claim) bool {
		c := x.Connections()
		is := c > n && (topology == "" || topology == x.Topology.Kind)
		if is {
			largest = max(largest, c)
		}
		return is
	})
	return cs, largest
}

// name lists claims for a reader, by experiment, and without the claims' names
// where all claims of an experiment are meant.
func (m Machine) name(cs []Claim) string {
	if len(cs) == 0 {
		return "no claim so far"
	}
	var parts []string
	all := true
	for _, x := range m.Experiments {
		of := strict.Those(cs, func(c Claim) bool { return c.Experiment == x.Name })
		ids := strict.Called(of, func(c Claim) string { return c.ID })
		all = all && len(ids) == len(x.Claims)
		switch {
		case len(ids) == 0:
		case len(ids) == len(x.Claims):
			parts = append(parts, x.Name)
		default:
			parts = append(parts, fmt.Sprintf("%s (%s)", x.Name, strings.Join(ids, ", ")))
		}
	}
	if all {
		return "every claim"
	}
	return strings.Join(parts, ", ")
}

// Summary says in a few lines what makes every trial invalid just now, how many
// claims the machine can decide, and by what the others are prevented. Which claims
// those are stands with the findings.
func (m Machine) Summary(fs []Finding) []string {
	all := m.claims(every)
	barred := map[Claim]bool{}
	var why []string
	for _, f := range fs {
		if f.Level == Fault && len(f.Bars) == 0 {
			return []string{fmt.Sprintf("This machine can decide none of %s yet: %s is %s.", words.Count(len(all), "claim"),
				f.About, f.Seen)}
		}
		before := len(barred)
		for _, c := range f.Bars {
			barred[c] = true
		}
		if further := len(barred) - before; further > 0 {
			why = append(why, fmt.Sprintf("%d by %s", further, f.About))
		}
	}
	lines := []string{fmt.Sprintf("This machine can decide %d of %s.", len(all)-len(barred), words.Count(len(all), "claim"))}
	if len(why) > 0 {
		lines[0] = strings.TrimSuffix(lines[0], ".") + "; the others are prevented, " + strings.Join(why, ", ") + "."
	}
	waits := m.claims(func(x *experiment.Experiment, c experiment.Claim) bool {
		return c.Needs.Bound != "" && !barred[Claim{x.Name, c.ID}]
	})
	var disturbs []string
	for _, f := range fs {
		switch {
		case f.Level == Limit && f.Spoils:
			says := fmt.Sprintf("As it is now, trials of every claim are invalid: %s: %s", f.About, f.Seen)
			if f.Mend != "" {
				says += "; to mend it: " + f.Mend
			}
			lines = slices.Insert(lines, 0, says+".")
		case f.Level == Limit && len(f.Bars) == 0:
			disturbs = append(disturbs, f.About)
		}
	}
	if len(disturbs) > 0 {
		lines = append(lines, fmt.Sprintf("As it is now, trials are disturbed by: %s.", join(disturbs)))
	}
	if len(waits) > 0 {
		lines = append(lines, fmt.Sprintf("Only the run shows whether its trials are bounded as they must be for %s.",
			m.name(waits)))
	}
	return lines
}
