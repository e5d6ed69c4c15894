package telemetry

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"

	"github.com/line-rate/line-rate/lab/internal/cores"
)

// A process is one reading of one process.
type process struct {
	pid, parent int
	threads     int
	cpu         time.Duration
	waited      time.Duration // CPU time of ended children that it waited for, in ticks
	began       time.Duration // since boot
	switches    int64         // times its threads were given a core; 0 if the kernel does not count
	rss         int           // bytes
	stopped     bool          // stopped by a signal
}

// A member is a process of a tree, with its threads. A new process is read from
// the next survey on.
type member struct {
	pid     int
	threads []thread
}

// A thread has the paths from which one thread's times are read.
type thread struct {
	id   int
	path string
}

func newMember(pid int) member {
	m := member{pid: pid}
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	entries, _ := os.ReadDir(dir) // none of a process that has ended meanwhile
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			m.threads = append(m.threads, thread{id, dir + e.Name() + "/schedstat"})
		}
	}
	return m
}

// processes reads some processes. threads, if not nil, gets each thread's CPU time.
func processes(members []member, threads map[int]time.Duration) []process {
	var out []process
	for i := range members {
		m := &members[i]
		st, err := proc.ReadStat(m.pid)
		if err != nil {
			continue // it has ended meanwhile
		}
		// A script becomes the program that it starts, and a program starts threads.
		// Until the next survey the busiest thread could be missed.
		if st.Threads != len(m.threads) {
			*m = newMember(m.pid)
		}
		one := process{pid: m.pid, parent: st.Parent, threads: st.Threads, rss: st.RSS, stopped: st.State == 'T',
			waited: time.Duration(st.Children) * proc.Tick, began: time.Duration(st.Began) * proc.Tick}
		var ok, all bool
		if one.switches, ok, all = m.times(threads); ok && !all {
			// One thread has ended and another was started.
			*m = newMember(m.pid)
			one.switches, _, _ = m.times(threads)
		}
		// Read after its threads, so that no thread shows more time than the process.
		if one.cpu, ok = cores.ProcessTime(m.pid); !ok {
			one.cpu = time.Duration(st.CPU) * proc.Tick
		}
		out = append(out, one)
	}
	return out
}

// times reads each thread's CPU time, in the scheduler's nanoseconds, and sums
// how often each was given a core. ok is false where the kernel keeps neither;
// all is false where a thread has ended.
func (m member) times(threads map[int]time.Duration) (switches int64, ok, all bool) {
	var buf [128]byte
	all = true
	for _, t := range m.threads {
		text, err := proc.Slurp(t.path, buf[:])
		if err != nil {
			all = false
			continue
		}
		f := strings.Fields(string(text)) // time on a core and time waiting for one, both in ns, then times it got one
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
