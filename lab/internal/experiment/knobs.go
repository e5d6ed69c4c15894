package experiment

import (
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// turnable has the topologies on which a setting has an effect: it needs
// receive queues, an interface with interrupts, cores that are not shared with
// the client, or several clients.
var turnable = map[string][]string{
	setting.RPS: {"netns", "fleet"}, setting.RFS: {"netns", "fleet"},
	setting.IRQ: {"fleet"}, setting.IRQBalance: {"fleet"}, setting.Crond: {"fleet"}, setting.ServerCPUs: {"fleet"},
	setting.Clients: {"fleet"},
}

// fits refuses a setting's level that is impossible on the topology.
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
	if name == setting.Clients {
		return fmt.Errorf("%s has one client; several take topology %v", t.Kind, kinds)
	}
	return fmt.Errorf("%s has nothing to turn it on; it takes topology %v", t.Kind, kinds)
}

// cores is how many logical CPUs of the server's machine the design uses: up to
// the highest that its server may use, and one more if interrupts are pinned
// and the server leaves none of these free. 0 if the design names none.
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
			continue // refused when it is parsed
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

// CoresFor is how many logical CPUs of the server's machine a claim needs: what
// it asks for, and at least what the design uses.
func (x *Experiment) CoresFor(c Claim) int { return max(c.Needs.Cores, x.cores()) }

// LeastCores is the smallest CoresFor of all claims: with fewer CPUs a run
// could decide nothing.
func (x *Experiment) LeastCores() int {
	least := x.CoresFor(x.Claims[0])
	for _, c := range x.Claims[1:] {
		least = min(least, x.CoresFor(c))
	}
	return least
}
