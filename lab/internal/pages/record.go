package pages

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// Blocks has how many blocks the record of each machine has of an experiment, by the machine's
// Pair: of those that measured it, or that could not, if none did.
type Blocks map[string]int

// Shown is the machine whose record a page shows, for prose, figures, tables and badges alike: of
// those with blocks of the experiment, the one with the most blocks of the whole page. others has
// those of the page's other experiments. It is empty without any record.
func (b Blocks) Shown(others Blocks) string {
	machines := slices.Sorted(maps.Keys(b))
	if len(machines) == 0 {
		return ""
	}
	return slices.MaxFunc(machines, func(x, y string) int {
		return cmp.Or(cmp.Compare(min(b[x], 1), min(b[y], 1)), cmp.Compare(b[x]+others[x], b[y]+others[y]),
			cmp.Compare(b[x], b[y]), strings.Compare(y, x))
	})
}

// BlocksOf counts the blocks of each machine's record of an experiment.
func BlocksOf(runs []Made) Blocks {
	_, blocks := records(oldestFirst(runs))
	return blocks
}

// Shows has the runs whose records pages show.
func (h *Hosts) Shows() map[string]bool {
	shown := map[string]bool{h.Shown: true}
	for _, run := range h.Profiled {
		shown[run] = true
	}
	for _, c := range h.Claims {
		for _, on := range c.Hosts {
			shown[on.Run] = true
		}
	}
	return shown
}

// records gives the newest run of each machine's record, and how many blocks it has, from runs
// oldest first. A run that measured something goes before one that could not be made.
func records(runs []Made) (newest map[string]*verdict.File, blocks Blocks) {
	newest, blocks = map[string]*verdict.File{}, Blocks{}
	measured := func(r Made) bool { return len(r.Conditions) > 0 }
	any := slices.ContainsFunc(runs, measured)
	for _, r := range runs {
		if measured(r) == any {
			newest[r.Host] = r.File
		}
	}
	for machine, f := range newest {
		blocks[machine] = f.Blocks
		if f.Record != nil {
			blocks[machine] = f.Record.Blocks
		}
	}
	return newest, blocks
}
