package tune

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// irqPin gives each queue's interrupt a core of its own, in turn.
type irqPin struct{ dev, cpus string }

func (k *irqPin) flags(fs *flag.FlagSet) {
	fs.StringVar(&k.dev, "dev", "", "")
	fs.StringVar(&k.cpus, "cpus", "", "")
}
func (k *irqPin) take(rest []string) error { return noMore(rest) }

// ready refuses beside irqbalance, which would move the interrupts again
// within ten seconds.
func (k *irqPin) ready(m *machine) error {
	if pid := m.process("irqbalance"); pid != 0 {
		return unavailable("irqbalance runs (process %d) and would move the interrupts again; stop it first: tune-irqbalance.sh apply", pid)
	}
	return nil
}

func (k *irqPin) plan(m *machine, look bool) ([]change, error) {
	if k.cpus == "" && !look {
		return nil, errors.New("--cpus is missing: which cores are to take the interrupts?")
	}
	irqs, err := m.queueInterrupts(k.dev)
	if err != nil {
		return nil, err
	}
	cpus, err := m.someCores(k.cpus)
	if err != nil {
		return nil, err
	}
	var changes []change
	for i, irq := range irqs {
		t := target{Kind: kindFile, Scope: scopeMachine, Path: fmt.Sprintf("/proc/irq/%d/smp_affinity_list", irq.number), Dev: k.dev, IRQ: irq.number, Action: irq.action}
		if !m.exists(t.Path) {
			return nil, unavailable("this kernel has no %s", t.Path)
		}
		changes = append(changes, change{target: t, want: fmt.Sprintf("%d\n", cpus[i%len(cpus)])})
	}
	return changes, nil
}

// An interrupt is a line of /proc/interrupts.
type interrupt struct {
	number int
	action string // the last word: whose it is
}

// queueInterrupts lists the interrupts of an interface's queues by number.
func (m *machine) queueInterrupts(dev string) ([]interrupt, error) {
	if _, err := m.device(dev); err != nil {
		return nil, err
	}
	numbers, err := m.messages(dev)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(m.real("/proc/interrupts"))
	if err != nil {
		return nil, err
	}
	all := interrupts(string(text))
	var mine []interrupt
	for _, n := range numbers {
		if action, ok := all[n]; ok && ofQueue(action, dev) {
			mine = append(mine, interrupt{n, action})
		}
	}
	if len(mine) == 0 {
		return nil, unavailable("none of the %d interrupts of %s is a queue's, by /proc/interrupts", len(numbers), dev)
	}
	return mine, nil
}

// messages lists a device's message-signalled interrupts, or those of the
// device it is on: an interface of virtio is a child of the PCI device.
func (m *machine) messages(dev string) ([]int, error) {
	device, err := filepath.EvalSymlinks(m.real(netDir + dev + "/device"))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, unavailable("%s is no device of its own and has no interrupts", dev)
		}
		return nil, err
	}
	for _, dir := range []string{device, filepath.Dir(device)} {
		entries, err := os.ReadDir(filepath.Join(dir, "msi_irqs"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		var numbers []int
		for _, e := range entries {
			if n, err := strconv.Atoi(e.Name()); err == nil {
				numbers = append(numbers, n)
			}
		}
		slices.Sort(numbers)
		return numbers, nil
	}
	return nil, unavailable("%s has no message-signalled interrupts (msi_irqs)", dev)
}

// interrupts reads what each numbered interrupt of /proc/interrupts is for: the
// last word of its line. One that nobody has asked for has no such word and is
// left out.
func interrupts(text string) map[int]string {
	all := map[int]string{}
	head, rest, _ := strings.Cut(text, "\n")
	counts := len(strings.Fields(head)) // a column for each online core
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
	// Vectors that take no packets: of the link, the firmware, commands.
	management = regexp.MustCompile(`(?i)mgmnt|mgmt|config|control|ctrl|async|admin|misc|cmd|pages|other|link|lsc|event|mbox|fw`)
	numbered   = regexp.MustCompile(`[0-9]$`)
)

// ofQueue tells a queue's interrupt from others by its name. Drivers name
// those of queues by a number at the end: ens5-Tx-Rx-0, virtio2-input.0,
// mlx5_comp3@pci:0000:05:00.0; the interface's bare name is its link's.
func ofQueue(action, dev string) bool {
	name, _, _ := strings.Cut(action, "@")
	// The interface's own name may hold any word, and end in a number.
	name = strings.TrimPrefix(name, dev)
	return numbered.MatchString(name) && !management.MatchString(name)
}

// process finds a process by its name.
func (m *machine) process(name string) int {
	dirs, _ := filepath.Glob(m.real("/proc/[0-9]*"))
	for _, dir := range dirs {
		comm, err := os.ReadFile(filepath.Join(dir, "comm"))
		if err == nil && strings.TrimSpace(string(comm)) == name {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			return pid
		}
	}
	return 0
}
