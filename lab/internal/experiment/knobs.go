package experiment

import (
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// turnable has the topologies on which a setting has an effect: it needs
// receive queues, an interface with interrupts, cores that are not shared with
// the client, or several clients.
var turnable = func() map[string][]string {
	kinds := map[string][]string{setting.ServerCPUs: {"fleet"}, setting.Clients: {"fleet"}}
	for _, k := range setting.Knobs() {
		kinds[k.Setting] = k.On
	}
	return kinds
}()

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

// Turns gives the knobs that a condition turns, in that order. Only root of a machine may
// turn them.
func Turns(s setting.Levels) []setting.Knob {
	return strict.Filter(setting.Knobs(), func(k setting.Knob) bool { return s[k.Setting] == k.At() })
}
