// Package cores divides a machine's cores between server and client, reads how
// much CPU control groups allow, times how fast a core is, and reads the CPU time
// of processes and threads.
//
// On a common core each side would disturb the other and take the CPU time that
// the other is measured by. Cores are divided whole: two hardware threads of
// one core stay on one side. The package also reads and writes sets of cores
// as lists such as "0-3,8", and writes the kernel's masks.
//
// # Speed
//
// A core shared with another program or virtual machine changes its speed for
// minutes at a time, and nothing in /proc shows it. On one such core the
// calibration loop was seen to take either 1.6 or 2.5 microseconds a pair of
// calls, which once turned a 28 % effect into a 45 % one. So the loop is timed on
// the server's core just before and after each trial, and a rule on its time
// never looks at the trial's result. The loop makes a server's system calls,
// because a neighbour on the same core slows the kernel's paths by another factor
// than arithmetic.
//
// The loop measures one core, before and after a trial but not during it, so a
// dip within a trial goes unseen. Some cores switch between their speeds several
// times a second: such a core counts as fast if it reaches full speed at all, and
// the effect on trials shows in blocks and intervals. A core is compared with
// itself within one block: if a whole block is slow, all of its conditions are
// slowed alike, and their ratios still hold. The server's CPU use is then
// unreliable, since the neighbour may have filled the core.
//
// # Clocks
//
// The ticks of /proc are a hundredth of a second, as long as a tenth of a short
// slot. The kernel's CPU clocks of processes and threads are the scheduler's own
// count, in nanoseconds. A reading is one system call and allocates nothing.
//
// The clocks work on Linux only. A pid may be used again for another process, so
// a later reader should know when the process started.
package cores

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Split says which cores each side runs on. Both sides are empty on a machine
// with one core, which both sides share.
type Split struct {
	Server, Client []int
	Shared         []int // cores of both sides; empty if the sides are kept apart
}

// On gives the cores that each side runs on. Sides that are not kept apart both
// run on the shared cores.
func (s Split) On() (server, client []int) {
	server, client = s.Server, s.Client
	if len(server) == 0 {
		server = s.Shared
	}
	if len(client) == 0 {
		client = s.Shared
	}
	return server, client
}

// Divide splits the allowed CPUs by cores, given as groups of siblings. The
// server gets the first half, and never the larger one: if the client is the
// wall, the trial decides nothing.
func Divide(groups [][]int) Split {
	if len(groups) < 2 {
		return Split{Shared: join(groups)}
	}
	half := len(groups) / 2
	return Split{Server: join(groups[:half]), Client: join(groups[half:])}
}

func join(groups [][]int) []int {
	cpus := slices.Concat(groups...)
	slices.Sort(cpus)
	return cpus
}

// Groups returns the CPUs that this process may use, grouped by core. sys is
// the directory of CPUs, /sys/devices/system/cpu on a real machine. If it does
// not list siblings, each CPU is a group of its own.
func Groups(sys string, allowed []int) ([][]int, error) {
	var groups [][]int
	seen := map[int]bool{}
	for _, cpu := range allowed {
		if seen[cpu] {
			continue
		}
		group := []int{cpu}
		path := filepath.Join(sys, fmt.Sprintf("cpu%d", cpu), "topology", "thread_siblings_list")
		if text, err := os.ReadFile(path); err == nil {
			siblings, err := Parse(strings.TrimSpace(string(text)))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			group = slices.DeleteFunc(siblings, func(s int) bool { return !slices.Contains(allowed, s) })
		}
		for _, c := range group {
			seen[c] = true
		}
		groups = append(groups, group)
	}
	return groups, nil
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

// Format writes a list of CPUs for taskset, with runs shortened.
func Format(cpus []int) string {
	var parts []string
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		if j > i {
			parts = append(parts, fmt.Sprintf("%d-%d", cpus[i], cpus[j]))
		} else {
			parts = append(parts, strconv.Itoa(cpus[i]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// Here divides the cores that this process may use, which it lists as well.
func Here() (split Split, allowed []int, err error) {
	if allowed, err = Allowed(); err != nil {
		return split, nil, err
	}
	groups, err := Groups("/sys/devices/system/cpu", allowed)
	return Divide(groups), allowed, err
}
