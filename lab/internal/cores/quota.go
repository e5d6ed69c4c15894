package cores

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Quota is what the control groups of some processes say about CPU time. Each
// group counts once, however many of the processes are in it.
//
// Any group from a process's own up to the top can have a limit, in version 1
// of control groups and in version 2, so all of them are read. If all were read
// and none has a limit, there is no quota; if none could be read, the quota is
// unknown. Groups above the top that a container sees cannot be read from
// inside it.
type Quota struct {
	Cores float64       // the least that any group allows; infinite without a quota
	Stops int64         // periods since boot in which a quota stopped a group
	Held  time.Duration // time since boot for which it did, summed over groups and cores
	// Seen tells whether all groups of the processes could be read and, for each
	// with a quota, how long it held them back.
	Seen bool
}

// ReadQuota reads the groups of processes, given by the names of their
// directories in proc: "self", or an id. A process that has ended is in no
// group. proc and cgroup are /proc and /sys/fs/cgroup on a real machine.
func ReadQuota(proc, cgroup string, processes ...string) Quota {
	r := reading{Quota: Quota{Cores: math.Inf(1)}, cgroup: cgroup, climbed: map[string]bool{}}
	found, all := false, true
	for _, p := range processes {
		text, err := os.ReadFile(filepath.Join(proc, p, "cgroup"))
		if err != nil {
			continue
		}
		found = true
		all = r.process(string(text)) && all
	}
	r.Seen = found && all && !r.blind
	return r.Quota
}

type reading struct {
	Quota
	cgroup  string
	climbed map[string]bool // directories that are in the sums already
	blind   bool            // a quota was found without the time it held cores back
}

// process reads the groups of a process, from one line for each hierarchy. If
// both versions are in use, the one that has the cpu controller limits CPU
// time.
func (r *reading) process(text string) (seen bool) {
	var first, second, old bool
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		switch {
		case parts[0] == "0" && parts[1] == "":
			second = r.mounted(parts[2], r.cgroup, filepath.Join(r.cgroup, "unified"))
		case slices.Contains(strings.Split(parts[1], ","), "cpu"):
			old = true
			first = r.mounted(parts[2], filepath.Join(r.cgroup, "cpu"), filepath.Join(r.cgroup, parts[1]))
		}
	}
	if old {
		return first
	}
	return second
}

// mounted reads from the first mount that shows the hierarchy: the same group
// under two mounts would count twice.
func (r *reading) mounted(group string, mounts ...string) bool {
	return slices.ContainsFunc(mounts, func(m string) bool { return r.climb(m, group) })
}

// climb reads the groups from one up to the top. A container may see its own
// group as the top and still be told the group's name outside, so missing
// directories are skipped.
func (r *reading) climb(mount, group string) (seen bool) {
	for dir := path.Clean("/" + group); ; dir = path.Dir(dir) {
		at := filepath.Join(mount, dir)
		limit, period, ok := strings.Cut(read(at, "cpu.max"), " ")
		if !ok {
			limit, period = read(at, "cpu.cfs_quota_us"), read(at, "cpu.cfs_period_us")
		}
		seen = seen || limit != ""
		a, err1 := strconv.ParseFloat(limit, 64)
		b, err2 := strconv.ParseFloat(period, 64)
		limited := err1 == nil && err2 == nil && a > 0 && b > 0 // otherwise the limit is "max" or -1
		if limited {
			r.Cores = min(r.Cores, a/b)
		}
		if !r.climbed[at] {
			r.climbed[at] = true
			if !r.counters(at) && limited {
				r.blind = true
			}
		}
		if dir == "/" {
			return seen || unlimited(at)
		}
	}
}

// counters adds one group's counters, and tells whether they include the time
// it was held back.
func (r *reading) counters(at string) (held bool) {
	fields := strings.Fields(read(at, "cpu.stat"))
	for i := 0; i+1 < len(fields); i += 2 {
		n, err := strconv.ParseInt(fields[i+1], 10, 64)
		if err != nil {
			continue
		}
		switch fields[i] {
		case "nr_throttled":
			r.Stops += n
		case "throttled_usec": // version 2, microseconds
			r.Held, held = r.Held+time.Duration(n)*time.Microsecond, true
		case "throttled_time": // version 1, nanoseconds
			r.Held, held = r.Held+time.Duration(n), true
		}
	}
	return held
}

// unlimited tells whether a directory is the real top of a hierarchy, which
// cannot have a quota. In version 2 only the top lacks cgroup.events; in
// version 1 every other group of the controller has cpu.shares, even if the
// kernel was built without quotas.
func unlimited(at string) bool {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(at, name))
		return err == nil
	}
	return has("cgroup.controllers") && !has("cgroup.events") || has("cpu.shares")
}

// read reads a small file; empty if it cannot be read.
func read(dir, name string) string {
	text, _ := os.ReadFile(filepath.Join(dir, name))
	return strings.TrimSpace(string(text))
}
