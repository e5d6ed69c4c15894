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

// A Quota is what the control groups above some processes say of CPU time. Each
// group counts once, however many of the processes are in it.
//
// A limit can stand in any group from a process's own up to the top, in version 1 of
// control groups as in version 2, so all of them are read. That no group has a limit
// is something seen. Where no group can be read, nothing was seen, and that is not the
// same as none. What lies above the top that a container is shown cannot be read from
// inside it.
type Quota struct {
	Cores float64       // the least that any group allows; infinite without a quota
	Stops int64         // periods in which a quota stopped a group, since boot
	Held  time.Duration // for how long, summed over groups and cores, since boot
	// Seen tells whether all groups were shown that the processes are in, and
	// for each that has a quota how long it has held them back.
	Seen bool
}

// ReadQuota reads the groups of some processes, by the names of their directories in
// proc: "self", or an id. A process that has ended is in no group. proc and
// cgroup are /proc and /sys/fs/cgroup on a real machine.
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
	climbed map[string]bool // directories whose counters are in the sums
	blind   bool            // a quota was found without the time that it took
}

// process reads the groups that a process names, one line a hierarchy. Where
// both versions stand side by side, CPU time is limited by the one that has the
// controller of that name.
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

// mounted climbs in the first of some places that shows the hierarchy: two names
// of one mount would count it twice.
func (r *reading) mounted(group string, mounts ...string) bool {
	return slices.ContainsFunc(mounts, func(m string) bool { return r.climb(m, group) })
}

// climb reads the groups from one up to the top. A container may see as its top
// the group that it is in, and still be told the name that this has outside:
// directories that are not there are passed over.
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
		limited := err1 == nil && err2 == nil && a > 0 && b > 0 // else "max", or -1
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

// counters adds what one group counts, and tells whether it says for how long
// it was held.
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
		case "throttled_usec": // version 2
			r.Held, held = r.Held+time.Duration(n)*time.Microsecond, true
		case "throttled_time": // version 1
			r.Held, held = r.Held+time.Duration(n), true
		}
	}
	return held
}

// unlimited tells whether a directory is a hierarchy's true top, which cannot
// have a quota and need not say so. In version 2 only the top lacks
// cgroup.events; in version 1 each group of the controller has cpu.shares, also
// where the kernel was built without quotas.
func unlimited(at string) bool {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(at, name))
		return err == nil
	}
	return has("cgroup.controllers") && !has("cgroup.events") || has("cpu.shares")
}

func read(dir, name string) string {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
