package tune

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cores"
)

// Kinds of targets.
const (
	kindFile     = "file"     // a file of /proc or /sys
	kindChannels = "channels" // the number of an interface's queues, by ioctl
	kindUnit     = "unit"     // a service of systemd
	kindLimit    = "limit"    // a process's limit of open files
)

// Scopes: what a target's value lives and dies with.
const (
	scopeMachine   = "machine"
	scopeNamespace = "network namespace"
	scopeProcess   = "process"
)

// A target is one value that a knob writes.
type target struct {
	Kind  string `json:"kind"`
	Scope string `json:"scope"`
	// Path is the file, as it is called without a made-up tree in front; for
	// other kinds a name that a reader understands.
	Path string `json:"path"`
	// Dev and Index are of the interface that the value belongs to.
	Dev   string `json:"dev,omitempty"`
	Index int    `json:"ifindex,omitempty"`
	// IRQ and Action are of an interrupt: after a reboot its number may be
	// another device's.
	IRQ    int    `json:"irq,omitempty"`
	Action string `json:"action,omitempty"`
	// PID and Start are of a process; a number alone may be used again.
	PID   int    `json:"pid,omitempty"`
	Start uint64 `json:"start,omitempty"`
	Unit  string `json:"unit,omitempty"`
}

// sound tells whether a target of a journal is one that this package could have
// written: the journal may not lead root's pen anywhere else.
func (t target) sound() error {
	bad := fmt.Errorf("%q is no target of a knob", t.Path)
	if !slices.Contains([]string{scopeMachine, scopeNamespace, scopeProcess}, t.Scope) {
		return bad
	}
	switch t.Kind {
	case kindFile:
		if path.Clean(t.Path) != t.Path {
			return bad
		}
		for _, pattern := range []string{
			netDir + "*/mtu", netDir + "*/queues/rx-*/rps_cpus", netDir + "*/queues/rx-*/rps_flow_cnt",
			netDir + "*/queues/tx-*/xps_cpus", "/proc/irq/*/smp_affinity_list",
		} {
			if ok, _ := path.Match(pattern, t.Path); ok {
				return nil
			}
		}
		if strings.HasPrefix(t.Path, sysctlDir) {
			return nil
		}
		return bad
	case kindChannels:
		if t.Dev != "" && t.Path == channelsName(t.Dev) {
			return nil
		}
	case kindUnit:
		if knownUnit(t.Unit) && t.Path == unitName(t.Unit) {
			return nil
		}
	case kindLimit:
		if t.PID > 0 && t.Path == limitName(t.PID) {
			return nil
		}
	}
	return bad
}

// same tells whether two values of a target mean the same: the kernel prints
// some otherwise than they were written.
func same(m *machine, t target, a, b string) bool {
	if a == b {
		return true
	}
	switch path.Base(t.Path) {
	case "rps_cpus", "xps_cpus":
		x, errX := cores.ParseMask(strings.TrimSpace(a), m.possible)
		y, errY := cores.ParseMask(strings.TrimSpace(b), m.possible)
		return errX == nil && errY == nil && slices.Equal(x, y)
	case "smp_affinity_list":
		x, errX := cores.Parse(strings.TrimSpace(a))
		y, errY := cores.Parse(strings.TrimSpace(b))
		slices.Sort(x)
		slices.Sort(y)
		return errX == nil && errY == nil && slices.Equal(x, y)
	}
	return slices.Equal(strings.Fields(a), strings.Fields(b))
}

// plain is a value on one line.
func plain(value string) string { return strings.Join(strings.Fields(value), " ") }

// number reads a value that is one number.
func number(value string) (int, error) { return strconv.Atoi(strings.TrimSpace(value)) }
