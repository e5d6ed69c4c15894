package setting

import (
	"fmt"
	"slices"
)

// A Knob is a setting that holds for the whole machine, or for a network namespace: one of the
// kernel, or a service to stop. It cannot be changed for a single slot, so its levels separate
// the groups of a block. The rows of settings.toml that have one are the lab's only list of them.
type Knob struct {
	Setting string   // its name in a design
	Script  string   // lab/scripts/tune-SCRIPT.sh turns it, and a row of package tune
	At      Level    // the level at which a trial turns it; at others the machine stays as it is
	Service bool     // stopped, and not written
	On      []string // the kinds of topology on which it has an effect
	Short   string   // its name in a sentence, if not that of the design
	Title   string   // its name in a table, if not that of the design
}

type knobRow struct {
	Script       string
	At           any
	Service      bool
	On           []string
	Short, Title string
}

// Knobs lists every knob in the order of turning: services first, since irqbalance would move
// interrupts that are pinned before it is stopped.
func Knobs() []Knob { return slices.Clone(knobs) }

var knobs = func() (all []Knob) {
	for _, d := range table {
		if r := d.Knob; r != nil {
			at, err := Of(r.At)
			if err != nil || !d.takes(at) || r.Script == "" || len(r.On) == 0 {
				panic(fmt.Sprintf("settings.toml: the knob of %q has no script, no topology, or a level that it cannot have", d.Name))
			}
			all = append(all, Knob{d.Name, r.Script, at, r.Service, r.On, r.Short, r.Title})
		}
	}
	slices.SortStableFunc(all, func(a, b Knob) int {
		switch {
		case a.Service == b.Service:
			return 0
		case a.Service:
			return -1
		}
		return 1
	})
	return all
}()
