package telemetry

import (
	"cmp"
	"os"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A survey has what is too costly for every sample: the other processes of the
// machine, and the kernel's counters.
type survey struct {
	at       time.Time
	others   map[int]other
	counters map[string]float64 // counters that only rise, by the name of their metric
}

// An other is a process that belongs neither to the server, nor to the client,
// nor to the lab.
type other struct {
	name   string
	parent int
	cpu    time.Duration // with ended children that it waited for
	core   int           // that it last ran on
}

// look takes a survey, and finds the processes that the samples until the next
// survey will read.
func (s *Sampler) look() *survey {
	v := &survey{at: time.Now(), others: map[int]other{}}
	s.found = make([]found, len(s.targets.Pairs))
	roots := []int{os.Getpid()}
	for i, p := range s.targets.Pairs {
		s.found[i].pid = p.Client()
		roots = append(append(roots, s.found[i].pid), p.Servers...)
	}
	v.counters = s.kernel()
	all := proc.Snapshot(s.kernels)
	s.mu.Lock()
	s.blind = len(s.kernels) == 0
	s.mu.Unlock()
	tree := proc.Children(all)
	for i, p := range s.targets.Pairs {
		f := &s.found[i]
		f.server = strict.Called(proc.Below(tree, p.Servers...), newMember)
		f.client = strict.Called(proc.Below(tree, f.pid), newMember)
	}
	// A process that entered a wire's namespaces need not be a descendant of the
	// lab.
	own := strict.Set(proc.Below(tree, roots...), func(pid int) int { return pid })
	for pid, st := range all {
		if !own[pid] {
			v.others[pid] = other{st.Name, st.Parent, time.Duration(st.CPU+st.Children) * proc.Tick, st.Processor}
		}
	}
	return v
}

// A Load is what one other process used in the window.
type Load struct {
	Name  string
	Core  int     // core that it last ran on
	Cores float64 // CPU time over the window
}

// others gives the CPU use of each other process between two surveys, highest
// first. The CPU time of an ended child is added to its parent; the part that
// the child used before the first survey is subtracted.
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
		// Its parent may have ended too and passed the time of both on.
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
