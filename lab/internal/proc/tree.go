package proc

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Tick is the unit of times in /proc/PID/stat.
const Tick = 10 * time.Millisecond

// A Tree is some processes with all that they have started.
type Tree struct {
	Roots []int  // 0 is none
	Skip  int    // so many processes from the root on only hold or wrap the others
	Name  string // of the processes that count, as the kernel keeps it; empty: all

	pids, wrappers []int
	newest         string // the newest process of the machine when pids were listed
}

// Times are readings of CPU time.
type Times struct {
	PIDs  []int           // parents first
	CPU   []time.Duration // by process
	Stats []Stat          // by process
	// Ended is that of children that have ended and that a process of the tree has waited for, in
	// ticks, or of a whole cgroup. One that nobody waits for is lost.
	Ended time.Duration
}

// Total is the time of all of them.
func (t Times) Total() time.Duration {
	all := t.Ended
	for _, one := range t.CPU {
		all += one
	}
	return all
}

// Below gives the readings of some processes and their descendants.
func (t Times) Below(roots ...int) (r Times) {
	in := map[int]bool{}
	for i, pid := range t.PIDs {
		if s := t.Stats[i]; in[s.Parent] || slices.Contains(roots, pid) {
			in[pid] = true
			r.PIDs, r.CPU, r.Stats = append(r.PIDs, pid), append(r.CPU, t.CPU[i]), append(r.Stats, s)
			r.Ended += time.Duration(s.Children) * Tick
		}
	}
	return r
}

// PIDs lists the tree's processes now, parents first. It looks them up again if the machine has a
// newer one than before, or one of them is gone.
func (t *Tree) PIDs() []int {
	newest := newestProcess()
	if newest != "" && newest == t.newest {
		return t.pids
	}
	all := Descendants(t.Roots...)
	n := min(t.Skip, len(all))
	t.newest, t.wrappers = newest, all[:n]
	t.pids = all[n:]
	if name := t.Name[:min(len(t.Name), 15)]; name != "" {
		t.pids = slices.DeleteFunc(slices.Clone(t.pids), func(pid int) bool { return Command(pid) != name })
	}
	return t.pids
}

// newestProcess names the newest process or thread of the machine; empty if the kernel does not tell.
func newestProcess() string {
	text, _ := os.ReadFile("/proc/loadavg")
	if at := bytes.LastIndexByte(text, ' '); at > 0 {
		return string(text[at+1:])
	}
	return ""
}

// Read reads the tree's clocks.
func (t *Tree) Read() (r Times) {
	pids := t.PIDs()
	for _, pid := range t.wrappers {
		if s, err := ReadStat(pid); err == nil {
			r.Ended += time.Duration(s.Children) * Tick
		}
	}
	for _, pid := range pids {
		cpu, ok := Time(pid)
		s, err := ReadStat(pid)
		if !ok || err != nil {
			t.newest = "" // it has ended
			continue
		}
		r.PIDs, r.CPU, r.Stats = append(r.PIDs, pid), append(r.CPU, cpu), append(r.Stats, s)
		r.Ended += time.Duration(s.Children) * Tick
	}
	return r
}

// Descendants lists some processes and then their descendants, parents first, each once; 0 is none.
func Descendants(roots ...int) []int { return lineage(children(), roots) }

// children lists the machine's processes by their parents. The kernel's own lists of children may miss one while
// processes come and go.
func children() map[int][]int {
	all := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if s, err := ReadStat(pid); err == nil { // else it has ended meanwhile
			all[s.Parent] = append(all[s.Parent], pid)
		}
	}
	return all
}

func lineage(children map[int][]int, roots []int) []int {
	out := strict.Filter(roots, func(pid int) bool { return pid > 0 })
	seen := strict.Collect(out, func(pid int) int { return pid })
	for i := 0; i < len(out); i++ {
		for _, pid := range children[out[i]] {
			if !seen[pid] { // processes are not all read at one moment, so one may be listed twice
				seen[pid] = true
				out = append(out, pid)
			}
		}
	}
	return out
}

// Others are the machine's processes without the kernel's threads, which work for the senders of
// packets, and without some trees.
type Others struct {
	Roots []int // of the trees

	pids   []int
	newest string // as of a Tree
}

// kthreadd is the parent of the kernel's threads, where all of the machine's processes can be seen.
const kthreadd = 2

// Read reads their clocks. A process that begins and ends between two readings is in neither. ok is false where not
// all of the machine's processes can be seen, as in a container.
func (o *Others) Read() (cpu map[int]time.Duration, ok bool) {
	if newest := newestProcess(); newest == "" || newest != o.newest {
		all := children()
		known := strict.Collect(lineage(all, append(slices.Clone(o.Roots), kthreadd)), func(pid int) int { return pid })
		o.newest, o.pids = newest, slices.DeleteFunc(slices.Concat(slices.Collect(maps.Values(all))...),
			func(pid int) bool { return known[pid] })
	}
	if Command(kthreadd) != "kthreadd" {
		return nil, false
	}
	cpu = map[int]time.Duration{}
	for _, pid := range o.pids {
		if t, ok := Time(pid); ok {
			cpu[pid] = t
		}
	}
	return cpu, true
}

// Status is a field of a process's or a thread's status, as the kernel prints it.
func Status(pid int, field string) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := bytes.Cut(text, []byte("\n"+field+":"))
	value, _, _ := bytes.Cut(rest, []byte("\n"))
	return string(bytes.TrimSpace(value))
}

// IgnoresChildren tells whether one of some processes lets its children end without a trace: it ignores SIGCHLD, 17.
func IgnoresChildren(pids []int) bool {
	return slices.ContainsFunc(pids, func(pid int) bool {
		ignored, err := strconv.ParseUint(Status(pid, "SigIgn"), 16, 64)
		return err == nil && ignored&(1<<16) != 0
	})
}

// Command is a process's command name; empty if it has ended.
func Command(pid int) string {
	s, _ := ReadStat(pid)
	return s.Name
}

// GroupTime is the CPU time that a control group has used, as one of its files tells: cpu.stat of
// version 2, in microseconds, or cpuacct.usage of version 1, in nanoseconds.
func GroupTime(file string) (time.Duration, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	var n time.Duration
	if _, err := fmt.Sscanf(string(text), "usage_usec %d", &n); err == nil {
		return n * time.Microsecond, nil
	}
	if _, err := fmt.Sscan(string(text), &n); err != nil {
		return 0, fmt.Errorf("%s: no CPU time: %w", file, err)
	}
	return n, nil
}
