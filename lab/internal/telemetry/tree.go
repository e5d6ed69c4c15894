package telemetry

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tree reads the processes from a root down. With a name, only those of that
// command name are kept. threads, if not nil, gets each thread's CPU time.
func (s *Sampler) tree(root int, name string, threads map[int]time.Duration) []process {
	var out []process
	for _, pid := range Descendants(root) {
		p, err := s.fs.Proc(pid)
		if err != nil {
			continue // it ended meanwhile
		}
		st, err := p.Stat()
		if err != nil || name != "" && st.Comm != name {
			continue
		}
		one := process{pid: pid, parent: st.PPID, threads: st.NumThreads}
		one.cpu = time.Duration(float64(st.UTime+st.STime) / 100 * float64(time.Second))
		if sum, ok := tasks(pid, threads); ok {
			one.cpu = sum
		}
		out = append(out, one)
	}
	return out
}

// tasks sums the CPU time of a process's threads, in nanoseconds as the
// scheduler keeps it. A thread that has ended is not in the sum; neither Go's
// nor Node's runtime ends threads under load.
func tasks(pid int, threads map[int]time.Duration) (time.Duration, bool) {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, false
	}
	var sum time.Duration
	for _, e := range entries {
		text, err := os.ReadFile(dir + "/" + e.Name() + "/schedstat")
		if err != nil {
			return 0, false
		}
		first, _, _ := strings.Cut(string(text), " ")
		ns, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return 0, false
		}
		sum += time.Duration(ns)
		if tid, err := strconv.Atoi(e.Name()); err == nil && threads != nil {
			threads[tid] = time.Duration(ns)
		}
	}
	return sum, true
}

// Descendants lists a process and all below it, parents first.
func Descendants(root int) []int {
	out := []int{root}
	for i := 0; i < len(out); i++ {
		dir := fmt.Sprintf("/proc/%d/task", out[i])
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			text, err := os.ReadFile(dir + "/" + e.Name() + "/children")
			if err != nil {
				continue
			}
			for _, f := range strings.Fields(string(text)) {
				if pid, err := strconv.Atoi(f); err == nil {
					out = append(out, pid)
				}
			}
		}
	}
	return out
}

// Command returns a process's command name, empty if it has ended.
func Command(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
