// Package doctor says what a machine can decide, before anything is run on it.
//
// Each finding says what was seen, what that means, and how to mend it. The doctor needs no root, changes nothing, and measures nothing that
// takes longer than making a wire and watching for some seconds.
//
// It sees the machine as it is now. Whether a trial was disturbed, and what
// bounded it, only the run can say.
package doctor

import (
	"cmp"
	"path/filepath"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/tune"
)

// A Level says how much a finding matters.
type Level string

// Good findings need nothing; limits prevent some claims from being decided, or
// make trials noisier or invalid; faults end runs before they begin.
const (
	Good  Level = "ok"
	Limit Level = "limit"
	Fault Level = "fault"
)

// A Finding is one observation.
type Finding struct {
	Level Level
	About string
	Seen  string
	Means string // its effect; empty for Good
	Mend  string // command to type; empty if nothing can or need be done
	Bars  bool   // whether some claims are not applicable because of it

	// Spoils is whether it makes trials of every claim invalid, or may.
	Spoils bool
}

// A Machine is the machine to examine, with the experiments to examine it for.
type Machine struct {
	Root        string      // the repository's root; empty: there is none
	Split       cores.Split // how its cores would be divided
	Allowed     []int       // CPUs that the lab may use
	Experiments []*experiment.Experiment
	Hosts       []string    // the present name; none: not looked for
	Made        string      // where the present name comes from, in words
	Alike       string      // hosts of the journal that it may be, in words; empty if it is known, or new
	Alone       string      // why nothing of its own tells it apart from others of its kind; empty if something does
	Left        []tune.Left // kernel settings that something turned and nothing has restored

	// Watch is how long to watch what changes; 0 for not at all. Tick, if not nil,
	// is called once a second with the time left.
	Watch time.Duration
	Tick  func(left time.Duration)

	// Proc, Sys and Cgroup are /proc, /sys and /sys/fs/cgroup; tests set them to
	// made-up trees.
	Proc, Sys, Cgroup string
}

// located has the places of the real machine where a test names none.
func (m Machine) located() Machine {
	m.Proc, m.Sys = cmp.Or(m.Proc, "/proc"), cmp.Or(m.Sys, "/sys")
	m.Cgroup = cmp.Or(m.Cgroup, filepath.Join(m.Sys, "fs", "cgroup"))
	return m
}

// Examine examines the machine.
func (m Machine) Examine() []Finding {
	m = m.located()
	fs := append(m.identity(), m.programs()...)
	fs = append(fs, m.division(), m.siblings(), m.quota(), m.governor(), m.turbo(), m.clock(), m.schedstat())
	fs = append(append(fs, m.machines()), m.turned()...)
	fs = append(fs, m.wires()...)
	fs = append(fs, m.openFiles(), m.ports(), m.acceptQueue(), m.synQueue(), m.memory(), m.swap())
	return append(fs, m.watched()...)
}

// identity says under which name this machine's results are kept, and why.
func (m Machine) identity() []Finding {
	if len(m.Hosts) == 0 {
		return nil
	}
	f := Finding{Level: Good, About: "machine", Seen: m.Hosts[0] + ", " + m.Made}
	if m.Alike != "" {
		f.Seen += ". If it is " + m.Alike + ", which has the same parts, give it that name, by --host or in .lab-host"
	}
	if m.Alone != "" {
		f.Seen += ". Nothing of its own tells it apart from others of its kind, because " + m.Alone +
			". Its first run keeps the name in .lab-host; without that file it would count as another machine after its next " +
			"start"
		f.Mend = "echo NAME > .lab-host (a name that no other machine has)"
	}
	return []Finding{f}
}

// sysctl reads a setting by its name.
func (m Machine) sysctl(name string) string {
	return host.Line(m.Proc, "sys", strings.ReplaceAll(name, ".", "/"))
}

// notVisible is the text for what this machine does not show; for a virtual
// machine the host decides it.
const notVisible = "not visible here, as in most virtual machines"
