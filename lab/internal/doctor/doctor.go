// Package doctor says what keeps a machine from measuring, before anything is run on it.
//
// Each finding says what was seen, what that means, and how to mend it. The doctor needs no root, changes
// nothing, and measures nothing. Whether a block was disturbed, and what bounded it, only the run can say.
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

	"github.com/line-rate/line-rate/lab/internal/cores"
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
	Split   cores.Split  // how its cores would be divided
	Allowed []int        // CPUs that this process may use
	Clone   string       // the root of a clone of the journal, whose programs are looked for; empty: none
	Wire    func() error // whether a wire can be made: wire.Try; nil: it is not tried

	root string // "/", except in tests
}

// Findings are what was seen of what can be seen here.
func (m Machine) Findings() []Finding {
	fs := m.programs()
	for _, look := range []struct {
		about string
		see   func(Machine) (seen, means, mend string) // what needs nothing has no meaning
	}{
		{"cores", Machine.division}, {"SMT", Machine.siblings}, {"CPU quota", Machine.quota}, {"frequency", Machine.frequency},
		{"clock", Machine.clock}, {"perf", Machine.sampling}, {"ptrace", Machine.ptrace}, {"wire", Machine.wire},
	} {
		f := Finding{Level: Good, About: look.about}
		if f.Seen, f.Means, f.Mend = look.see(m); f.Means != "" {
			f.Level = Limit
		}
		if f.Seen != "" {
			fs = append(fs, f)
		}
	}
	return fs
}

// programs looks for what the lab starts, below the clone's root and in PATH. What is there has no line.
func (m Machine) programs() (fs []Finding) {
	if m.Clone == "" {
		return nil
	}
	for _, p := range []struct {
		path  string // with a slash: from the root
		level Level
		means string
		mend  string
	}{
		{".tools/bin/fiber_server", Fault, "no experiment can run", "make build"},
		{"node_modules/autocannon/autocannon.js", Fault, "no experiment with autocannon can run", "make setup"},
		{"node", Fault, "no experiment with autocannon can run", "install Node.js 20.11 or newer, from nodejs.org"},
		{"git", Limit, "a run names no commit, and cannot be contributed", "sudo apt-get install git"},
	} {
		at := p.path
		if strings.Contains(at, "/") {
			at = filepath.Join(m.Clone, at)
		}
		if _, err := exec.LookPath(at); err != nil && !exists(at) {
			fs = append(fs, Finding{p.level, filepath.Base(p.path), "missing", p.means, p.mend})
		}
	}
	return fs
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
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
