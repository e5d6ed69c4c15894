package tune

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// treeVariable names the environment variable for a directory put in front of /proc and /sys. It is
// for tests: a made-up tree replaces a machine that they do not have.
const treeVariable = "LINE_RATE_TUNE_ROOT"

const (
	netDir = "/sys/class/net/" // whose files go with a network namespace
	cpuDir = "/sys/devices/system/cpu/"
	// tableFile exists only in the machine's own network namespace.
	tableFile  = "/proc/sys/net/core/rps_sock_flow_entries"
	unitPrefix = "systemctl:" // of a service, in place of a file's directory
)

// A system is this process's view of the machine that it runs on.
type system struct {
	tree    string // put in front of every path; empty on a real machine
	apart   bool   // in a network namespace other than the machine's own
	records []Left // the originals in the order of saving, read under the lock; but apart they are only here
}

// here fails where nothing can be turned.
func here() (*system, error) {
	m := &system{tree: os.Getenv(treeVariable)}
	if machine.Read(m.tree, cpuDir, "possible") == "" {
		return nil, fmt.Errorf("the kernel's knobs are Linux's: there is no %s here", cpuDir)
	}
	_, none := os.Stat(m.tree + tableFile)
	m.apart = none != nil
	return m, nil
}

// cpus are those that are online, or possible.
func (m *system) cpus(which string) ([]int, error) {
	return machine.Parse(machine.Read(m.tree, cpuDir, which))
}

// read reads a value verbatim.
func (m *system) read(path string) (string, error) {
	if unit, ok := strings.CutPrefix(path, unitPrefix); ok {
		state, err := systemctl("show", "--property=ActiveState", "--value", unit)
		return strings.Replace(state, "failed", "inactive", 1), err
	}
	b, err := os.ReadFile(m.tree + path)
	return string(b), err
}

// Each write calls beforeWrite first, and so does forgetting the originals. Tests replace it to
// fail or to end the process there.
var beforeWrite = func() error { return nil }

// set writes a value and reads it back.
func (m *system) set(path, value string) error {
	err := beforeWrite()
	if unit, ok := strings.CutPrefix(path, unitPrefix); ok && err == nil {
		_, err = systemctl(map[bool]string{true: "start", false: "stop"}[value == "active"], unit)
	} else if err == nil {
		err = os.WriteFile(m.tree+path, []byte(value), 0) // in a single write, as the kernel takes it
	}
	if err != nil {
		return err
	}
	now, err := m.read(path)
	if err == nil && plain(now) != plain(value) {
		err = fmt.Errorf("%s: wrote %q, and the kernel made that %q", path, plain(value), plain(now))
	}
	return err
}

// may refuses a knob that this machine lacks, before any write. The kernel lets root of another user
// namespace change none of these settings; the initial one has the same number on every machine. In
// another network namespace only that is turned which goes with it.
func (m *system) may(path string) error {
	user, _ := os.Readlink("/proc/self/ns/user")
	switch {
	case strings.HasSuffix(path, affinityFile) && Runs("irqbalance"):
		return fmt.Errorf("irqbalance runs and would set %s again; stop it first: tune-irqbalance.sh apply", path)
	case m.tree == "" && (os.Geteuid() != 0 || user != "user:[4026531837]"):
		return fmt.Errorf("needs root: run with sudo (%s)", path)
	case m.apart && !strings.HasPrefix(path, netDir):
		return fmt.Errorf("%s belongs to the machine's own network namespace, and this is another", path)
	}
	return nil
}

// systemctl runs the command and returns the first line that it prints.
func systemctl(args ...string) (string, error) {
	out, err := exec.Command("systemctl", args...).CombinedOutput()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil {
		err = fmt.Errorf("systemctl %s said %q: %w", strings.Join(args, " "), line, err)
	}
	return line, err
}

// glob lists the files of a pattern, in the order of the numbers in their names.
func (m *system) glob(pattern string) []string {
	files, _ := filepath.Glob(m.tree + pattern) // the patterns are right
	slices.SortFunc(files, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	return strict.Map(files, func(file string) string { return strings.TrimPrefix(file, m.tree) })
}

func plain(value string) string { return strings.Join(strings.Fields(value), " ") }
