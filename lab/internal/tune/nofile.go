package tune

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// nofile raises a running process's limit of open files; its later children
// inherit it.
type nofile struct {
	pid   int
	limit uint64
}

func (k *nofile) flags(fs *flag.FlagSet) {
	fs.IntVar(&k.pid, "pid", os.Getppid(), "")
	fs.Uint64Var(&k.limit, "limit", 1_048_576, "")
}
func (k *nofile) take(rest []string) error { return noMore(rest) }
func (k *nofile) ready(*machine) error     { return nil }

func (k *nofile) plan(m *machine, _ bool) ([]change, error) {
	if k.limit < 1 {
		return nil, errors.New("--limit: a process without files cannot run")
	}
	if text, err := m.text(sysctlDir + "fs/nr_open"); err == nil {
		if most, err := strconv.ParseUint(text, 10, 64); err == nil && k.limit > most {
			return nil, unavailable("--limit: %d is above what this kernel allows any process (fs.nr_open is %d)", k.limit, most)
		}
	}
	if !m.ownProcesses() {
		return nil, unavailable("/proc shows another PID namespace than this process is in, so %d may be anyone", k.pid)
	}
	start, err := m.started(k.pid)
	if err != nil {
		return nil, err
	}
	now, err := m.limit(k.pid)
	if err != nil {
		return nil, err
	}
	l, err := parseLimit(now)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", limitName(k.pid), err)
	}
	// The hard limit stays where it suffices: lowered by a user, it could only
	// be raised again by root.
	l.Cur, l.Max = k.limit, max(l.Max, k.limit)
	t := target{Kind: kindLimit, Scope: scopeProcess, Path: limitName(k.pid), PID: k.pid, Start: start}
	return []change{{target: t, want: l.String()}}, nil
}

func limitName(pid int) string { return fmt.Sprintf("/proc/%d/limits: open files, soft and hard", pid) }

// limits are a soft and a hard limit.
type limits struct{ Cur, Max uint64 }

func (l limits) String() string { return limitWord(l.Cur) + " " + limitWord(l.Max) }

func limitWord(n uint64) string {
	if n == infinite {
		return "unlimited"
	}
	return strconv.FormatUint(n, 10)
}

func parseLimit(text string) (limits, error) {
	words := strings.Fields(text)
	if len(words) != 2 {
		return limits{}, fmt.Errorf("%q is no pair of limits", text)
	}
	var both [2]uint64
	for i, w := range words {
		n, err := strconv.ParseUint(w, 10, 64)
		if w == "unlimited" {
			n, err = infinite, nil
		}
		if err != nil {
			return limits{}, fmt.Errorf("%q is no limit", w)
		}
		both[i] = n
	}
	return limits{both[0], both[1]}, nil
}

// limitRow begins the row of /proc/PID/limits, with the widths the kernel has.
const limitRow, limitFormat = "Max open files ", "%-25s %-20s %-20s %-10s"

// limit reads a process's limits of open files.
func (m *machine) limit(pid int) (string, error) {
	text, err := os.ReadFile(m.real(fmt.Sprintf("/proc/%d/limits", pid)))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, limitRow); ok {
			if words := strings.Fields(rest); len(words) >= 2 {
				return words[0] + " " + words[1], nil
			}
		}
	}
	return "", fmt.Errorf("/proc/%d/limits has no row %q", pid, strings.TrimSpace(limitRow))
}

func (m *machine) setLimit(pid int, value string) error {
	l, err := parseLimit(value)
	if err != nil {
		return err
	}
	if m.tree == "" {
		return setRealLimit(pid, l)
	}
	path := m.real(fmt.Sprintf("/proc/%d/limits", pid))
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, limitRow) {
			lines[i] = fmt.Sprintf(limitFormat, strings.TrimSpace(limitRow), limitWord(l.Cur), limitWord(l.Max), "files")
		}
	}
	return os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644)
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

// ownProcesses tells whether /proc numbers processes as prlimit does. Inside
// "unshare --pid" it may still be that of the outside.
func (m *machine) ownProcesses() bool {
	if m.tree != "" {
		return true
	}
	self, err := os.Readlink("/proc/self")
	return err == nil && self == strconv.Itoa(os.Getpid())
}
