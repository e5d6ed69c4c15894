package experiment

import (
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// turnable says on which topologies a knob has something to turn: queues that
// packets come in by, an interface that interrupts, cores that are not shared
// with the client.
var turnable = map[string][]string{
	setting.RPS: {"netns", "fleet"}, setting.RFS: {"netns", "fleet"},
	setting.IRQ: {"fleet"}, setting.IRQBalance: {"fleet"}, setting.Crond: {"fleet"}, setting.ServerCPUs: {"fleet"},
}

// fits refuses a knob's level that the topology could not have.
func (t Topology) fits(name string, l setting.Level) error {
	if name == setting.ServerCPUs {
		if _, err := cores.Parse(l.String()); err != nil {
			return err
		}
	}
	kinds, knob := turnable[name]
	if !knob {
		return nil
	}
	for _, kind := range kinds {
		if t.Kind == kind {
			return nil
		}
	}
	return fmt.Errorf("%s has nothing to turn it on; it takes topology %v", t.Kind, kinds)
}

// cores is how many logical CPUs the design takes of the server's machine: up to
// the highest that its server may use, and one more where interrupts are pinned
// and the server leaves them none of those. 0 where it names none.
func (x *Experiment) cores() int {
	var used []int
	n, least, pinned := 0, 0, false
	for _, levels := range x.Conditions() {
		all := x.fixed.With(levels)
		pinned = pinned || all[setting.IRQ] == setting.String("pinned")
		list, ok := all[setting.ServerCPUs]
		if !ok {
			continue
		}
		cpus, err := cores.Parse(list.String())
		if err != nil {
			continue // refused where it is read
		}
		used = append(used, cpus...)
		if n = max(n, slices.Max(used)+1); least == 0 || len(cpus) < least {
			least = len(cpus)
		}
	}
	if slices.Sort(used); pinned && n > 0 && least == len(slices.Compact(used)) {
		n++
	}
	return n
}

// CoresFor is how many logical CPUs of the server's machine a claim of the design
// needs: what it asks for, and never fewer than the design takes.
func (x *Experiment) CoresFor(c Claim) int { return max(c.Needs.Cores, x.cores()) }

// LeastCores is how many the claim needs that needs fewest: on a machine with
// fewer there is nothing that a run could decide.
func (x *Experiment) LeastCores() int {
	least := x.CoresFor(x.Claims[0])
	for _, c := range x.Claims[1:] {
		least = min(least, x.CoresFor(c))
	}
	return least
}
