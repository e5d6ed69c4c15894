package doctor

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

// A tool is a program that the lab calls.
type tool struct {
	name, means, mend string
	level             Level
	wire              bool // needed for the wire only
	alone             bool // needed by a machine that loads itself, and not by a fleet's
}

const (
	utilLinux = "sudo apt-get install util-linux"
	iproute   = "sudo apt-get install iproute2"
	noWire    = "there is no wire: not applicable: "
)

// tools are searched for in this order.
var tools = []tool{
	{name: "node", means: "no experiment can run", level: Fault, alone: true,
		mend: "install Node.js 20 or newer, from nodejs.org or by your distribution"},
	{name: "taskset", means: "server and client cannot be pinned, and no trial starts", mend: utilLinux, level: Fault},
	{name: "git", means: "a run names no commit, and cannot be contributed", mend: "sudo apt-get install git",
		level: Limit},
	{name: "ip", means: noWire, mend: iproute, level: Limit, wire: true, alone: true},
	{name: "tc", means: noWire, mend: iproute, level: Limit, wire: true, alone: true},
	{name: "unshare", means: noWire, mend: utilLinux, level: Limit, wire: true, alone: true},
	{name: "nsenter", means: noWire, mend: utilLinux, level: Limit, wire: true, alone: true},
	{name: "setpriv", means: noWire, mend: utilLinux, level: Limit, wire: true, alone: true},
}

// programs are those of the journal's own, below its root.
var programs = []struct {
	about, path, means, mend string
	alone                    bool // needed by a machine that loads itself, and not by a fleet's
}{
	{"server", ".tools/bin/fiber_server", "no experiment can run", "make build", false},
	{"http_load", ".tools/bin/http_load", "no claim about a server can be decided", "make build", false},
	{"null server", ".tools/bin/null_server", "the load generators' ceilings cannot be calibrated", "make build", false},
	{"event producer", ".tools/bin/event_producer", "no experiment with batches can run", "make build", false},
	{"event reader", ".tools/bin/event_reader", "no experiment with streams can run", "make build", false},
	{"event sink", ".tools/bin/event_sink", "no experiment with batches can run", "make build", false},
	{"autocannon", "node_modules/autocannon/autocannon.js", "no experiment with it can run", "make setup", true},
}

// programs searches for the programs that the lab calls. Those of others that are present share
// one line.
func (m Machine) programs() []Finding {
	var fs []Finding
	for _, p := range programs {
		f := Finding{Level: Good, About: p.about, Seen: "present"}
		if _, err := os.Stat(filepath.Join(m.Root, p.path)); err != nil {
			f = Finding{Level: Fault, About: p.about, Seen: "missing", Means: p.means, Mend: p.mend}
		}
		if m.Fleet == nil || !p.alone {
			fs = append(fs, f)
		}
	}
	var present []string
	for _, t := range tools {
		if _, err := exec.LookPath(t.name); err == nil {
			present = append(present, t.name)
			continue
		}
		f := Finding{Level: t.level, About: t.name, Seen: "missing", Means: t.means, Mend: t.mend}
		if t.alone && m.Fleet != nil {
			continue
		}
		if t.wire {
			f.Bars = m.claims(overWire)
			f.Means += m.name(f.Bars)
		}
		fs = append(fs, f)
	}
	fs = append(fs, Finding{Level: Good, About: "tools", Seen: join(present)})
	if m.loads() {
		return fs
	}
	return append(append(fs, tracers()), m.servers()...)
}

// servers names the servers of experiments that lack a tool or a program here.
func (m Machine) servers() (fs []Finding) {
	all := map[string]*Finding{}
	for _, x := range m.Experiments {
		for _, absent := range x.Lacking(m.Root) {
			f := all[absent.Server]
			if f == nil {
				f = &Finding{Level: Limit, About: "the " + absent.Server + " server", Seen: "lacking " + absent.What,
					Mend: absent.Mend}
				all[absent.Server] = f
			}
			// The others are measured without it, if there are enough of them.
			_, left := x.Present(m.Root)
			for _, c := range x.Claims {
				if len(left) == 0 || x.About(c, setting.Levels{setting.Server: setting.String(absent.Server)}) {
					f.Bars = append(f.Bars, Claim{x.Name, c.ID})
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f := all[name]
		f.Means = "not applicable: " + m.name(f.Bars)
		if len(f.Bars) == 0 {
			f.Level, f.Means = Good, "no claim so far is about it"
		}
		fs = append(fs, *f)
	}
	return fs
}

// tracers searches for programs that count system calls. No claim needs them:
// that probe must be asked for, since it slows the server.
func tracers() Finding {
	f := Finding{Level: Good, About: "tracers"}
	present := slices.DeleteFunc([]string{"perf", "strace"}, func(name string) bool {
		_, err := exec.LookPath(name)
		return err != nil
	})
	f.Seen = join(present) + ", for the optional count of system calls"
	if len(present) == 0 {
		f.Seen = "none, so system calls cannot be counted; no claim needs that"
	}
	return f
}

func join(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
