package tune

import (
	"errors"
	"flag"
	"fmt"
	"math/bits"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cores"
)

// rps hands the packets of every receive queue on to some cores.
type rps struct{ dev, cpus string }

func (k *rps) flags(fs *flag.FlagSet) {
	fs.StringVar(&k.dev, "dev", "", "")
	fs.StringVar(&k.cpus, "cpus", "", "")
}
func (k *rps) take(rest []string) error { return noMore(rest) }
func (k *rps) ready(*machine) error     { return nil }

func (k *rps) plan(m *machine, _ bool) ([]change, error) {
	files, err := m.queueFiles(k.dev, "rx", "rps_cpus")
	if err != nil {
		return nil, err
	}
	cpus, err := m.someCores(k.cpus)
	if err != nil {
		return nil, err
	}
	mask, err := cores.Mask(cpus, m.possible)
	if err != nil {
		return nil, err
	}
	var changes []change
	for _, f := range files {
		changes = append(changes, change{target: f, want: mask + "\n"})
	}
	return changes, nil
}

// rfs steers a flow to the core that last read from it: one table for all, and
// a share of it for every queue.
type rfs struct {
	dev                   string
	entries               int
	tableOnly, queuesOnly bool
}

func (k *rfs) flags(fs *flag.FlagSet) {
	fs.StringVar(&k.dev, "dev", "", "")
	fs.IntVar(&k.entries, "entries", 32768, "")
	fs.BoolVar(&k.tableOnly, "table-only", false, "")
	fs.BoolVar(&k.queuesOnly, "queues-only", false, "")
}
func (k *rfs) take(rest []string) error { return noMore(rest) }
func (k *rfs) ready(*machine) error     { return nil }

// mostFlows is the kernel's own limit of the table.
const mostFlows = 1 << 29

func (k *rfs) plan(m *machine, _ bool) ([]change, error) {
	switch {
	case k.tableOnly && k.queuesOnly:
		return nil, errors.New("--table-only and --queues-only leave nothing to do")
	case k.entries < 1 || k.entries > mostFlows || bits.OnesCount(uint(k.entries)) != 1:
		return nil, fmt.Errorf("--entries: %d is no power of two up to %d", k.entries, mostFlows)
	}
	var changes []change
	if !k.queuesOnly {
		if !m.exists(tableFile) {
			if m.net.Initial {
				return nil, unavailable("this kernel has no %s", tableFile)
			}
			return nil, unavailable("%s is only in the initial network namespace (use --queues-only here, and --table-only there)", tableFile)
		}
		changes = append(changes, change{target: sysctlTarget(tableFile), want: fmt.Sprintf("%d\n", k.entries)})
	}
	if k.tableOnly {
		return changes, nil
	}
	files, err := m.queueFiles(k.dev, "rx", "rps_flow_cnt")
	if err != nil {
		return nil, err
	}
	if k.entries < len(files) {
		return nil, fmt.Errorf("--entries: %d are too few for the %d receive queues of %s", k.entries, len(files), k.dev)
	}
	for _, f := range files {
		changes = append(changes, change{target: f, want: fmt.Sprintf("%d\n", flows(k.entries, len(files)))})
	}
	return changes, nil
}

// flows is a queue's share of the table, rounded up to a power of two as the
// kernel would round it.
func flows(entries, queues int) int {
	return 1 << bits.Len(uint(entries/queues-1))
}

// xps shares the cores out over the transmit queues.
type xps struct{ dev, cpus string }

func (k *xps) flags(fs *flag.FlagSet) {
	fs.StringVar(&k.dev, "dev", "", "")
	fs.StringVar(&k.cpus, "cpus", "", "")
}
func (k *xps) take(rest []string) error { return noMore(rest) }
func (k *xps) ready(*machine) error     { return nil }

func (k *xps) plan(m *machine, _ bool) ([]change, error) {
	files, err := m.queueFiles(k.dev, "tx", "xps_cpus")
	if err != nil {
		return nil, err
	}
	if len(files) == 1 {
		return nil, unavailable("%s has one transmit queue", k.dev)
	}
	cpus, err := m.someCores(k.cpus)
	if err != nil {
		return nil, err
	}
	var changes []change
	for i, share := range shares(cpus, len(files)) {
		mask, err := cores.Mask(share, m.possible)
		if err != nil {
			return nil, err
		}
		changes = append(changes, change{target: files[i], want: mask + "\n"})
	}
	return changes, nil
}

// shares deals cores out to queues in turn. No queue stays without a core and
// no core without a queue, so the shorter of the two is gone round again.
func shares(cpus []int, queues int) [][]int {
	out := make([][]int, queues)
	for i := range max(len(cpus), queues) {
		q := i % queues
		out[q] = append(out[q], cpus[i%len(cpus)])
	}
	return out
}

func noMore(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("%q is neither an option nor one of %s", rest[0], strings.Join(actions[:6], ", "))
	}
	return nil
}
