package telemetry

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// A survey is what is too dear for every sample: who else runs on the machine,
// and the kernel's counters.
type survey struct {
	at       time.Time
	others   map[int]other
	counters map[string]float64 // that only rise, by the name of their metric
	irqs     map[string]float64 // of the interface under load, by queue
	// established counts the connections of the network namespace under load,
	// both ends of each where both are in it; -1 where that was not read.
	established float64
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
	surveyEvery    = 333 * time.Millisecond
	surveysAtLeast = 3
)

// kernelThread is the kernel's flag for threads of its own. They work for
// others, as a rule for the load itself.
const kernelThread = 0x00200000

// tick is the unit of times in /proc/PID/stat.
const tick = 10 * time.Millisecond

// look takes a survey, and finds the processes that the samples until the next
// one are taken of.
func (s *Sampler) look() *survey {
	v := &survey{at: time.Now(), others: map[int]other{}}
	v.counters, v.established = s.kernel()
	// Only a real interface has interrupts, and only it has a device.
	if d := s.targets.NetDevice; d != "" {
		if _, err := os.Stat(filepath.Join(s.sys, "class", "net", d, "device")); err == nil {
			v.irqs = s.interrupts(d)
		}
	}
	names, err := os.ReadDir("/proc")
	if err != nil {
		return v
	}
	all := map[int]stat{}
	for _, n := range names {
		pid, err := strconv.Atoi(n.Name())
		if err != nil || s.kernels[pid] {
			continue
		}
		st, err := readStat(pid)
		switch {
		case err != nil: // it ended meanwhile
		case st.flags&kernelThread != 0:
			s.kernels[pid] = true // of which there are many, and they stay
		default:
			all[pid] = st
		}
	}
	s.surveyedClient = s.targets.Client()
	s.server = members(s.targets.Server, all)
	s.client = members(s.surveyedClient, all)
	// A process that entered a wire's namespaces need not be a descendant.
	own := map[int]bool{os.Getpid(): true}
	for _, m := range slices.Concat(s.server, s.client) {
		own[m.pid] = true
	}
	for pid, st := range all {
		if !below(pid, own, all) {
			v.others[pid] = other{st.name, st.parent, time.Duration(st.cpu+st.children) * tick, st.processor}
		}
	}
	return v
}

// members are a process and all below it.
func members(root int, all map[int]stat) (out []member) {
	if root <= 0 {
		return nil
	}
	for _, pid := range slices.Sorted(maps.Keys(all)) {
		if below(pid, map[int]bool{root: true}, all) {
			out = append(out, newMember(pid))
		}
	}
	return out
}

// below tells whether a process is one of those, or descends from one.
func below(pid int, those map[int]bool, all map[int]stat) bool {
	for pid > 1 {
		if those[pid] {
			return true
		}
		st, ok := all[pid]
		if !ok {
			return false
		}
		pid = st.parent
	}
	return false
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
		if _, there := b.others[pid]; there {
			continue
		}
		// Its parent may have ended too, and handed both on.
		heir := was.parent
		for {
			if _, there := used[heir]; there {
				used[heir] -= was.cpu
				break
			}
			next, known := a.others[heir]
			if !known || heir == next.parent {
				break
			}
			heir = next.parent
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
