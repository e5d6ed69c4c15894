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

// treeVariable names the variable that puts a directory in front of /proc and
// /sys. It is for tests: a made-up tree can stand for a machine that cannot be
// had. The number of queues, which no file shows, is in ethtool/DEV there, and
// limits are written into /proc/PID/limits.
const treeVariable = "LINE_RATE_TUNE_ROOT"

const (
	netDir    = "/sys/class/net/"
	sysctlDir = "/proc/sys/"
	cpuDir    = "/sys/devices/system/cpu/"
	tableFile = sysctlDir + "net/core/rps_sock_flow_entries"
	// backlogFile is only in the initial network namespace.
	backlogFile = sysctlDir + "net/core/netdev_max_backlog"
)

// A machine is what this process sees of the machine it runs on.
type machine struct {
	tree     string // in front of every path; empty on a real machine
	online   []int
	possible int // CPUs, up to the last possible one
	boot     string
	net      namespace
}

// A namespace is a network namespace. An inode may be used again within a
// boot; the cookie never is, but older kernels have none.
type namespace struct {
	Inode   uint64 `json:"inode"`
	Cookie  uint64 `json:"cookie,omitempty"`
	Initial bool   `json:"initial"`
}

func (n namespace) is(o namespace) bool { return n.Inode == o.Inode && n.Cookie == o.Cookie }

// here looks at the machine. Where this process's network namespace is not the
// one that /sys shows, the thread gets a view of /sys of its own.
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

// real is where a path stands.
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

// someCores reads a list of cores, all of which have to be online; an empty
// one means all that are.
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

// device finds an interface, as the directory of its files.
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

// queueFiles lists a file of each of an interface's queues, by their number.
// Which is "rx" or "tx".
func (m *machine) queueFiles(dev, which, name string) ([]target, error) {
	t, err := m.device(dev)
	if err != nil {
		return nil, err
	}
	dir := t.Path + "/queues"
	numbers, err := numbered(m.real(dir), which+"-")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(numbers) == 0 {
		return nil, unavailable("%s has no %s queues", dev, map[string]string{"rx": "receive", "tx": "transmit"}[which])
	}
	var files []target
	for _, n := range numbers {
		if t.Path = fmt.Sprintf("%s/%s-%d/%s", dir, which, n, name); !m.exists(t.Path) {
			return nil, unavailable("this kernel has no %s", t.Path)
		}
		files = append(files, t)
	}
	return files, nil
}

// numbered lists what a directory has by the numbers at the end of the names.
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

// process finds a process by its name.
func (m *machine) process(name string) int {
	pids, _ := numbered(m.real("/proc"), "")
	for _, pid := range pids {
		if comm, err := m.text(fmt.Sprintf("/proc/%d/comm", pid)); err == nil && comm == name {
			return pid
		}
	}
	return 0
}

// started is when a process was started, in ticks since boot: with it, a pid
// names one process only.
func (m *machine) started(pid int) (uint64, error) {
	text, err := m.text(fmt.Sprintf("/proc/%d/stat", pid))
	if pid < 1 || errors.Is(err, fs.ErrNotExist) {
		return 0, unavailable("there is no process %d", pid)
	} else if err != nil {
		return 0, err
	}
	// The name stands in brackets and may hold anything, brackets too.
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return 0, fmt.Errorf("/proc/%d/stat is shorter than the kernel writes it", pid)
	}
	return strconv.ParseUint(fields[19], 10, 64)
}
