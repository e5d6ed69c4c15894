package telemetry

import (
	"cmp"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"

	"github.com/line-rate/line-rate/lab/internal/gate"
)

// spent is the CPU time that a tree of processes used between two samples,
// including processes that ended or started in between. ok is false where a
// part of it is unknown. uptime is the time since boot at the first sample.
func spent(a, b []process, uptime time.Duration) (total time.Duration, ok bool) {
	before, after := byID(a), byID(b)
	inherited := map[int]time.Duration{} // CPU time of ended children, by the pid of their parent
	for _, p := range b {
		was, there := before[p.pid]
		if !there && p.began+proc.Tick < uptime {
			return 0, false // it ran before the first sample but was not read then
		}
		total += p.cpu + p.waited - was.cpu - was.waited
		inherited[p.pid] = p.waited - was.waited
	}
	for _, p := range a {
		if _, there := after[p.pid]; there {
			continue
		}
		// Its time has been added to its parent, or to the nearest ancestor still
		// alive, unless nobody waited for it.
		heir, had := p.parent, p.cpu+p.waited
		for range a {
			if _, there := after[heir]; !there {
				heir = before[heir].parent
			}
		}
		const cut = 2 * proc.Tick // user and system time are each cut to ticks
		if inherited[heir] += cut - had; inherited[heir] < 0 {
			return 0, false
		}
		total -= had
	}
	return total, len(b) > 0
}

func byID(ps []process) map[int]process {
	all := map[int]process{}
	for _, p := range ps {
		all[p.pid] = p
	}
	return all
}

// workers gives the mean CPU time of the workers and how many of them took
// part. ok is false where there are no workers. If no worker used any time,
// none took part.
func workers(a, b []process) (mean time.Duration, active int, ok bool) {
	before, first := byID(a), master(b)
	var used []time.Duration // by each that is in both samples, without its children
	for _, p := range b {
		if was, ok := before[p.pid]; ok && p.pid != first {
			used = append(used, p.cpu-was.cpu)
		}
	}
	if len(used) == 0 {
		return 0, 0, false
	}
	mean, active = TookPart(used)
	return mean, active, true
}

// TookPart gives the mean CPU time of at least one worker, and how many of the
// workers took part.
func TookPart[T time.Duration | float64](cpus []T) (mean T, active int) {
	var sum T
	least := gate.ActiveShare * float64(slices.Max(cpus))
	for _, cpu := range cpus {
		sum += cpu
		if cpu > 0 && float64(cpu) >= least {
			active++
		}
	}
	return sum / T(len(cpus)), active
}

// threadSlack is the share of a core by which a client's use may exceed the sum of
// its threads: process and threads are not read at the same moment.
const threadSlack = 0.05

// threads gives each client thread's share of a core, busiest first. A thread
// that is missing in the first sample was started in between. known is false
// where the process used more than these threads: then a thread has ended, and
// it may have been the busiest.
func (d delta) threads() (shares []float64, known bool) {
	seen := 0.0
	for id, after := range d.b.threads {
		one := (after - d.a.threads[id]).Seconds() / d.seconds
		shares, seen = append(shares, one), seen+one
	}
	slices.SortFunc(shares, func(x, y float64) int { return cmp.Compare(y, x) })
	cpu, ok := spent(d.a.client, d.b.client, d.a.uptime)
	return shares, ok && len(shares) > 0 && cpu.Seconds()/d.seconds-seen <= threadSlack
}

// switches counts how often threads were given a core; unknown where a thread
// has ended, since its count is lost.
func switches(a, b []process) (n float64, ok bool) {
	before := byID(a)
	for _, p := range b {
		if was, there := before[p.pid]; there && p.switches > 0 {
			if p.switches < was.switches {
				return 0, false
			}
			n, ok = n+float64(p.switches-was.switches), true
		}
	}
	return n, ok
}
