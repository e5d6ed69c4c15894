package experiment

import (
	"fmt"

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
