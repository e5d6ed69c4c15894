package tune

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// someCores parses a list of cores, all of which must be online; an empty list
// means all online cores.
func (m *machine) someCores(list string) ([]int, error) {
	online, err := m.cpus("online")
	if list == "" || err != nil {
		return online, err
	}
	cpus, err := cores.Parse(list)
	if err != nil {
		return nil, fmt.Errorf("--cpus: %w", err)
	}
	if c, none := strict.Find(cpus, func(c int) bool { return !slices.Contains(online, c) }); none {
		return nil, unavailable("this machine has no core %d: %s are online", c, cores.Format(online))
	}
	return cpus, nil
}

// device checks that there is such an interface.
func (m *machine) device(dev string) error {
	if dev == "" {
		return errors.New("--dev is missing: which interface?")
	} else if !m.exists(netDir + dev + "/ifindex") {
		return unavailable("no interface %s here", dev)
	}
	return nil
}

// everyQueue has a file of each of an interface's receive queues written, by queue number.
func (m *machine) everyQueue(dev, file string, want func(queues int) (string, error)) (changes []change, err error) {
	if err := m.device(dev); err != nil {
		return nil, err
	}
	queues := m.glob(netDir + dev + "/queues/rx-*")
	if len(queues) == 0 {
		return nil, unavailable("%s has no receive queues", dev)
	}
	value, err := want(len(queues))
	return strict.Map(queues, func(queue string) change { return change{path: queue + "/" + file, want: value + "\n"} }), err
}

// planRPS has each of an interface's receive queues hand packets on to the cores.
func planRPS(k *knob, m *machine, o Options) ([]change, error) {
	return m.everyQueue(o.Dev, k.file, func(int) (string, error) {
		cpus, err := m.someCores(o.CPUs)
		if err != nil {
			return "", err
		}
		possible, err := m.cpus("possible")
		if err != nil {
			return "", err
		}
		return cores.Mask(cpus, slices.Max(possible)+1)
	})
}

// usualFlows is the size of the flow table where none is given.
const usualFlows = 32768

// planRFS steers each flow to the core that last read from it, by one global
// table and a share of it for every queue, rounded up to a power of two as the kernel does.
func planRFS(k *knob, m *machine, o Options) (changes []change, err error) {
	entries := cmp.Or(o.Entries, usualFlows)
	switch {
	case o.TableOnly && o.QueuesOnly:
		return nil, errors.New("--table-only and --queues-only leave nothing to do")
	case entries < 1 || bits.OnesCount(uint(entries)) != 1:
		return nil, fmt.Errorf("--entries: %d is no power of two", entries)
	case !o.QueuesOnly && m.apart:
		return nil, unavailable("%s is only in the initial network namespace (use --queues-only here, and --table-only there)", tableFile)
	case !o.QueuesOnly:
		changes = append(changes, change{path: tableFile, want: fmt.Sprintf("%d\n", entries)})
	}
	if o.TableOnly {
		return changes, nil
	}
	shares, err := m.everyQueue(o.Dev, k.file, func(queues int) (string, error) {
		if entries < queues {
			return "", fmt.Errorf("--entries: %d are too few for the %d receive queues of %s", entries, queues, o.Dev)
		}
		return fmt.Sprint(1 << bits.Len(uint(entries/queues-1))), nil
	})
	return append(changes, shares...), err
}

// planStop stops a systemd service: of the knob's names the one that runs.
func planStop(k *knob, m *machine, _ Options) ([]change, error) {
	name, _ := strict.Find(k.services, func(name string) bool { return m.process(name) != "" })
	return []change{{path: unitPrefix + cmp.Or(name, k.services[0]) + ".service", want: "inactive"}}, nil
}

// affinityFile is an interrupt's, with the cores that take it.
const affinityFile = "smp_affinity_list"

func affinity(irq string) string { return "/proc/irq/" + irq + "/" + affinityFile }

// planInterrupts gives each queue's interrupt a core of its own, in turn.
func planInterrupts(_ *knob, m *machine, o Options) (changes []change, err error) {
	if o.CPUs == "" {
		return nil, errors.New("--cpus is missing: which cores are to take the interrupts?")
	}
	if err := m.device(o.Dev); err != nil {
		return nil, err
	}
	cpus, err := m.someCores(o.CPUs)
	if err != nil {
		return nil, err
	}
	for _, n := range m.messages(o.Dev) {
		if ofQueue(m.action(n), o.Dev) {
			changes = append(changes, change{path: affinity(n), want: fmt.Sprintf("%d\n", cpus[len(changes)%len(cpus)])})
		}
	}
	if len(changes) == 0 {
		return nil, unavailable("%s has no message-signalled interrupt of a queue, by the names in /proc/irq", o.Dev)
	}
	return changes, nil
}

// messages lists the message-signalled interrupts of an interface's device or of its
// parent: a virtio interface is a child of the PCI device that has the interrupts.
func (m *machine) messages(dev string) []string {
	device := netDir + dev + "/device"
	for _, dir := range []string{device, device + "/.."} {
		if files := m.glob(dir + "/msi_irqs/*"); len(files) > 0 {
			return strict.Map(files, path.Base)
		}
	}
	return nil
}

// action is the name of what handles an interrupt: its directory has one of that name.
func (m *machine) action(irq string) string {
	entries, _ := os.ReadDir(m.tree + "/proc/irq/" + irq)
	if handler, ok := strict.Find(entries, fs.DirEntry.IsDir); ok {
		return handler.Name()
	}
	return ""
}

var (
	// Vectors that carry no packets: for the link, the firmware, commands.
	management = regexp.MustCompile(`(?i)mgmnt|mgmt|config|control|ctrl|async|admin|misc|cmd|pages|other|link|lsc|event|mbox|fw`)
	ofNumber   = regexp.MustCompile(`[0-9]$`)
)

// ofQueue tells by the name whether an interrupt belongs to a queue. Drivers
// put a number at the end of a queue's name: ens5-Tx-Rx-0, virtio2-input.0,
// mlx5_comp3@pci:0000:05:00.0. The interface's bare name is its link interrupt.
func ofQueue(action, dev string) bool {
	name, _, _ := strings.Cut(action, "@")
	// The interface's own name may contain any word and end in a number.
	name = strings.TrimPrefix(name, dev)
	return ofNumber.MatchString(name) && !management.MatchString(name)
}
