package tune

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cores"
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
	if err != nil {
		return nil, err
	}
	var changes []change
	for _, f := range files {
		changes = append(changes, change{target: f, want: mask + "\n"})
	}
	return changes, nil
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

// Below leastMTU the kernel removes IPv6 from the interface, with addresses and
// routes that restoring the MTU would not bring back.
const leastMTU, mostMTU = 1280, 65535

// planMTU sets the largest packet size of an interface.
func planMTU(m *machine, o *options) ([]change, error) {
	t, err := m.device(o.dev)
	switch {
	case err != nil:
		return nil, err
	case o.look:
	case o.mtu == 0:
		return nil, errors.New("--mtu is missing: how many bytes?")
	case o.mtu < leastMTU:
		return nil, fmt.Errorf("--mtu: %d is below %d, where the kernel takes IPv6 off an interface for good", o.mtu, leastMTU)
	case o.mtu > mostMTU:
		return nil, fmt.Errorf("--mtu: %d is above %d", o.mtu, mostMTU)
	}
	t.Path += "/mtu"
	return []change{{target: t, want: fmt.Sprintf("%d\n", o.mtu)}}, nil
}

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

// entry02 has the values that entry 02 sets.
var entry02 = [][2]string{
	{"net.core.somaxconn", "65535"},
	{"net.core.netdev_max_backlog", "65535"},
	{"net.ipv4.tcp_max_syn_backlog", "65535"},
	{"net.ipv4.ip_local_port_range", "1024 65535"},
	{"net.ipv4.tcp_tw_reuse", "1"},
	{"net.ipv4.tcp_fin_timeout", "15"},
}

func sysctlFile(name string) target { return file(sysctlDir + strings.ReplaceAll(name, ".", "/")) }

// planSysctls sets values below /proc/sys.
func planSysctls(m *machine, o *options) ([]change, error) {
	settings := o.settings
	if len(settings) == 0 {
		settings = entry02
	}
	var changes []change
	for _, s := range settings {
		t := sysctlFile(s[0])
		switch {
		case m.exists(t.Path):
			changes = append(changes, change{target: t, want: s[1] + "\n"})
		case !m.net.Initial && t.Scope == scopeNamespace:
			return nil, unavailable("%s is only in the initial network namespace; name those that are to be set here, NAME=VALUE", s[0])
		default:
			return nil, unavailable("this kernel has no sysctl %s (%s)", s[0], t.Path)
		}
	}
	return changes, nil
}
