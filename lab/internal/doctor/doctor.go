// Package doctor says what a machine can decide, before anything is run on it.
//
// Each finding names what was seen, what it means for which claims, and how to
// mend it. It needs no root, changes nothing, and measures nothing that takes
// longer than the making of a wire and a watch of some seconds.
//
// Its limit: it sees the machine as it is now. Whether a trial was disturbed,
// and what bounded it, only the run can say.
package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// A Level is how much a finding matters.
type Level string

// Good findings need nothing; limits keep some claims from being decided, or
// make trials noisier or invalid; faults end runs before they begin.
const (
	Good  Level = "ok"
	Limit Level = "limit"
	Fault Level = "fault"
)

// A Finding is one thing seen.
type Finding struct {
	Level Level
	About string
	Seen  string
	Means string  // what follows, for which claims; empty for Good
	Mend  string  // what to type; empty where nothing can be done, or need be
	Bars  []Claim // the claims that cannot be decided here while it is so
}

// A Machine is what is examined, and what for.
type Machine struct {
	Root        string      // the repository's top
	Split       cores.Split // how its cores would be divided
	Allowed     []int       // the CPUs that the lab may use
	Wire        experiment.Topology
	Experiments []*experiment.Experiment
	Host        string          // its name in data/hosts
	Runs        []*results.File // all there are

	// Watch is how long to look at what changes; 0 leaves that out. Tick, if
	// not nil, is told once a second how long it still takes.
	Watch time.Duration
	Tick  func(left time.Duration)

	// Proc, Sys and Cgroup are /proc, /sys and /sys/fs/cgroup; tests put
	// made-up trees in their place.
	Proc, Sys, Cgroup string
}

// Examine looks at the machine.
func (m Machine) Examine() []Finding {
	if m.Proc == "" {
		m.Proc = "/proc"
	}
	if m.Sys == "" {
		m.Sys = "/sys"
	}
	if m.Cgroup == "" {
		m.Cgroup = filepath.Join(m.Sys, "fs", "cgroup")
	}
	w := m.watch()
	fs := m.programs()
	fs = append(fs, m.division(), m.siblings(), m.quota(w), m.governor(), m.turbo(), m.clock(), m.schedstat())
	fs = append(append(fs, m.machines()), m.wires()...)
	fs = append(fs, m.openFiles(), m.ports(), m.acceptQueue(), m.synQueue(), m.memory(), m.swap(w), m.ceiling())
	return append(fs, m.watched(w)...)
}

// read gives a small file of /proc or /sys in one line, empty if it cannot be
// read: what a machine does not show is not known.
func read(elem ...string) string {
	b, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(b)), " ")
}

// sysctl reads a setting by its name.
func (m Machine) sysctl(name string) string {
	return read(m.Proc, "sys", strings.ReplaceAll(name, ".", "/"))
}

func (m Machine) procfs() (procfs.FS, error) { return procfs.NewFS(m.Proc) }

// notVisible is what is said of what this machine does not show; a virtual
// machine's host decides it, and does not tell.
const notVisible = "not visible here, as in most virtual machines"
