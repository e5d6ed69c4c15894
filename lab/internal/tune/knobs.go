package tune

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A knob is a group of kernel settings that one command changes.
type knob struct {
	name  string
	takes string // the options it accepts, as help prints them
	says  string // what it sets, as help prints it
	// kind is how its values are read and set. paths are patterns of their names.
	kind  kind
	paths []string
	same  func(a, b string) bool // whether two different texts mean the same value
	plan  plan
	// services are the names of the service that it stops, and of its process; the first that
	// exists counts.
	services []string
	ready    func(m *machine) error // checks other conditions; nil where there are none
	// Only root of the machine may change it, and root of a user namespace may not. For an
	// interface's, rights is the capability that changing it takes, and where the paths; a
	// service has neither.
	rights int
	where  string
}

var knobs = []*knob{
	{
		name: "rps", takes: "--dev D [--cpus LIST]",
		says: "cores that every receive queue hands packets on to (default: all)",
		kind: kindFile, paths: []string{netDir + "*/queues/rx-*/rps_cpus"}, same: sameMask,
		plan: planRPS, rights: capNetAdmin, where: netDir + "*/queues",
	}, {
		name: "rfs", takes: "--dev D [--entries N]\n[--table-only|--queues-only]",
		says: "flow table, and each queue's share of it (default 32768)\none half, where the other is in another namespace",
		kind: kindFile, paths: []string{tableFile, netDir + "*/queues/rx-*/rps_flow_cnt"}, same: sameWords,
		plan: planRFS, rights: capNetAdmin, where: netDir + "*/queues",
	}, {
		name: "irq-pin", takes: "--dev D --cpus LIST",
		says: "each queue's interrupt on a core, in turn",
		kind: kindFile, paths: []string{"/proc/irq/*/smp_affinity_list"}, same: sameList,
		plan: planInterrupts, ready: noBalancer, rights: capDACOverride, where: irqDir,
	},
	stops("irqbalance", "irqbalance"),
	stops("crond", "crond", "cron"),
}

// stops is a knob that stops a service, of which distributions have these names.
func stops(name string, services ...string) *knob {
	return &knob{name: name, says: "stop the service", kind: kindUnit, same: sameWords,
		plan: planStop(services...), services: services, paths: strict.Called(services, unitName)}
}

// Knobs lists the knobs' names.
func Knobs() []string { return strict.Called(knobs, func(k *knob) string { return k.name }) }

func find(name string) (*knob, error) {
	i := slices.Index(Knobs(), name)
	if i < 0 {
		return nil, fmt.Errorf("no knob %q; %s", name, strict.Instead(name, Knobs()))
	}
	return knobs[i], nil
}

// irqDir has the interrupts.
const irqDir = "/proc/irq"

// Numbers of the kernel's capabilities.
const capDACOverride, capNetAdmin = 1, 12

func needsRoot(path string) error { return unavailable("needs root: run with sudo (%s)", path) }

// How long a value lives: as long as its scope.
const (
	scopeMachine   = "machine"
	scopeNamespace = "network namespace"
)

// A target is one value that a knob writes.
type target struct {
	Kind  kind   `json:"kind"`
	Scope string `json:"scope"`
	// Path is the file's path on a real machine, without a made-up tree in front.
	// For a service it is a name for readers.
	Path string `json:"path"`
	// Dev and Index identify the interface that the value belongs to.
	Dev   string `json:"dev,omitempty"`
	Index int    `json:"ifindex,omitempty"`
	// IRQ and Action identify an interrupt: after a reboot another device may have
	// its number.
	IRQ    int    `json:"irq,omitempty"`
	Action string `json:"action,omitempty"`
	Unit   string `json:"unit,omitempty"`
}

// file is the target for a file. Files below net exist once per network
// namespace and are shown for the reader's.
func file(path string) target {
	t := target{Kind: kindFile, Scope: scopeMachine, Path: path}
	if strings.HasPrefix(path, netDir) || strings.HasPrefix(path, sysctlDir+"net/") {
		t.Scope = scopeNamespace
	}
	return t
}

// knob is the first knob with a pattern that matches the target's path, or nil.
func (t target) knob() *knob {
	for _, k := range knobs {
		for _, pattern := range k.paths {
			if ok, _ := path.Match(pattern, t.Path); ok {
				return k
			}
		}
	}
	return nil
}

// A change is a target with its present and its wanted value.
type change struct {
	target    target
	now, want string
}

// changes plans the knob's changes and reads the present values.
func (k *knob) changes(m *machine, o *options) ([]change, error) {
	changes, err := k.plan(m, o)
	if err == nil {
		err = m.look(changes)
	}
	return changes, err
}

// look reads the present values of the changes' targets.
func (m *machine) look(changes []change) (err error) {
	for i, c := range changes {
		if changes[i].now, err = m.read(c.target); err != nil {
			return err
		}
	}
	return nil
}

// due tells whether a change has something to write.
func (c change) due() bool { return !c.target.same(c.now, c.want) }

// same tells whether two texts of a target mean the same value: the kernel may
// print a value differently from how it was written.
func (t target) same(a, b string) bool {
	k := t.knob()
	return a == b || k != nil && k.same(a, b)
}

// reach checks the conditions for writing, before anything is written.
func (k *knob) reach(m *machine, changes []change) error {
	if k.ready != nil {
		if err := k.ready(m); err != nil {
			return err
		}
	}
	for _, c := range changes {
		if m.tree != "" || !c.due() {
			continue
		}
		if err := c.target.writable(); err != nil {
			return err
		}
	}
	return nil
}

// beforeWrite is called before each write, and before originals are forgotten.
// Tests replace it to fail or to end the process there.
var beforeWrite = func(target, string) error { return nil }

// set writes a value and reads it back.
func (m *machine) set(t target, value string) error {
	err := beforeWrite(t, value)
	if err == nil {
		err = m.write(t, value)
	}
	if errors.Is(err, fs.ErrPermission) {
		return needsRoot(t.Path)
	} else if err != nil {
		return err
	}
	now, err := m.read(t)
	if err == nil && !t.same(now, value) {
		err = fmt.Errorf("%s: %q was written, and the kernel made %q of it", t.Path, plain(value), plain(now))
	}
	return err
}

// bring restores a value byte for byte.
func (m *machine) bring(t target, value string) error {
	if now, err := m.read(t); err == nil && now == value {
		return nil
	}
	return m.set(t, value)
}
