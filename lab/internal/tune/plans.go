package tune

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cores"
)

// A plan checks the options and lists the changes. It writes nothing.
type plan func(m *machine, o *options) ([]change, error)

// planMasks gives each of an interface's queues a share of the cores.
func planMasks(which, name string, share func(cpus []int, queues int) [][]int) plan {
	return func(m *machine, o *options) ([]change, error) {
		files, err := m.queueFiles(o.dev, which, name)
		if err != nil {
			return nil, err
		}
		if which == "tx" && len(files) == 1 {
			return nil, unavailable("%s has one transmit queue", o.dev)
		}
		cpus, err := m.someCores(o.cpus)
		if err != nil {
			return nil, err
		}
		var changes []change
		for i, s := range share(cpus, len(files)) {
			mask, err := cores.Mask(s, m.possible)
			if err != nil {
				return nil, err
			}
			changes = append(changes, change{target: files[i], want: mask + "\n"})
		}
		return changes, nil
	}
}

// all gives every queue all cores.
func all(cpus []int, queues int) [][]int { return slices.Repeat([][]int{cpus}, queues) }

// shares deals cores to queues in turn. Every queue gets a core and every core
// a queue, so the shorter list is repeated.
func shares(cpus []int, queues int) [][]int {
	out := make([][]int, queues)
	for i := range max(len(cpus), queues) {
		q := i % queues
		out[q] = append(out[q], cpus[i%len(cpus)])
	}
	return out
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
	files, err := m.queueFiles(o.dev, "rx", "rps_flow_cnt")
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

// planQueues sets the number of an interface's queues.
func planQueues(m *machine, o *options) ([]change, error) {
	if o.count == -1 && !o.look {
		return nil, errors.New("--count is missing: how many queues?")
	}
	t, err := m.device(o.dev)
	if err != nil {
		return nil, err
	}
	most, want, err := m.channels(o.dev)
	if err != nil {
		return nil, err
	}
	limit := int(max(most.combined, min(most.rx, most.tx)))
	switch {
	case limit == 0:
		return nil, unavailable("the queues of %s cannot be set", o.dev)
	case o.look:
	case o.count < 1:
		return nil, fmt.Errorf("--count: %d queues would leave %s without any", o.count, o.dev)
	case o.count > limit:
		return nil, unavailable("%s has at most %s", o.dev, count(limit, "queue"))
	case most.combined > 0:
		want.combined = uint32(o.count)
	default:
		want.rx, want.tx = uint32(o.count), uint32(o.count)
	}
	// The settings of queues that would be removed are saved before the number,
	// and so restored after it.
	var changes []change
	for _, lost := range []struct {
		which, name string
		left        uint32
	}{{"rx", "rps_cpus", want.rx}, {"rx", "rps_flow_cnt", want.rx}, {"tx", "xps_cpus", want.tx}} {
		files, err := m.queueFiles(o.dev, lost.which, lost.name)
		if errors.As(err, new(Unavailable)) {
			continue // nothing would be lost
		} else if err != nil {
			return nil, err
		}
		for _, t := range files[min(int(lost.left+want.combined), len(files)):] {
			now, err := m.read(t)
			if err != nil {
				if lost.which == "tx" && len(files) == 1 {
					continue // the kernel has no such file for a single queue
				}
				return nil, err
			}
			if strings.Trim(now, "0,\n") != "" {
				changes = append(changes, change{target: t, want: now, keep: true})
			}
		}
	}
	t.Kind, t.Path = kindChannels, channelsName(o.dev)
	return append(changes, change{target: t, want: want.String()}), nil
}

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

// planLimit raises a running process's limit of open files, which its later
// children inherit.
func planLimit(m *machine, o *options) ([]change, error) {
	if o.limit < 1 {
		return nil, errors.New("--limit: a process without files cannot run")
	}
	if text, err := m.text(sysctlDir + "fs/nr_open"); err == nil {
		if most, err := strconv.ParseUint(text, 10, 64); err == nil && o.limit > most {
			return nil, unavailable("--limit: %d is above what this kernel allows any process (fs.nr_open is %d)", o.limit, most)
		}
	}
	if !m.ownProcesses() {
		return nil, unavailable("/proc shows another PID namespace than this process is in, so %d may be anyone", o.pid)
	}
	start, err := m.started(o.pid)
	if err != nil {
		return nil, err
	}
	l, err := m.limits(o.pid)
	if err != nil {
		return nil, err
	}
	// The hard limit stays if it is high enough: once lowered by a user, only root
	// could raise it again.
	l.soft, l.hard = o.limit, max(l.hard, o.limit)
	t := target{Kind: kindLimit, Scope: scopeProcess, Path: limitName(o.pid), PID: o.pid, Start: start}
	return []change{{target: t, want: l.String()}}, nil
}

// ownProcesses tells whether /proc numbers processes as prlimit does. Inside
// "unshare --pid" /proc may still be the outer one.
func (m *machine) ownProcesses() bool {
	self, err := os.Readlink("/proc/self")
	return m.tree != "" || err == nil && self == strconv.Itoa(os.Getpid())
}
