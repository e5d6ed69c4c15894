package machine

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// A Quota is what the control groups of some processes say about CPU time. Each group counts once, however
// many of the processes are in it.
//
// Any group from a process's own up to the top can have a limit, so all of them are read. Groups above the
// top that a container sees cannot be read from inside it, and one without files of limits has none.
type Quota struct {
	Cores float64       // the least that any group allows; infinite without a quota
	Held  time.Duration // time since boot for which groups were held back, summed over groups and cores
	Seen  bool          // whether all groups of the processes could be read
}

// ReadQuota reads the groups of processes, given by the names of their directories in proc: "self", or an id.
// A process that has ended is in no group. proc and cgroup are /proc and /sys/fs/cgroup on a real machine.
func ReadQuota(proc, cgroup string, processes ...string) Quota {
	q, climbed, found, all := Quota{Cores: math.Inf(1)}, map[string]bool{}, false, true
	for _, p := range processes {
		if text := Read(proc, filepath.Join(p, "cgroup")); text != "" {
			found = true
			mount, group := place(text, cgroup)
			_, err := os.Stat(filepath.Join(mount, "cgroup.procs")) // which each group has
			all = mount != "" && err == nil && all
			q.climb(mount, group, climbed)
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
func (q *Quota) climb(mount, group string, climbed map[string]bool) {
	for dir := path.Clean("/" + group); ; dir = path.Dir(dir) {
		at := filepath.Join(mount, dir)
		limit, period, ok := strings.Cut(Read(at, "cpu.max"), " ")
		if !ok {
			limit, period = Read(at, "cpu.cfs_quota_us"), Read(at, "cpu.cfs_period_us")
		}
		a, _ := strconv.ParseFloat(limit, 64) // "max" or -1 without a quota
		b, _ := strconv.ParseFloat(period, 64)
		if a > 0 && b > 0 {
			q.Cores = min(q.Cores, a/b)
		}
		if !climbed[at] {
			climbed[at] = true
			q.Held += held(at)
		}
		if dir == "/" {
			return
		}
	}
}

// held is for how long a group was held back.
func held(at string) time.Duration {
	for line := range strings.Lines(Read(at, "cpu.stat")) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, _ := strconv.ParseInt(number, 10, 64)
		switch name {
		case "throttled_usec":
			return time.Duration(n) * time.Microsecond
		case "throttled_time":
			return time.Duration(n)
		}
	}
	return 0
}

var epoch = time.Now()

// RunTime is for how long something ran on some cores, but for a constant. Less the CPU time of known
// processes it is that of strangers. It is exact where the kernel keeps the scheduler's statistics, and
// else to a tick of a hundredth of a second. ok is false where the kernel tells neither.
func RunTime(cpus []int) (all time.Duration, ok bool) {
	fs, _ := procfs.NewDefaultFS()
	if scheduler, err := fs.Schedstat(); err == nil {
		seen := 0
		for _, c := range scheduler.CPUs {
			if cpu, err := strconv.Atoi(c.CPUNum); err == nil && slices.Contains(cpus, cpu) {
				all, seen = all+time.Duration(c.RunningNanoseconds), seen+1
			}
		}
		return all, seen > 0 && seen == len(cpus)
	}
	stat, err := fs.Stat()
	all = time.Since(epoch) * time.Duration(len(cpus))
	for _, cpu := range cpus {
		c, seen := stat.CPU[int64(cpu)]
		if err != nil || !seen {
			return 0, false
		}
		all -= time.Duration((c.Idle + c.Iowait) * float64(time.Second))
	}
	return all, len(cpus) > 0
}
