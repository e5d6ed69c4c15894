package telemetry

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A survey is what is too dear for every sample: who else runs on the machine,
// and the kernel's counters.
type survey struct {
	at       time.Time
	others   map[int]other
	counters map[string]float64 // that only rise, by the name of their metric
	irqs     map[string]float64 // of the interface under load, by queue
	files    map[int]int        // open, of the server's own processes
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

// kernelThread is the kernel's flag for threads of its own. They work for
// others, as a rule for the load itself.
const kernelThread = 0x00200000

// tick is the unit of times in /proc/PID/stat.
const tick = 10 * time.Millisecond

// look takes a survey, and finds the processes that the samples until the next
// one are taken of.
func (s *Sampler) look() *survey {
	v := &survey{at: time.Now(), others: map[int]other{}}
	s.found = make([]found, len(s.targets.Pairs))
	roots := []int{os.Getpid()}
	for i, p := range s.targets.Pairs {
		s.found[i].pid = p.Client()
		roots = append(append(roots, s.found[i].pid), p.Servers...)
	}
	v.counters, v.established = s.kernel()
	// Only a real interface has interrupts, and only it has a device.
	if d := s.targets.NetDevice; d != "" {
		if _, err := os.Stat(filepath.Join(s.sys, "class", "net", d, "device")); err == nil {
			v.irqs = s.interrupts(d)
		}
	}
	all := snapshot(s.kernels)
	tree := children(all)
	for i, p := range s.targets.Pairs {
		f := &s.found[i]
		for _, root := range p.Servers {
			f.server = append(f.server, members(below(root, tree))...)
		}
		f.client = members(below(f.pid, tree))
	}
	v.files = s.files(all)
	// A process that entered a wire's namespaces need not be a descendant.
	own := map[int]bool{}
	for _, root := range roots {
		for _, pid := range below(root, tree) {
			own[pid] = true
		}
	}
	for pid, st := range all {
		if !own[pid] {
			v.others[pid] = other{st.name, st.parent, time.Duration(st.cpu+st.children) * tick, st.processor}
		}
	}
	return v
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
	slices.SortFunc(loads, func(x, y Load) int { return cmp.Compare(y.Cores, x.Cores) })
	return loads
}
