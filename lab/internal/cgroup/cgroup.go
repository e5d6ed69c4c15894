// Package cgroup finds the control group of a service: which file tells the
// CPU time of all in it, and which processes are in it now.
//
// Version 2 tells it in cpu.stat, in microseconds, version 1 in cpuacct.usage, in
// nanoseconds; both with the groups below. Beside a server's process clock, read at the same
// moment at the ends of 50 ms slots, both showed the same time to the microsecond, but for
// pairs of readings that a tick of the kernel's clock came between: the scheduler adds to
// the thread and to its groups in one step, at each switch and each tick, and cpu.stat is
// summed up when it is read. So a group's grain is that of a process's clock. A group costs
// a reading of a file in place of a clock, of some microseconds.
package cgroup

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
	"time"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Group is a control group below the top one.
type Group struct {
	Path string // as /proc/PID/cgroup has it
	Dir  string // of its files
	File string // that tells its CPU time
}

// A hierarchy is where groups are mounted: version 2, or version 1 with cpuacct.
type hierarchy struct {
	at, root   string // the directory, and which group it is
	file       string
	controller string // in /proc/PID/cgroup; version 2 has none
}

func hierarchies(mounts []byte) (all []hierarchy) {
	for line := range strings.Lines(string(mounts)) {
		left, right, ok := strings.Cut(line, " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 5 || len(r) < 3 {
			continue
		}
		switch options := strings.Split(r[2], ","); {
		case r[0] == "cgroup2":
			all = append(all, hierarchy{l[4], l[3], "cpu.stat", ""})
		case r[0] == "cgroup" && slices.Contains(options, "cpuacct"):
			// It goes first: where both are mounted, engines of containers use this one.
			all = slices.Insert(all, 0, hierarchy{l[4], l[3], "cpuacct.usage", "cpuacct"})
		}
	}
	return all
}

// mounted lists the hierarchies of this machine.
func mounted() ([]hierarchy, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	if all := hierarchies(text); len(all) > 0 {
		return all, nil
	}
	return nil, errors.New("no control groups are mounted here that tell CPU time")
}

// group is the group of a path; false if the hierarchy has none.
func (h hierarchy) group(path string) (Group, bool) {
	inner, err := filepath.Rel(h.root, path)
	if err != nil || strings.HasPrefix(inner, "..") {
		return Group{}, false
	}
	g := Group{Path: path, Dir: filepath.Join(h.at, inner)}
	g.File = filepath.Join(g.Dir, h.file)
	_, err = os.Stat(g.File)
	return g, err == nil
}

// Find finds a group by its path, as systemd-cgls and /proc/PID/cgroup print it, or by its
// directory. It refuses the top one, and one in which this process is: the load's own CPU
// time would count as the server's.
func Find(path string) (Group, error) {
	all, err := mounted()
	if err != nil {
		return Group{}, err
	}
	for _, h := range all {
		inner := filepath.Clean("/" + path)
		if rest, ok := strings.CutPrefix(inner, h.at+"/"); ok {
			inner = filepath.Join(h.root, rest)
		}
		g, ok := h.group(inner)
		switch own := h.of("self"); {
		case !ok:
		case inner == "/" || inner == own || strings.HasPrefix(own, inner+"/"):
			return g, fmt.Errorf("this call itself runs in the cgroup %s, so what it uses would count as the server's; have "+
				"the server in one of its own (systemd-run --scope)", inner)
		default:
			return g, nil
		}
	}
	return Group{}, fmt.Errorf("there is no cgroup %s that tells its CPU time; /proc/PID/cgroup has that of a process",
		strict.Visible(path, 120))
}

// of is the group of a process; empty if it has ended.
func (h hierarchy) of(process string) string {
	text, _ := os.ReadFile("/proc/" + process + "/cgroup")
	for line := range strings.Lines(string(text)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, path, _ := strings.Cut(rest, ":")
		if slices.Contains(strings.Split(controllers, ","), h.controller) {
			return path
		}
	}
	return ""
}

// Processes are those in the group and in those below it now. It is an error if the group is
// gone.
func (g Group) Processes() ([]int, error) {
	if _, err := os.Stat(g.File); err != nil {
		return nil, fmt.Errorf("the cgroup %s is gone", g.Path)
	}
	var all []int
	_ = filepath.WalkDir(g.Dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "cgroup.procs" {
			text, _ := os.ReadFile(path)
			for _, field := range bytes.Fields(text) {
				if pid, err := strconv.Atoi(string(field)); err == nil && pid > 0 {
					all = append(all, pid)
				}
			}
		}
		return nil
	})
	return all, nil
}

// Time is the CPU time that a group has used, as its File tells it: cpu.stat of version 2, in
// microseconds, or cpuacct.usage of version 1, in nanoseconds.
func Time(file string) (time.Duration, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	number, unit := strings.TrimSpace(string(text)), time.Nanosecond
	if rest, ok := strings.CutPrefix(number, "usage_usec "); ok {
		number, _, _ = strings.Cut(rest, "\n")
		unit = time.Microsecond
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: no CPU time: %w", file, err)
	}
	return time.Duration(n) * unit, nil
}
