package tune

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cores"
)

// treeVariable names the environment variable for a directory put in front of
// /proc and /sys. It is for tests: a made-up tree stands for a machine that the
// tests do not have.
const treeVariable = "LINE_RATE_TUNE_ROOT"

const (
	netDir    = "/sys/class/net/"
	sysctlDir = "/proc/sys/"
	cpuDir    = "/sys/devices/system/cpu/"
	tableFile = sysctlDir + "net/core/rps_sock_flow_entries"
	// backlogFile exists only in the initial network namespace.
	backlogFile = sysctlDir + "net/core/netdev_max_backlog"
)

// A machine is this process's view of the machine that it runs on.
type machine struct {
	tree     string // put in front of every path; empty on a real machine
	online   []int
	possible int // number of CPUs up to the last possible one
	boot     string
	net      namespace
}

// A namespace identifies a network namespace. Its inode may be used again
// before the next boot, its cookie never; but older kernels have no cookie.
type namespace struct {
	Inode   uint64 `json:"inode"`
	Cookie  uint64 `json:"cookie,omitempty"`
	Initial bool   `json:"initial"`
}

func (n namespace) is(o namespace) bool { return n.Inode == o.Inode && n.Cookie == o.Cookie }

// here reads the machine. If /sys shows another network namespace than this
// process's, the thread gets a view of /sys of its own.
func here() (m *machine, err error) {
	defer func() {
		if errors.Is(err, fs.ErrNotExist) {
			err = unavailable("the kernel's knobs are Linux's: %v", err)
		}
	}()
	m = &machine{tree: os.Getenv(treeVariable)}
	if m.tree != "" && !filepath.IsAbs(m.tree) {
		return nil, fmt.Errorf("$%s is %q: it has to be a whole path", treeVariable, m.tree)
	}
	if m.boot, err = m.text(sysctlDir + "kernel/random/boot_id"); err != nil {
		return nil, err
	}
	link, err := os.Readlink(m.real("/proc/self/ns/net"))
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Sscanf(link, "net:[%d]", &m.net.Inode); err != nil {
		return nil, fmt.Errorf("%q is not a network namespace as the kernel names it", link)
	}
	m.net.Initial = m.exists(backlogFile)
	possible, err := m.cpus("possible")
	if err != nil {
		return nil, err
	}
	m.possible = slices.Max(possible) + 1
	if m.online, err = m.cpus("online"); err != nil || m.tree != "" {
		return m, err
	}
	m.net.Cookie = cookie()
	return m, m.see()
}

// real is a path below the tree.
func (m *machine) real(path string) string { return m.tree + path }

func (m *machine) exists(path string) bool {
	_, err := os.Stat(m.real(path))
	return err == nil
}

// text reads a file of one line.
func (m *machine) text(path string) (string, error) {
	b, err := os.ReadFile(m.real(path))
	return strings.TrimSpace(string(b)), err
}

func (m *machine) cpus(which string) ([]int, error) {
	text, err := m.text(cpuDir + which)
	if err != nil {
		return nil, err
	}
	cpus, err := cores.Parse(text)
	if err != nil {
		err = fmt.Errorf("%s: %w", cpuDir+which, err)
	}
	return cpus, err
}

// someCores parses a list of cores, all of which must be online; an empty list
// means all online cores.
func (m *machine) someCores(list string) ([]int, error) {
	if list == "" {
		return m.online, nil
	}
	cpus, err := cores.Parse(list)
	if err != nil {
		return nil, fmt.Errorf("--cpus: %w", err)
	}
	for i, c := range cpus {
		if !slices.Contains(m.online, c) {
			return nil, unavailable("this machine has no core %d: %s are online", c, cores.Format(m.online))
		}
		if slices.Contains(cpus[:i], c) {
			return nil, fmt.Errorf("--cpus: %q names core %d twice", list, c)
		}
	}
	return cpus, nil
}

// device finds an interface by the directory of its files.
func (m *machine) device(dev string) (t target, err error) {
	switch {
	case dev == "":
		return t, errors.New("--dev is missing: which interface?")
	case dev == "." || dev == ".." || strings.ContainsAny(dev, "/ \t\n") || len(dev) > 15:
		return t, fmt.Errorf("--dev: %q is no name of an interface", dev)
	}
	t = file(netDir + dev)
	t.Dev = dev
	text, err := m.text(t.Path + "/ifindex")
	if errors.Is(err, fs.ErrNotExist) {
		err = unavailable("no interface %s here", dev)
	} else if err == nil {
		if t.Index, err = strconv.Atoi(text); err != nil {
			err = fmt.Errorf("%s/ifindex: %q is no number", t.Path, text)
		}
	}
	return t, err
}

// queueFiles lists one file of each of an interface's receive queues, by queue
// number.
func (m *machine) queueFiles(dev, name string) ([]target, error) {
	t, err := m.device(dev)
	if err != nil {
		return nil, err
	}
	dir := t.Path + "/queues"
	numbers, err := numbered(m.real(dir), "rx-")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(numbers) == 0 {
		return nil, unavailable("%s has no receive queues", dev)
	}
	var files []target
	for _, n := range numbers {
		if t.Path = fmt.Sprintf("%s/rx-%d/%s", dir, n, name); !m.exists(t.Path) {
			return nil, unavailable("this kernel has no %s", t.Path)
		}
		files = append(files, t)
	}
	return files, nil
}

// numbered lists the numbers at the end of a directory's names with the prefix.
func numbered(dir, prefix string) (numbers []int, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), prefix)
		if n, err := strconv.Atoi(digits); ok && err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, err
}

// process finds a process id by the process's name.
func (m *machine) process(name string) int {
	pids, _ := numbered(m.real("/proc"), "")
	for _, pid := range pids {
		if comm, err := m.text(fmt.Sprintf("/proc/%d/comm", pid)); err == nil && comm == name {
			return pid
		}
	}
	return 0
}
