package tune

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/line-rate/line-rate/lab/internal/cores"
)

// treeVariable names the variable that puts a directory in front of /proc and
// /sys. It is for tests: a made-up tree can stand for a machine that cannot be
// had. What no file can show is made up too: the number of queues is in
// ethtool/DEV, and limits are written into /proc/PID/limits.
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

	// fault, in tests, is asked before each write and may refuse it.
	fault func(t target, value string) error
	pen   pen
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
func here() (*machine, error) {
	m := &machine{tree: os.Getenv(treeVariable)}
	if m.tree != "" && !filepath.IsAbs(m.tree) {
		return nil, fmt.Errorf("$%s is %q: it has to be a whole path", treeVariable, m.tree)
	}
	boot, err := m.text("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return nil, notLinux(err)
	}
	m.boot = boot
	link, err := os.Readlink(m.real("/proc/self/ns/net"))
	if err != nil {
		return nil, notLinux(err)
	}
	if m.net.Inode, err = inode(link); err != nil {
		return nil, err
	}
	m.net.Initial = m.exists(backlogFile)
	if m.tree == "" {
		m.net.Cookie = cookie()
	}
	possible, err := m.cpus("possible")
	if err != nil {
		return nil, err
	}
	m.possible = slices.Max(possible) + 1
	if m.online, err = m.cpus("online"); err != nil {
		return nil, err
	}
	if m.tree == "" {
		return m, m.look()
	}
	return m, nil
}

func notLinux(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return unavailable("the kernel's knobs are Linux's: %v", err)
	}
	return err
}

// inode reads "net:[4026531833]".
func inode(link string) (uint64, error) {
	digits, ok := strings.CutPrefix(strings.TrimSuffix(link, "]"), "net:[")
	n, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("%q is not a network namespace as the kernel names it", link)
	}
	return n, nil
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
		return nil, notLinux(err)
	}
	cpus, err := cores.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cpuDir+which, err)
	}
	return cpus, nil
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

// device finds an interface and its index.
func (m *machine) device(dev string) (int, error) {
	switch {
	case dev == "":
		return 0, errors.New("--dev is missing: which interface?")
	case dev == "." || dev == ".." || strings.ContainsAny(dev, "/ \t\n") || len(dev) > 15:
		return 0, fmt.Errorf("--dev: %q is no name of an interface", dev)
	}
	text, err := m.text(netDir + dev + "/ifindex")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, unavailable("no interface %s here", dev)
	} else if err != nil {
		return 0, err
	}
	index, err := number(text)
	if err != nil {
		return 0, fmt.Errorf("%s%s/ifindex: %q is no number", netDir, dev, text)
	}
	return index, nil
}

// queueFiles lists a file of each of an interface's queues, by their number.
// Which is "rx" or "tx".
func (m *machine) queueFiles(dev, which, name string) ([]target, error) {
	index, err := m.device(dev)
	if err != nil {
		return nil, err
	}
	dir := netDir + dev + "/queues/"
	entries, err := os.ReadDir(m.real(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var numbers []int
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), which+"-")
		if n, err := strconv.Atoi(digits); ok && err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	if len(numbers) == 0 {
		return nil, unavailable("%s has no %s queues", dev, map[string]string{"rx": "receive", "tx": "transmit"}[which])
	}
	var files []target
	for _, n := range numbers {
		path := fmt.Sprintf("%s%s-%d/%s", dir, which, n, name)
		if !m.exists(path) {
			return nil, unavailable("this kernel has no %s", path)
		}
		files = append(files, target{Kind: kindFile, Scope: scopeNamespace, Path: path, Dev: dev, Index: index})
	}
	return files, nil
}

// read reads a target's value, as it is.
func (m *machine) read(t target) (string, error) {
	switch t.Kind {
	case kindFile:
		b, err := os.ReadFile(m.real(t.Path))
		if err != nil {
			return "", err
		}
		if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
			return "", fmt.Errorf("%s holds no text, which could not be brought back", t.Path)
		}
		return string(b), nil
	case kindChannels:
		now, _, err := m.channels(t.Dev)
		return now.String(), err
	case kindUnit:
		return unitState(t.Unit)
	case kindLimit:
		return m.limit(t.PID)
	}
	return "", fmt.Errorf("no target is of kind %q", t.Kind)
}

// write writes a target's value.
func (m *machine) write(t target, value string) error {
	m.pen.before(m)
	if m.fault != nil {
		if err := m.fault(t, value); err != nil {
			return err
		}
	}
	err := m.put(t, value)
	m.pen.written++
	if errors.Is(err, fs.ErrPermission) {
		return needsRoot(t.Path)
	}
	return err
}

func (m *machine) put(t target, value string) error {
	switch t.Kind {
	case kindFile:
		f, err := os.OpenFile(m.real(t.Path), os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			return err
		}
		// The kernel takes a value in one write only.
		_, err = f.WriteString(value)
		return errors.Join(err, f.Close())
	case kindChannels:
		c, err := parseChannels(value)
		if err != nil {
			return err
		}
		return m.setChannels(t.Dev, c)
	case kindUnit:
		return setUnit(t.Unit, value)
	case kindLimit:
		return m.setLimit(t.PID, value)
	}
	return fmt.Errorf("no target is of kind %q", t.Kind)
}

func needsRoot(path string) error { return unavailable("needs root: run with sudo (%s)", path) }

// stopVariable, in tests, has the process kill itself before it writes again
// after so many writes, or forgets what it has restored: there is no other way
// to be killed between two writes of one's choice. It is heard only on
// made-up trees and in namespaces other than the initial one.
const stopVariable = "LINE_RATE_TUNE_STOP_AFTER"

// A pen counts what was written.
type pen struct{ written int }

func (p *pen) before(m *machine) {
	if n, err := strconv.Atoi(os.Getenv(stopVariable)); err == nil && p.written == n && (m.tree != "" || !m.net.Initial) {
		die()
	}
}
