package proc

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Tree is a process with all that it has started.
type Tree struct {
	Root int
	Skip int    // so many processes from the root on only hold or wrap the others
	Name string // of the processes that count, as the kernel keeps it; empty: all

	pids, wrappers []int
	newest         string // the newest process of the machine when pids were listed
}

// Times are readings of CPU time.
type Times struct {
	PIDs []int           // parents first
	CPU  []time.Duration // by process
	// Ended is that of children that have ended and that a process of the tree has waited for, in
	// ticks, or of a whole cgroup. One that nobody waits for is lost.
	Ended time.Duration
}

// PIDs lists the tree's processes now, parents first.
func (t *Tree) PIDs() []int {
	t.list()
	return t.pids
}

// list lists the processes again if the machine has a newer one than before, or one of them is gone.
func (t *Tree) list() {
	newest := newestProcess()
	if newest != "" && newest == t.newest {
		return
	}
	all := Descendants(t.Root)
	n := min(t.Skip, len(all))
	t.newest, t.wrappers = newest, all[:n]
	t.pids = all[n:]
	if name := t.Name[:min(len(t.Name), 15)]; name != "" {
		t.pids = slices.DeleteFunc(slices.Clone(t.pids), func(pid int) bool { return Command(pid) != name })
	}
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
	t.list()
	for _, pid := range t.wrappers {
		if s, err := ReadStat(pid); err == nil {
			r.Ended += time.Duration(s.Children) * Tick
		}
	}
	for _, pid := range t.pids {
		cpu, ok := Time(pid)
		s, err := ReadStat(pid)
		if !ok || err != nil {
			t.newest = "" // it has ended
			continue
		}
		r.PIDs, r.CPU = append(r.PIDs, pid), append(r.CPU, cpu)
		r.Ended += time.Duration(s.Children) * Tick
	}
	return r
}

// Snapshot reads every process except the kernel's own threads, which are many.
// It adds those to kernels and skips them in later calls.
func Snapshot(kernels map[int]bool) map[int]Stat {
	names, _ := os.ReadDir("/proc")
	all := map[int]Stat{}
	for _, n := range names {
		pid, err := strconv.Atoi(n.Name())
		if err != nil || kernels[pid] {
			continue
		}
		st, err := ReadStat(pid)
		switch {
		case err != nil: // it has ended meanwhile
		case st.Flags&kernelThread != 0:
			kernels[pid] = true
		default:
			all[pid] = st
		}
	}
	return all
}

// Children lists each process's children by the parent that each process names.
// The kernel's own lists of children may miss one while processes come and go.
func Children(all map[int]Stat) map[int][]int {
	out := map[int][]int{}
	for _, pid := range slices.Sorted(maps.Keys(all)) {
		out[all[pid].Parent] = append(out[all[pid].Parent], pid)
	}
	return out
}

// Below are some processes and then their descendants, parents first, each once; 0 is none.
func Below(children map[int][]int, roots ...int) []int {
	out := strict.Those(roots, func(pid int) bool { return pid > 0 })
	seen := strict.Set(out, func(pid int) int { return pid })
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

// Descendants lists a process and its descendants, parents first.
func Descendants(root int) []int { return Below(Children(Snapshot(map[int]bool{})), root) }

// Command is a process's command name; empty if it has ended.
func Command(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(text))
}
