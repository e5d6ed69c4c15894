package telemetry

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
)

// A process is one process of a tree at one time.
type process struct {
	pid, parent int
	threads     int
	cpu         time.Duration
	waited      time.Duration // CPU time of children that ended and were waited for, in ticks
	began       time.Duration // since the machine was started
	switches    int64         // times its threads were given a core; 0 where that is not kept
	rss         int           // bytes
	stopped     bool          // by a signal
}

// A member is a process of a tree, with its threads. A process that was started
// since the last survey is read from the next one on.
type member struct {
	pid     int
	threads []thread
}

// A thread is where one thread's times are read.
type thread struct {
	id   int
	path string
}

func members(pids []int) (out []member) {
	for _, pid := range pids {
		out = append(out, newMember(pid))
	}
	return out
}

func newMember(pid int) member {
	m := member{pid: pid}
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return m // it ended meanwhile
	}
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			m.threads = append(m.threads, thread{id, dir + e.Name() + "/schedstat"})
		}
	}
	return m
}

// processes reads some processes. With a name, only those of that command name
// are kept. threads, if not nil, gets each thread's CPU time.
func processes(members []member, name string, threads map[int]time.Duration) []process {
	var out []process
	for i := range members {
		m := &members[i]
		st, err := readStat(m.pid)
		if err != nil || name != "" && st.name != name {
			continue // it ended meanwhile, or only wraps what counts
		}
		// A script becomes the program it starts, and a program starts threads:
		// until the next survey the busiest could go unseen.
		if st.threads != len(m.threads) {
			*m = newMember(m.pid)
		}
		one := process{pid: m.pid, parent: st.parent, threads: st.threads, rss: st.rss, stopped: st.state == 'T',
			waited: time.Duration(st.children) * tick, began: time.Duration(st.began) * tick}
		var ok, all bool
		if one.switches, ok, all = m.times(threads); ok && !all {
			// One has ended, and as many were started.
			*m = newMember(m.pid)
			one.switches, _, _ = m.times(threads)
		}
		// After its threads, so that none of them has used more than it.
		if one.cpu, ok = cores.ProcessTime(m.pid); !ok {
			one.cpu = time.Duration(st.cpu) * tick
		}
		out = append(out, one)
	}
	return out
}

// times gives each thread's CPU time, in nanoseconds as the scheduler keeps it,
// and sums the times each was given a core. ok is false where the kernel keeps
// neither, all where a thread has ended.
func (m member) times(threads map[int]time.Duration) (switches int64, ok, all bool) {
	var buf [128]byte
	all = true
	for _, t := range m.threads {
		text, err := slurp(t.path, buf[:])
		if err != nil {
			all = false
			continue
		}
		f := strings.Fields(string(text)) // on a core, waiting for one (both in ns), times it got one
		if len(f) < 3 {
			return 0, false, all
		}
		ns, err1 := strconv.ParseInt(f[0], 10, 64)
		times, err2 := strconv.ParseInt(f[2], 10, 64)
		if err1 != nil || err2 != nil {
			return 0, false, all
		}
		ok = true
		switches += times
		if threads != nil {
			threads[t.id] = time.Duration(ns)
		}
	}
	return switches, ok, all
}

// snapshot reads every process there is, but for the kernel's own threads, of
// which there are many: those it finds it adds to kernels, and passes over.
func snapshot(kernels map[int]bool) map[int]stat {
	names, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	all := map[int]stat{}
	for _, n := range names {
		pid, err := strconv.Atoi(n.Name())
		if err != nil || kernels[pid] {
			continue
		}
		st, err := readStat(pid)
		switch {
		case err != nil: // it ended meanwhile
		case st.flags&kernelThread != 0:
			kernels[pid] = true
		default:
			all[pid] = st
		}
	}
	return all
}

// children lists each process's children, by the parent that they name: the
// kernel's own lists may miss one while others come and go.
func children(all map[int]stat) map[int][]int {
	out := map[int][]int{}
	for _, pid := range slices.Sorted(maps.Keys(all)) {
		out[all[pid].parent] = append(out[all[pid].parent], pid)
	}
	return out
}

// below is a process and all that descend from it, parents first; none for 0,
// which is no process.
func below(root int, children map[int][]int) []int {
	if root <= 0 {
		return nil
	}
	out, seen := []int{root}, map[int]bool{root: true}
	for i := 0; i < len(out); i++ {
		for _, pid := range children[out[i]] {
			if !seen[pid] { // not all were read at one time
				seen[pid] = true
				out = append(out, pid)
			}
		}
	}
	return out
}

// Descendants lists a process and all below it, parents first.
func Descendants(root int) []int { return below(root, children(snapshot(map[int]bool{}))) }

// Command returns a process's command name, empty if it has ended.
func Command(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
