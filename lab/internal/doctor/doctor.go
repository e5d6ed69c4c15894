// Package doctor says what keeps a machine from measuring, or disturbs it, before anything is run on it.
//
// Each finding says what was seen, what that means, and how to mend it. The doctor needs no root, changes
// nothing, and measures nothing that takes longer than making a wire and watching for some seconds. It
// sees the machine as it is now: whether a block was disturbed, and what bounded it, only the run can say.
package doctor

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
)

// A Level says how much a finding matters.
type Level string

// Good findings need nothing; limits keep something from being measured, or disturb it; faults end runs
// before they begin.
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
}

// A Machine is the machine to examine.
type Machine struct {
	Split   cores.Split // how its cores would be divided
	Allowed []int       // CPUs that the lab may use

	// Watch is how long to watch what changes; 0 for not at all. Tick, if not nil, is called once a second
	// with the time left.
	Watch time.Duration
	Tick  func(left time.Duration)

	// Proc, Sys and Cgroup are /proc, /sys and /sys/fs/cgroup; tests set them to made-up trees.
	Proc, Sys, Cgroup string
}

// located has the places of the real machine where a test names none.
func (m Machine) located() Machine {
	m.Proc, m.Sys = cmp.Or(m.Proc, "/proc"), cmp.Or(m.Sys, "/sys")
	m.Cgroup = cmp.Or(m.Cgroup, filepath.Join(m.Sys, "fs", "cgroup"))
	return m
}

// Journal is what a clone of the journal at root needs beside what a comparison does.
func (m Machine) Journal(root string) []Finding {
	m = m.located()
	fs := append(programs(root), m.division(), m.siblings(), m.quota(), m.governor(), m.turbo(), m.clock(), m.threads())
	fs = append(fs, m.wires()...)
	return append(append(fs, m.limits()...), m.watched()...)
}

// Comparison is what a comparison of servers needs.
func (m Machine) Comparison() []Finding {
	m = m.located()
	return []Finding{m.division(), m.siblings(), m.quota(), m.governor(), m.turbo(), m.clock(), m.threads(), m.groups(),
		sampling(), m.ptrace()}
}

// programs looks for what the lab starts: its own programs, by their paths below the root, and those of
// others in PATH. What is there has no line.
func programs(root string) (fs []Finding) {
	for _, p := range []struct {
		name, path  string
		level       Level
		means, mend string
	}{
		{"server", ".tools/bin/fiber_server", Fault, "no experiment can run", "make build"},
		{"linerate", ".tools/bin/linerate", Fault, "no claim about a server can be decided", "make build"},
		{"null server", ".tools/bin/null_server", Fault, "clients cannot be measured against it", "make build"},
		{"event producer", ".tools/bin/event_producer", Fault, "no experiment with batches can run", "make build"},
		{"event sink", ".tools/bin/event_sink", Fault, "no experiment with batches can run", "make build"},
		{"event reader", ".tools/bin/event_reader", Fault, "no experiment with streams can run", "make build"},
		{"autocannon", "node_modules/autocannon/autocannon.js", Fault, "no experiment with it can run", "make setup"},
		{"node", "", Fault, "no experiment with autocannon can run", "install Node.js 20.11 or newer, from nodejs.org"},
		{"taskset", "", Fault, "server and client cannot be pinned, and nothing starts", "sudo apt-get install util-linux"},
		{"git", "", Limit, "a run names no commit, and cannot be contributed", "sudo apt-get install git"},
	} {
		var err error
		if p.path == "" {
			_, err = exec.LookPath(p.name)
		} else {
			_, err = os.Stat(filepath.Join(root, p.path))
		}
		if err != nil {
			fs = append(fs, Finding{p.level, p.name, "missing", p.means, p.mend})
		}
	}
	if len(fs) == 0 {
		fs = append(fs, Finding{Level: Good, About: "programs", Seen: "all there"})
	}
	return fs
}

// sysctl reads a setting by its name.
func (m Machine) sysctl(name string) string {
	return line(m.Proc, "sys", strings.ReplaceAll(name, ".", "/"))
}

// line reads a short file; empty if there is none.
func line(elem ...string) string {
	text, _ := os.ReadFile(filepath.Join(elem...))
	return strings.Join(strings.Fields(string(text)), " ")
}
