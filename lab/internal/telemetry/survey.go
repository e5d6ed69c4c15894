package telemetry

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"time"
)

// A survey is what is too dear for every sample: who else runs on the machine,
// and how many connections there are.
type survey struct {
	at          time.Time
	others      map[int]other
	connections int // established, to the server; -1 where that was not read
}

// An other is a process that belongs neither to the server nor to the client,
// nor to the lab.
type other struct {
	name   string
	parent int
	cpu    time.Duration // its own and that of children it has waited for
	core   int           // where it ran last
}

const (
	surveyEvery    = 300 * time.Millisecond
	surveysAtLeast = 3
)

// kernelThread is the kernel's flag for threads of its own. They work for
// others, as a rule for the load itself.
const kernelThread = 0x00200000

// tick is the unit of times in /proc/PID/stat.
const tick = 10 * time.Millisecond

func (s *Sampler) look(one sample) *survey {
	v := &survey{at: time.Now(), others: map[int]other{}, connections: s.established()}
	own := map[int]bool{}
	for _, pid := range Descendants(os.Getpid()) {
		own[pid] = true
	}
	// A process that entered a wire's namespaces need not be a descendant.
	for _, p := range slices.Concat(one.server, one.client) {
		own[p.pid] = true
	}
	all, err := s.fs.AllProcs()
	if err != nil {
		return v
	}
	for _, p := range all {
		if own[p.PID] {
			continue
		}
		st, err := p.Stat()
		if err != nil || st.Flags&kernelThread != 0 {
			continue
		}
		cpu := time.Duration(int(st.UTime)+int(st.STime)+st.CUTime+st.CSTime) * tick
		v.others[p.PID] = other{st.Comm, st.PPID, cpu, int(st.Processor)}
	}
	return v
}

// established counts the connections that the server's port holds, as the
// kernel of the server's side lists them.
func (s *Sampler) established() int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/tcp", s.targets.NetPID))
	if err != nil || s.targets.Port == 0 {
		return -1
	}
	const establishedState = "01"
	port := fmt.Appendf(nil, ":%04X", s.targets.Port)
	n := 0
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		if len(f) > 3 && bytes.HasSuffix(f[1], port) && string(f[3]) == establishedState {
			n++
		}
	}
	return n
}

// A Load is what one other process used in the window.
type Load struct {
	Name  string
	Core  int     // where it ran last
	Cores float64 // CPU time over the window
}

// others gives what each other process used between two surveys, most first.
// CPU time of a child that ended goes over to its parent; what the child had
// used before the window is taken off again.
func others(a, b *survey) []Load {
	seconds := b.at.Sub(a.at).Seconds()
	used := map[int]time.Duration{}
	for pid, now := range b.others {
		used[pid] = now.cpu
		if was, ok := a.others[pid]; ok {
			used[pid] -= was.cpu
		}
	}
	for pid, was := range a.others {
		if _, there := b.others[pid]; !there {
			if _, ok := used[was.parent]; ok {
				used[was.parent] -= was.cpu
			}
		}
	}
	var loads []Load
	for pid, cpu := range used {
		if cpu > 0 {
			loads = append(loads, Load{b.others[pid].name, b.others[pid].core, cpu.Seconds() / seconds})
		}
	}
	slices.SortFunc(loads, func(x, y Load) int {
		switch {
		case x.Cores > y.Cores:
			return -1
		case x.Cores < y.Cores:
			return 1
		}
		return 0
	})
	return loads
}
