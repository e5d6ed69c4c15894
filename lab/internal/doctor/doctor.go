// Package doctor says what keeps a machine from measuring, or disturbs it, before anything is run on it.
//
// Each finding says what was seen, what that means, and how to mend it. The doctor needs no root, changes
// nothing, and measures nothing that takes longer than making a wire and watching for some seconds. It
// sees the machine as it is now: whether a block was disturbed, and what bounded it, only the run can say.
package doctor

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/terminal"
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

	Wire func() error // whether a wire can be made: wire.Try

	root string // "/", except in tests
}

// A look is one row of a report. It says what it sees, what that means and how to mend it; what needs
// nothing has no meaning.
type look struct {
	about string
	see   func(Machine) (seen, means, mend string)
}

var both = []look{{"cores", Machine.division}, {"SMT", Machine.siblings}, {"CPU quota", Machine.quota},
	{"governor", Machine.governor}, {"turbo", Machine.turbo}, {"clock", Machine.clock}}

// Journal is what a clone of the journal at root needs beside what a comparison does.
func (m Machine) Journal(root string) []Finding {
	fs := append(programs(root), m.see(append(both, look{"wire", Machine.wire}, look{"open files", Machine.files},
		look{"ports", Machine.ports}, look{"somaxconn", Machine.queue}))...)
	return append(fs, m.watched()...)
}

// Comparison is what a comparison of servers needs.
func (m Machine) Comparison() []Finding {
	return m.see(append(both, look{"perf", Machine.sampling}, look{"ptrace", Machine.ptrace}))
}

func (m Machine) see(looks []look) (fs []Finding) {
	for _, l := range looks {
		f := Finding{Level: Good, About: l.about}
		if f.Seen, f.Means, f.Mend = l.see(m); f.Means != "" {
			f.Level = Limit
		}
		fs = append(fs, f)
	}
	return fs
}

// programs looks for what the lab starts: its own programs, by their paths below the root, and those of
// others in PATH. What is there has no line.
func programs(root string) (fs []Finding) {
	const events, install = "no experiment with batches or streams can run", "sudo apt-get install "
	for _, p := range []struct{ name, path, means, mend string }{
		{"server", ".tools/bin/fiber_server", "no experiment can run", "make build"},
		{"linerate", ".tools/bin/linerate", "no claim about a server can be decided", "make build"},
		{"null server", ".tools/bin/null_server", "clients cannot be measured against it", "make build"},
		{"event producer", ".tools/bin/event_producer", events, "make build"},
		{"event sink", ".tools/bin/event_sink", events, "make build"},
		{"event reader", ".tools/bin/event_reader", events, "make build"},
		{"autocannon", "node_modules/autocannon/autocannon.js", "no experiment with it can run", "make setup"},
		{"node", "", "no experiment with autocannon can run", "install Node.js 20.11 or newer, from nodejs.org"},
		{"taskset", "", "server and client cannot be pinned, and nothing starts", install + "util-linux"},
		{"git", "", "a run names no commit, and cannot be contributed", install + "git"},
	} {
		_, err := os.Stat(filepath.Join(root, p.path))
		if p.path == "" {
			_, err = exec.LookPath(p.name)
		}
		level := Fault
		if p.name == "git" {
			level = Limit
		}
		if err != nil {
			fs = append(fs, Finding{level, p.name, "missing", p.means, p.mend})
		}
	}
	if len(fs) == 0 {
		fs = append(fs, Finding{Level: Good, About: "programs", Seen: "all there"})
	}
	return fs
}

// watched watches the machine as a run does. Between samples it sleeps: if it worked, it would itself be
// the load that it tells of. The load average is not used: it still includes the run before, it counts
// tasks that wait for a disk, and it does not say how much CPU is left.
func (m Machine) watched() []Finding {
	if m.Watch <= 0 {
		return []Finding{{Level: Good, About: "watch", Seen: "left out: steal, other load, paging and throttling were not looked at"}}
	}
	began := time.Now()
	s, err := machine.Start(machine.Targets{Pairs: []machine.Pair{{Client: func() int { return 0 }}},
		ServerCPUs: m.Allowed, ClientCPUs: m.Allowed, Window: m.Watch})
	if err != nil {
		return []Finding{{Level: Good, About: "watch", Seen: "not possible here: " + err.Error()}}
	}
	for left := m.Watch; left > 0; left = m.Watch - time.Since(began) {
		if m.Tick != nil {
			m.Tick(left)
		}
		time.Sleep(min(left, time.Second))
	}
	s.Stop()
	return disturbances(s.Between(0, began, time.Now(), 0))
}

// disturbances reports what went on during a watch.
func disturbances(w machine.Window) (fs []Finding) {
	const wider = "intervals are wider for it, and deciding takes longer"
	var busiest []string // without arguments, which may be private
	for _, o := range w.Others[:min(len(w.Others), 3)] {
		if o.Cores >= 0.005 {
			busiest = append(busiest, fmt.Sprintf("%s %.2f", o.Name, o.Cores))
		}
	}
	for _, d := range []struct {
		about, metric string
		least, scale  float64
		seen          string // with one verb for a percentage or an amount
		means, mend   string
	}{
		{"steal", "server_steal", 0.01, 100, "%.1f %% of the cores' time", wider, "wait, or use a machine whose cores are its own"},
		{"other load", "server_foreign_load", 0.05, 1, "%.2f of a core: " + strings.Join(busiest, ", "), wider,
			"stop what is named, or wait for its end"},
		{"throttling", "throttled_s", 1e-9, 1, "cores were held back for %.3f s", "a block that is held back by a quota does not count",
			"lift the quota on the container or service; if it is heat, let the machine cool"},
		{"swapping", "swap_pages", 1, 1, "%.0f pages moved", wider, "sudo swapoff -a, for the time of the run"},
	} {
		f := Finding{Level: Good, About: d.about, Seen: "none to speak of"}
		if v, ok := w.Metrics[d.metric]; !ok {
			f.Seen = "not shown here"
		} else if v >= d.least {
			f = Finding{Limit, d.about, fmt.Sprintf(d.seen, v*d.scale), d.means, d.mend}
		}
		fs = append(fs, f)
	}
	return fs
}

// The columns of a report: at the most, whatever a terminal has, and at the least.
const (
	widest, narrowest = 100, 60
	levelColumn       = 7
	aboutColumn       = 16
)

// Print writes findings for a reader, as wide as the terminal is: first what prevents or disturbs, the worst
// first, and last what is in order. A command to type is never broken over lines.
func Print(w io.Writer, fs []Finding) error {
	width := widest
	if has := terminal.Columns(w); has > 0 {
		width = min(width, max(has, narrowest))
	}
	var b strings.Builder
	rank := map[Level]int{Fault: 0, Limit: 1, Good: 2}
	for _, f := range slices.SortedStableFunc(slices.Values(fs), func(a, b Finding) int { return cmp.Compare(rank[a.Level], rank[b.Level]) }) {
		head := fmt.Sprintf("%-*s%-*s", levelColumn, f.Level, aboutColumn, f.About)
		lines := terminal.Wrap(f.Seen, width-levelColumn-aboutColumn)
		if f.Means != "" {
			lines = append(lines, terminal.Wrap(f.Means, width-levelColumn-aboutColumn)...)
		}
		if f.Mend != "" {
			lines = append(lines, "to mend it: "+f.Mend)
		}
		for _, line := range lines {
			fmt.Fprintf(&b, "%-*s%s\n", levelColumn+aboutColumn, head, line)
			head = ""
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
