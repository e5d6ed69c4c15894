package tune

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A plan checks the options and lists the changes. It writes nothing.
type plan func(m *machine, o *options) ([]change, error)

// planRPS has each of an interface's receive queues hand packets on to the cores.
func planRPS(m *machine, o *options) ([]change, error) {
	files, err := m.queueFiles(o.dev, "rps_cpus")
	if err != nil {
		return nil, err
	}
	cpus, err := m.someCores(o.cpus)
	if err != nil {
		return nil, err
	}
	mask, err := cores.Mask(cpus, m.possible)
	return strict.Called(files, func(f target) change { return change{target: f, want: mask + "\n"} }), err
}

// mostFlows is the kernel's limit for the size of the table.
const mostFlows = 1 << 29

// planRFS steers each flow to the core that last read from it, by one global
// table and a share of it for every queue.
func planRFS(m *machine, o *options) ([]change, error) {
	switch {
	case o.tableOnly && o.queuesOnly:
		return nil, errors.New("--table-only and --queues-only leave nothing to do")
	case o.entries < 1 || o.entries > mostFlows || bits.OnesCount(uint(o.entries)) != 1:
		return nil, fmt.Errorf("--entries: %d is no power of two up to %d", o.entries, mostFlows)
	case !o.queuesOnly && !m.exists(tableFile) && m.net.Initial:
		return nil, unavailable("this kernel has no %s", tableFile)
	case !o.queuesOnly && !m.exists(tableFile):
		return nil, unavailable("%s is only in the initial network namespace (use --queues-only here, and --table-only there)", tableFile)
	}
	var changes []change
	if !o.queuesOnly {
		changes = append(changes, change{target: file(tableFile), want: fmt.Sprintf("%d\n", o.entries)})
	}
	if o.tableOnly {
		return changes, nil
	}
	files, err := m.queueFiles(o.dev, "rps_flow_cnt")
	if err != nil {
		return nil, err
	}
	if o.entries < len(files) {
		return nil, fmt.Errorf("--entries: %d are too few for the %d receive queues of %s", o.entries, len(files), o.dev)
	}
	for _, f := range files {
		changes = append(changes, change{target: f, want: fmt.Sprintf("%d\n", flows(o.entries, len(files)))})
	}
	return changes, nil
}

// flows is a queue's share of the table, rounded up to a power of two as the
// kernel does.
func flows(entries, queues int) int { return 1 << bits.Len(uint(entries/queues-1)) }

// planStop stops a systemd service, the first of the given names that exists.
func planStop(units ...string) plan {
	return func(*machine, *options) ([]change, error) {
		for _, unit := range units {
			out, err := systemctl("show", "--property=LoadState", "--value", unit)
			if err != nil {
				return nil, err
			}
			if out == "loaded" {
				t := target{Kind: kindUnit, Scope: scopeMachine, Path: unitName(unit), Unit: unit}
				return []change{{target: t, want: inactive}}, nil
			}
		}
		return nil, unavailable("systemd has no service %s here", strings.Join(units, " or "))
	}
}
