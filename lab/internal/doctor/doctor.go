// Package doctor says what a machine can decide, before anything is run on it.
//
// Each finding names what was seen, what it means for which claims, and how to
// mend it. It changes nothing and measures nothing that takes longer than the
// making of a wire.
package doctor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/provenance"
	"github.com/line-rate/line-rate/lab/internal/topology"
)

// A Level is how much a finding matters.
type Level string

// Good findings need nothing; limits make claims not applicable; faults keep
// the lab from measuring at all.
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
	Means string // empty for Good
	Mend  string // empty where nothing can be done, or need be
}

// Examine looks at the machine. root is the repository's top, split how its
// cores would be divided, wire the topology to try.
func Examine(root string, split cores.Split, wire experiment.Topology) []Finding {
	return []Finding{
		file("server", filepath.Join(root, ".tools", "bin", "fiber_server"), "no experiment can run", "make build"),
		program("node", "no experiment can run", "install Node.js 20 or newer"),
		file("autocannon", filepath.Join(root, "node_modules", "autocannon", "autocannon.js"), "no experiment can run", "make setup"),
		program("taskset", "server and client cannot be pinned, and no trial starts", "install util-linux"),
		division(split),
		tryWire(root, wire),
		openFiles(),
		swap(),
	}
}

func file(about, path, means, mend string) Finding {
	if _, err := os.Stat(path); err != nil {
		return Finding{Fault, about, "missing", means, mend}
	}
	return Finding{Level: Good, About: about, Seen: "present"}
}

func program(name, means, mend string) Finding {
	if _, err := exec.LookPath(name); err != nil {
		return Finding{Fault, name, "missing", means, mend}
	}
	return Finding{Level: Good, About: name, Seen: "present"}
}

func division(s cores.Split) Finding {
	f := Finding{Level: Good, About: "cores", Seen: fmt.Sprintf("server on %s, client on %s", cores.Format(s.Server), cores.Format(s.Client))}
	switch {
	case len(s.Server) == 0:
		f.Level, f.Seen = Limit, "one core"
		f.Means = "server and client share it: no trial can say what bounded it"
	case len(s.Server) < 2:
		f.Level = Limit
		f.Means = "claims that compare several workers' throughput are not applicable: they need four cores"
	}
	return f
}

func tryWire(root string, t experiment.Topology) Finding {
	f := Finding{Level: Good, About: "wire", Seen: "a shaped wire between two namespaces can be made"}
	link, err := topology.Up(t, root, filepath.Join("lab", "scripts", "wire.sh"))
	var unavailable topology.Unavailable
	switch {
	case errors.As(err, &unavailable):
		f.Level, f.Seen = Limit, unavailable.Why
		f.Means = "every claim over the netns topology is not applicable"
	case err != nil:
		f.Level, f.Seen, f.Means = Fault, err.Error(), "experiments over the netns topology fail"
	default:
		link.Down()
	}
	return f
}

func openFiles() Finding {
	const need = 4096 // the largest experiment's connections, on one side, fourfold
	n, ok := provenance.OpenFiles()
	f := Finding{Level: Good, About: "open files", Seen: fmt.Sprintf("limit %d", n)}
	if ok && n < need {
		f.Level, f.Means, f.Mend = Limit, "trials with many connections may end in errors, and then are invalid", fmt.Sprintf("ulimit -n %d", need)
	}
	return f
}

func swap() Finding {
	text, err := os.ReadFile("/proc/swaps")
	if err != nil || strings.Count(strings.TrimSpace(string(text)), "\n") == 0 {
		return Finding{Level: Good, About: "swap", Seen: "none"}
	}
	return Finding{Limit, "swap", "in use or ready", "a trial that swaps measures the disk", "swapoff -a, for the time of the run"}
}
