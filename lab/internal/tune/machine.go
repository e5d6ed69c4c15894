package tune

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// treeVariable names the environment variable for a directory put in front of
// /proc and /sys. It is for tests: a made-up tree stands for a machine that the
// tests do not have.
const treeVariable = "LINE_RATE_TUNE_ROOT"

const (
	netDir    = "/sys/class/net/" // whose files go with a network namespace
	cpuDir    = "/sys/devices/system/cpu/"
	tableFile = "/proc/sys/net/core/rps_sock_flow_entries"
	// backlogFile exists only in the machine's own network namespace.
	backlogFile = "/proc/sys/net/core/netdev_max_backlog"
	unitPrefix  = "systemctl:" // of a service, in place of a file's directory
)

// A machine is this process's view of the machine that it runs on.
type machine struct {
	tree    string // put in front of every path; empty on a real machine
	apart   bool   // in a network namespace other than the machine's own
	passing state  // of what goes with that
}

// here is Unavailable where nothing can be turned.
func here() (*machine, error) {
	m := &machine{tree: os.Getenv(treeVariable)}
	if !m.exists(cpuDir) {
		return nil, unavailable("the kernel's knobs are Linux's: there is no %s here", cpuDir)
	}
	m.apart = !m.exists(backlogFile)
	return m, nil
}

// passes tells whether a value goes with this network namespace.
func (m *machine) passes(path string) bool { return m.apart && strings.HasPrefix(path, netDir) }

func (m *machine) exists(path string) bool {
	_, err := os.Stat(m.tree + path)
	return err == nil
}

// cpus are those that are online, or possible.
func (m *machine) cpus(which string) ([]int, error) {
	text, err := m.read(cpuDir + which)
	if err != nil {
		return nil, err
	}
	return cores.Parse(plain(text))
}

// read reads a value verbatim.
func (m *machine) read(path string) (string, error) {
	if unit, ok := strings.CutPrefix(path, unitPrefix); ok {
		state, err := systemctl("show", "--property=ActiveState", "--value", unit)
		return strings.Replace(state, "failed", "inactive", 1), err
	}
	b, err := os.ReadFile(m.tree + path)
	return string(b), err
}

// beforeWrite is called before each write, and before originals are forgotten.
// Tests replace it to fail or to end the process there.
var beforeWrite = func() error { return nil }

// set writes a value and reads it back.
func (m *machine) set(path, value string) error {
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
		err = fmt.Errorf("%s: %q was written, and the kernel made %q of it", path, plain(value), plain(now))
	}
	return err
}

// root refuses others than root of the machine: the kernel lets root of another user namespace
// change none of these settings. The initial one has the same number on every machine.
func (m *machine) root(path string) error {
	user, _ := os.Readlink("/proc/self/ns/user")
	if m.tree == "" && (os.Geteuid() != 0 || user != "user:[4026531837]") {
		return unavailable("needs root: run with sudo (%s)", path)
	}
	return nil
}

// systemctl runs the command and returns its output on one line.
func systemctl(args ...string) (string, error) {
	out, err := exec.Command("systemctl", args...).Output()
	if status, ok := errors.AsType[*exec.ExitError](err); ok {
		why, _, _ := strings.Cut(strings.TrimSpace(string(status.Stderr)), "\n")
		err = unavailable("systemctl %s: %s", strings.Join(args, " "), cmp.Or(why, err.Error()))
	} else if err != nil {
		err = unavailable("there is no systemctl here to ask for services: %v", err)
	}
	return strings.TrimSpace(string(out)), err
}

// glob lists the files of a pattern, in the order of the numbers in their names.
func (m *machine) glob(pattern string) []string {
	files, _ := filepath.Glob(m.tree + pattern) // the patterns are right
	slices.SortFunc(files, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	return strict.Map(files, func(file string) string { return strings.TrimPrefix(file, m.tree) })
}

// process finds a process id by the process's name; empty if there is none.
func (m *machine) process(name string) string {
	for _, comm := range m.glob("/proc/[0-9]*/comm") {
		if text, _ := m.read(comm); plain(text) == name {
			return path.Base(path.Dir(comm))
		}
	}
	return ""
}

func plain(value string) string { return strings.Join(strings.Fields(value), " ") }
