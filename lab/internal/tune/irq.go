package tune

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// noBalancer refuses to work while irqbalance runs: it would move the
// interrupts again within ten seconds.
func noBalancer(m *machine) error {
	if pid := m.process("irqbalance"); pid != 0 {
		return unavailable("irqbalance runs (process %d) and would move the interrupts again; stop it first: "+
			"tune-irqbalance.sh apply", pid)
	}
	return nil
}

// planInterrupts gives each queue's interrupt a core of its own, in turn.
func planInterrupts(m *machine, o *options) ([]change, error) {
	if o.cpus == "" && !o.look {
		return nil, errors.New("--cpus is missing: which cores are to take the interrupts?")
	}
	if _, err := m.device(o.dev); err != nil {
		return nil, err
	}
	numbers, err := messages(m.tree, o.dev)
	if err != nil {
		return nil, err
	}
	all, err := m.interrupts()
	if err != nil {
		return nil, err
	}
	mine := slices.DeleteFunc(slices.Clone(numbers), func(n int) bool { return !ofQueue(all[n], o.dev) })
	if len(mine) == 0 {
		return nil, unavailable("none of the %d interrupts of %s is a queue's, by /proc/interrupts", len(numbers), o.dev)
	}
	cpus, err := m.someCores(o.cpus)
	if err != nil {
		return nil, err
	}
	var changes []change
	for i, n := range mine {
		t := file(fmt.Sprintf("/proc/irq/%d/smp_affinity_list", n))
		t.Dev, t.IRQ, t.Action = o.dev, n, all[n]
		if !m.exists(t.Path) {
			return nil, unavailable("this kernel has no %s", t.Path)
		}
		changes = append(changes, change{target: t, want: fmt.Sprintf("%d\n", cpus[i%len(cpus)])})
	}
	return changes, nil
}

// messages lists the message-signalled interrupts of an interface's device or of its
// parent: a virtio interface is a child of the PCI device that has the interrupts. The
// files are below root: "/", except in tests.
func messages(root, dev string) ([]int, error) {
	device, err := filepath.EvalSymlinks(filepath.Join(root, netDir, dev, "device"))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, unavailable("%s is no device of its own and has no interrupts", dev)
		}
		return nil, err
	}
	for _, dir := range []string{device, filepath.Dir(device)} {
		numbers, err := numbered(filepath.Join(dir, "msi_irqs"), "")
		if !errors.Is(err, fs.ErrNotExist) {
			return numbers, err
		}
	}
	return nil, unavailable("%s has no message-signalled interrupts (msi_irqs)", dev)
}

// interrupts reads the action of each numbered interrupt.
func (m *machine) interrupts() (map[int]string, error) {
	text, err := os.ReadFile(m.real("/proc/interrupts"))
	return interrupts(string(text)), err
}

// interrupts maps an interrupt's number to its action, the last word of its
// line in /proc/interrupts. An interrupt without a handler has no such word and
// is left out.
func interrupts(text string) map[int]string {
	all := map[int]string{}
	head, rest, _ := strings.Cut(text, "\n")
	counts := len(strings.Fields(head)) // one column for each online core
	for line := range strings.Lines(rest) {
		fields := strings.Fields(line)
		if len(fields) < counts+3 {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSuffix(fields[0], ":"))
		if err != nil || !strings.HasSuffix(fields[0], ":") {
			continue
		}
		all[n] = fields[len(fields)-1]
	}
	return all
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
