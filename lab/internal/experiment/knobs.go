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
	switch kinds, knob := turnable[name]; {
	case !knob || slices.Contains(kinds, t.Kind):
		return nil
	case name == setting.Clients:
		return fmt.Errorf("%s has one client; several take topology %v", t.Kind, kinds)
	default:
		return fmt.Errorf("%s has nothing to turn it on; it takes topology %v", t.Kind, kinds)
	}
}

// Turns names the kernel settings that a condition changes, in the order of changing
// them. Only root of a machine may change them.
func Turns(s setting.Levels) (names []string) {
	on := func(name string) bool { b, _ := s[name].Bool(); return b }
	off := func(name string) bool { b, ok := s[name].Bool(); return ok && !b }
	for _, k := range []struct {
		name  string
		turns bool
	}{
		{"irqbalance", off(setting.IRQBalance)},
		{"crond", off(setting.Crond)},
		{"irq-pin", s[setting.IRQ] == setting.String("pinned")},
		{"rps", on(setting.RPS)},
		{"rfs", on(setting.RFS)},
	} {
		if k.turns {
			names = append(names, k.name)
		}
	}
	return names
}
