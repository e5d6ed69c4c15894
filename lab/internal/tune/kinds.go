package tune

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/line-rate/line-rate/lab/internal/cores"
)

// A kind says how a value is read and set.
type kind string

const (
	kindFile     kind = "file"     // a file of /proc or /sys
	kindChannels kind = "channels" // the number of an interface's queues, by ioctl
	kindUnit     kind = "unit"     // a service of systemd
	kindLimit    kind = "limit"    // a process's limit of open files
)

var kinds = map[kind]struct {
	read  func(m *machine, t target) (string, error)
	write func(m *machine, t target, value string) error
	// writable tells beforehand whether this process may write a value. It is not
	// called on a made-up tree.
	writable func(m *machine, t target, want string) error
}{
	kindFile: {readFile, writeFile, fileWritable},
	kindChannels: {readChannels, writeChannels, func(_ *machine, t target, _ string) error {
		return rooted(capable(capNetAdmin), t.Path)
	}},
	kindUnit: {readUnit, writeUnit, func(_ *machine, t target, _ string) error {
		return rooted(os.Geteuid() == 0, t.Path)
	}},
	kindLimit: {readLimit, writeLimit, limitWritable},
}

func readFile(m *machine, t target) (string, error) {
	b, err := os.ReadFile(m.real(t.Path))
	if err == nil && (!utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0) {
		err = fmt.Errorf("%s holds no text, which could not be brought back", t.Path)
	}
	return string(b), err
}

func writeFile(m *machine, t target, value string) error {
	f, err := os.OpenFile(m.real(t.Path), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	// The kernel takes a value in a single write only.
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

func fileWritable(_ *machine, t target, _ string) error {
	if strings.Contains(t.Path, "/queues/") && !realRoot(capNetAdmin) {
		return needsRoot(t.Path)
	}
	return access(t.Path)
}

// channels has the number of an interface's queues of each sort, in the order
// of the kernel's struct ethtool_channels.
type channels struct{ rx, tx, other, combined uint32 }

func (c channels) String() string {
	return fmt.Sprintf("rx %d tx %d other %d combined %d", c.rx, c.tx, c.other, c.combined)
}

func parseChannels(text string) (c channels, err error) {
	_, err = fmt.Sscanf(text, "rx %d tx %d other %d combined %d", &c.rx, &c.tx, &c.other, &c.combined)
	if err != nil || c.String() != strings.TrimSpace(text) {
		return channels{}, fmt.Errorf("%q is no number of queues", text)
	}
	return c, nil
}

func channelsName(dev string) string { return "ethtool:" + dev + " (number of queues)" }

// channels reads how many queues an interface may have and has now. A made-up
// tree keeps them in a file of two lines.
func (m *machine) channels(dev string) (most, now channels, err error) {
	if m.tree == "" {
		return ethtoolGet(dev)
	}
	text, err := m.text("/ethtool/" + dev)
	if err != nil {
		return most, now, unavailable("the driver of %s does not let its queues be counted", dev)
	}
	first, second, _ := strings.Cut(text, "\n")
	if most, err = parseChannels(strings.TrimPrefix(first, "most ")); err == nil {
		now, err = parseChannels(second)
	}
	return most, now, err
}

func readChannels(m *machine, t target) (string, error) {
	_, now, err := m.channels(t.Dev)
	return now.String(), err
}

func writeChannels(m *machine, t target, value string) error {
	c, err := parseChannels(value)
	if err != nil {
		return err
	}
	if m.tree == "" {
		return ethtoolSet(t.Dev, c)
	}
	most, _, err := m.channels(t.Dev)
	if err != nil {
		return err
	}
	return os.WriteFile(m.real("/ethtool/"+t.Dev), fmt.Appendf(nil, "most %s\n%s\n", most, c), 0o644)
}

const active, inactive = "active", "inactive"

func unitName(unit string) string { return "systemctl:" + unit + ".service" }

// readUnit tells whether a unit runs. A failed unit does not run.
func readUnit(_ *machine, t target) (string, error) {
	out, err := systemctl("is-active", t.Unit)
	switch out {
	case "active", "activating", "reloading":
		return active, nil
	case "inactive", "failed", "deactivating", "unknown":
		return inactive, nil
	}
	if err == nil {
		err = fmt.Errorf("systemctl is-active %s: it says %q", t.Unit, out)
	}
	return "", err
}

func writeUnit(_ *machine, t target, state string) error {
	verb := map[string]string{active: "start", inactive: "stop"}[state]
	if verb == "" {
		return fmt.Errorf("%s: %q is no state to bring it to", t.Path, state)
	}
	_, err := systemctl(verb, t.Unit)
	return err
}

// systemctl runs the command and returns its output on one line.
func systemctl(args ...string) (string, error) {
	path, err := exec.LookPath("systemctl")
	if err != nil {
		return "", unavailable("there is no systemctl here to ask for services")
	}
	out, err := exec.Command(path, args...).Output()
	var status *exec.ExitError
	if errors.As(err, &status) {
		why, _, _ := strings.Cut(strings.TrimSpace(string(status.Stderr)), "\n")
		if why == "" {
			why = err.Error()
		}
		err = unavailable("systemctl %s: %s", strings.Join(args, " "), why)
	}
	return strings.TrimSpace(string(out)), err
}

// limits are the soft and the hard limit of a process's open files.
type limits struct{ soft, hard uint64 }

func (l limits) String() string { return limitWord(l.soft) + " " + limitWord(l.hard) }

// infinite is the kernel's value for "unlimited".
const infinite = ^uint64(0)

func limitWord(n uint64) string {
	if n == infinite {
		return "unlimited"
	}
	return strconv.FormatUint(n, 10)
}

func parseLimit(text string) (l limits, err error) {
	numbers := strings.ReplaceAll(text, "unlimited", strconv.FormatUint(infinite, 10))
	if _, err := fmt.Sscanf(numbers, "%d %d", &l.soft, &l.hard); err != nil || !sameWords(nil, l.String(), text) {
		return limits{}, fmt.Errorf("%q is no pair of limits", text)
	}
	return l, nil
}

const limitRow = "/limits: open files, soft and hard"

func limitName(pid int) string { return fmt.Sprintf("/proc/%d%s", pid, limitRow) }

// openFiles matches the row of open files in /proc/PID/limits.
var openFiles = regexp.MustCompile(`(?m)^(Max open files +)(\S+)( +)(\S+)`)

func (m *machine) limits(pid int) (limits, error) {
	text, err := os.ReadFile(m.real(fmt.Sprintf("/proc/%d/limits", pid)))
	if err != nil {
		return limits{}, err
	}
	row := openFiles.FindSubmatch(text)
	if row == nil {
		return limits{}, fmt.Errorf("/proc/%d/limits has no row %q", pid, "Max open files")
	}
	l, err := parseLimit(string(row[2]) + " " + string(row[4]))
	if err != nil {
		err = fmt.Errorf("%s: %w", limitName(pid), err)
	}
	return l, err
}

func readLimit(m *machine, t target) (string, error) {
	l, err := m.limits(t.PID)
	return l.String(), err
}

func writeLimit(m *machine, t target, value string) error {
	l, err := parseLimit(value)
	if err != nil {
		return err
	}
	if m.tree == "" {
		return setLimit(t.PID, l)
	}
	name := m.real(fmt.Sprintf("/proc/%d/limits", t.PID))
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, openFiles.ReplaceAll(text, fmt.Appendf(nil, "${1}%s${3}%s", limitWord(l.soft), limitWord(l.hard))), 0o644)
}

func limitWritable(m *machine, t target, want string) error {
	now, err := m.limits(t.PID)
	if err != nil {
		return err
	}
	asked, err := parseLimit(want)
	if err != nil {
		return err
	}
	st, err := os.Stat(fmt.Sprintf("/proc/%d", t.PID))
	free := asked.hard <= now.hard && (err != nil || owner(st) == os.Geteuid())
	return rooted(free || realRoot(capSysResource), t.Path)
}

func sameWords(_ *machine, a, b string) bool {
	return slices.Equal(strings.Fields(a), strings.Fields(b))
}

func sameMask(m *machine, a, b string) bool {
	x, errX := cores.ParseMask(strings.TrimSpace(a), m.possible)
	y, errY := cores.ParseMask(strings.TrimSpace(b), m.possible)
	return errX == nil && errY == nil && slices.Equal(x, y)
}

func sameList(_ *machine, a, b string) bool {
	x, errX := cores.Parse(strings.TrimSpace(a))
	y, errY := cores.Parse(strings.TrimSpace(b))
	slices.Sort(x)
	slices.Sort(y)
	return errX == nil && errY == nil && slices.Equal(x, y)
}

func plain(value string) string { return strings.Join(strings.Fields(value), " ") }
