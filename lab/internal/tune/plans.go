package tune

import (
	"cmp"
	"fmt"
	"math/bits"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// someCores parses a list of cores, all of which must be online; an empty list
// means all online cores.
func (m *system) someCores(list string) ([]int, error) {
	online, err := m.cpus("online")
	if list == "" || err != nil {
		return online, err
	}
	cpus, err := machine.Parse(list)
	if c, none := strict.Find(cpus, func(c int) bool { return !slices.Contains(online, c) }); none {
		err = fmt.Errorf("this machine has no core %d: %s are online", c, machine.Format(online))
	}
	return cpus, err
}

// everyQueue has a file of each of an interface's receive queues written, by queue number.
func (m *system) everyQueue(dev, file string, want func(queues int) string) ([]change, error) {
	queues := m.glob(netDir + dev + "/queues/rx-*")
	if len(queues) == 0 {
		return nil, fmt.Errorf("%s has no receive queues", dev)
	}
	value := want(len(queues)) + "\n"
	return strict.Map(queues, func(queue string) change { return change{path: queue + "/" + file, want: value} }), nil
}

// planRPS has each of an interface's receive queues hand packets on to the cores.
func planRPS(k *knob, m *system, o Options) ([]change, error) {
	cpus, unknown := m.someCores(o.CPUs)
	possible, unread := m.cpus("possible")
	if err := cmp.Or(unknown, unread); err != nil {
		return nil, err
	}
	mask, err := machine.Mask(cpus, slices.Max(possible)+1)
	changes, none := m.everyQueue(o.Dev, k.file, func(int) string { return mask })
	return changes, cmp.Or(err, none)
}

// planRFS steers each flow to the core that last read from it, by one global table and a share for
// every queue, rounded up to a power of two as the kernel does.
func planRFS(k *knob, m *system, o Options) (changes []change, err error) {
	entries := cmp.Or(o.Entries, 32768) // as in entry 03
	if entries < 1 || bits.OnesCount(uint(entries)) != 1 {
		return nil, fmt.Errorf("--entries: %d is no power of two", entries)
	}
	if !o.QueuesOnly {
		changes = append(changes, change{path: tableFile, want: fmt.Sprintf("%d\n", entries)})
	}
	if o.TableOnly {
		return changes, nil
	}
	shares, err := m.everyQueue(o.Dev, k.file, func(queues int) string {
		return fmt.Sprint(1 << bits.Len(uint(max(entries/queues, 1)-1)))
	})
	return append(changes, shares...), err
}

// planStop stops a systemd service: of the knob's names the one that runs.
func planStop(k *knob, m *system, _ Options) ([]change, error) {
	return []change{{path: unitPrefix + cmp.Or(k.running(m), k.services[0]) + ".service", want: "inactive"}}, nil
}

// affinityFile is an interrupt's, with the cores that take it.
const affinityFile = "smp_affinity_list"

func affinity(irq string) string { return "/proc/irq/" + irq + "/" + affinityFile }

// planInterrupts gives each queue's interrupt a core of its own, in turn.
func planInterrupts(_ *knob, m *system, o Options) (changes []change, err error) {
	if o.CPUs == "" {
		return nil, fmt.Errorf("--cpus is missing: which cores are to take the interrupts of %s?", o.Dev)
	}
	cpus, err := m.someCores(o.CPUs)
	if err != nil {
		return nil, err
	}
	for _, n := range m.messages(o.Dev) {
		// The directory of an interrupt has one for each of its handlers, with that one's name.
		handlers := m.glob("/proc/irq/" + n + "/*")
		if slices.ContainsFunc(handlers, func(file string) bool { return ofQueue(path.Base(file), o.Dev) }) {
			changes = append(changes, change{path: affinity(n), want: fmt.Sprintf("%d\n", cpus[len(changes)%len(cpus)])})
		}
	}
	if len(changes) == 0 {
		err = fmt.Errorf("%s has no message-signalled interrupt of a queue, by the names in /proc/irq", o.Dev)
	}
	return changes, err
}

// messages lists the message-signalled interrupts of an interface's device or of its
// parent: a virtio interface is a child of the PCI device that has the interrupts.
func (m *system) messages(dev string) []string {
	files := m.glob(netDir + dev + "/device/msi_irqs/*")
	if len(files) == 0 {
		files = m.glob(netDir + dev + "/device/../msi_irqs/*")
	}
	return strict.Map(files, path.Base)
}

// management has vectors that carry no packets: for the link, the firmware, commands.
var management = regexp.MustCompile(`(?i)mgmnt|mgmt|config|control|ctrl|async|admin|misc|cmd|pages|other|link|lsc|event|mbox|fw`)

// ofQueue tells by the name whether an interrupt belongs to a queue. Drivers
// put a number at the end of a queue's name: ens5-Tx-Rx-0, virtio2-input.0,
// mlx5_comp3@pci:0000:05:00.0. The interface's bare name is its link interrupt.
func ofQueue(action, dev string) bool {
	name, _, _ := strings.Cut(action, "@")
	// The interface's own name may contain any word and end in a number.
	name = strings.TrimPrefix(name, dev)
	return strings.TrimRight(name, "0123456789") != name && !management.MatchString(name)
}
