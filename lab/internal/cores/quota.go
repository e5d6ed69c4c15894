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

// A Quota is what the control groups of some processes say about CPU time. Each group counts once, however
// many of the processes are in it.
//
// Any group from a process's own up to the top can have a limit, so all of them are read. Groups above the
// top that a container sees cannot be read from inside it.
type Quota struct {
	Cores float64       // the least that any group allows; infinite without a quota
	Held  time.Duration // time since boot for which groups were held back, summed over groups and cores
	// Seen tells whether all groups of the processes could be read and, for each with a quota, how long it
	// held them back.
	Seen bool
}

// ReadQuota reads the groups of processes, given by the names of their directories in proc: "self", or an id.
// A process that has ended is in no group. proc and cgroup are /proc and /sys/fs/cgroup on a real machine.
func ReadQuota(proc, cgroup string, processes ...string) Quota {
	q, climbed, found, all := Quota{Cores: math.Inf(1)}, map[string]bool{}, false, true
	for _, p := range processes {
		if text, err := os.ReadFile(filepath.Join(proc, p, "cgroup")); err == nil {
			found = true
			mount, group := place(string(text), cgroup)
			all = mount != "" && q.climb(mount, group, climbed) && all
		}
	}
	q.Seen = found && all
	return q
}

// place finds the mount of the control groups that limit a process's CPU time, and its group there, in the
// process's lines of hierarchies. If both versions are in use, the one that has the cpu controller limits it.
func place(text, cgroup string) (mount, group string) {
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) < 3:
		case slices.Contains(strings.Split(parts[1], ","), "cpu"):
			return filepath.Join(cgroup, "cpu"), parts[2]
		case parts[0] == "0" && parts[1] == "":
			mount, group = cgroup, parts[2]
		}
	}
	return mount, group
}

// climb reads the groups from one up to the top. A container may see its own group as the top and still be
// told the group's name outside, so missing directories are skipped.
func (q *Quota) climb(mount, group string, climbed map[string]bool) (seen bool) {
	blind := false
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
			q.Cores = min(q.Cores, a/b)
		}
		if !climbed[at] {
			climbed[at] = true
			held, told := held(at)
			q.Held += held
			blind = blind || limited && !told
		}
		if dir == "/" {
			return (seen || unlimited(at)) && !blind
		}
	}
}

// held is for how long a group was held back, if it says that.
func held(at string) (held time.Duration, told bool) {
	fields := strings.Fields(read(at, "cpu.stat"))
	for i := 0; i+1 < len(fields); i += 2 {
		unit, is := map[string]time.Duration{"throttled_usec": time.Microsecond, "throttled_time": time.Nanosecond}[fields[i]]
		if n, err := strconv.ParseInt(fields[i+1], 10, 64); is && err == nil {
			return time.Duration(n) * unit, true
		}
	}
	return 0, false
}

// unlimited tells whether a directory is the real top of a hierarchy, which cannot have a quota. In version 2
// only the top lacks cgroup.events; in version 1 every other group of the controller has cpu.shares, even if
// the kernel was built without quotas.
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
