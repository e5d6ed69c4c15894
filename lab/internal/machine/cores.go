package machine

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// A Split divides a machine's cores between server and client, since on a common core each side would disturb the
// other. Two hardware threads of one core stay on one side. Both are empty on a machine with one core.
type Split struct {
	Server, Client []int
	Shared         []int // cores of both sides; empty if the sides are kept apart
}

// On gives the cores that each side runs on. Sides that are not kept apart both run on the shared cores.
func (s Split) On() (server, client []int) {
	if len(s.Server) == 0 {
		return s.Shared, s.Shared
	}
	return s.Server, s.Client
}

// Divide splits the allowed CPUs by cores, given as groups of siblings. The server gets the first half, and
// never the larger one: if the client is the bottleneck, the trial decides nothing.
func Divide(groups [][]int) Split {
	join := func(groups [][]int) []int { return slices.Sorted(slices.Values(slices.Concat(groups...))) }
	half := len(groups) / 2
	if half == 0 {
		return Split{Shared: join(groups)}
	}
	return Split{Server: join(groups[:half]), Client: join(groups[half:])}
}

// Groups returns the allowed CPUs grouped by core. sys is the directory of CPUs, /sys/devices/system/cpu on a
// real machine. If it does not list siblings, each CPU is a group of its own.
func Groups(sys string, allowed []int) (groups [][]int) {
	for _, cpu := range allowed {
		if slices.ContainsFunc(groups, func(g []int) bool { return slices.Contains(g, cpu) }) {
			continue
		}
		siblings, err := Parse(Read(sys, fmt.Sprintf("cpu%d/topology/thread_siblings_list", cpu)))
		if err != nil {
			siblings = []int{cpu}
		}
		groups = append(groups, slices.DeleteFunc(siblings, func(s int) bool { return !slices.Contains(allowed, s) }))
	}
	return groups
}

// Parse parses a list of CPUs as the kernel and taskset write it: "0-3,8".
func Parse(list string) ([]int, error) {
	var cpus []int
	for _, part := range strings.Split(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(first)
		b := a
		if err == nil && isRange {
			b, err = strconv.Atoi(last)
		}
		if err != nil || a < 0 || b < a || b > 1<<16 {
			return nil, fmt.Errorf("%q is not a list of CPUs", list)
		}
		for c := a; c <= b; c++ {
			cpus = append(cpus, c)
		}
	}
	return cpus, nil
}

// Mask writes the mask of some CPUs on a machine with that many possible ones, exactly as the
// kernel prints it back. It has a digit for each four possible CPUs, the highest first, and a comma
// between groups of 32 CPUs.
func Mask(cpus []int, possible int) (string, error) {
	const digits = 8 // of a group
	mask := new(big.Int)
	for _, c := range cpus {
		if c < 0 || c >= possible {
			return "", fmt.Errorf("there is no CPU %d: the last possible one is %d", c, possible-1)
		}
		mask.SetBit(mask, c, 1)
	}
	text := fmt.Sprintf("%0*x", (possible+3)/4, mask)
	for at := len(text) - digits; at > 0; at -= digits {
		text = text[:at] + "," + text[at:]
	}
	return text, nil
}

// Format writes a list of CPUs for taskset, with runs shortened.
func Format(cpus []int) string {
	var parts []string
	for len(cpus) > 0 {
		n := 1
		for n < len(cpus) && cpus[n] == cpus[0]+n {
			n++
		}
		part := strconv.Itoa(cpus[0])
		if n > 1 {
			part += "-" + strconv.Itoa(cpus[n-1])
		}
		parts, cpus = append(parts, part), cpus[n:]
	}
	return strings.Join(parts, ",")
}

// Here divides the cores that this process may use.
func Here() (Split, error) {
	allowed, err := Allowed()
	return Divide(Groups("/sys/devices/system/cpu", allowed)), err
}

// Read reads a small file, as of /proc or /sys; empty if it cannot be read.
func Read(elem ...string) string {
	text, _ := os.ReadFile(filepath.Join(elem...))
	return strings.TrimSpace(string(text))
}

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
