package machine

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/procfs"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/proc"
)

// A Window has the figures of the samples within one stretch of time.
type Window struct {
	// Metrics have the names of package metric; what could not be read is absent.
	Metrics map[string]float64
	// Least and most workers seen in a sample; both 0 if none was seen.
	WorkersMin, WorkersMax int

	Cores         []Core
	ClientThreads []float64 // share of a core, busiest first
	Others        []Load    // other processes, highest use first
	Stopped       []string  // sides, "server" or "client", of which a signal stopped a process at some time
}

// A Core says where one core's time went, in shares.
type Core struct {
	CPU                                int
	User, System, SoftIRQ, Steal, Idle float64
}

// A Load is what one other process used in the window, as a share of a core.
type Load struct {
	Name  string
	Cores float64
}

// Between computes the figures of a window for one pair, given by its index. rps is the requests
// completed per second in the window, for figures per request.
func (s *Sampler) Between(pair int, from, to time.Time, rps float64) Window {
	s.mu.Lock()
	defer s.mu.Unlock()
	var in []sample
	for _, one := range s.samples {
		if !one.at.Before(from) && !one.at.After(to) {
			in = append(in, one)
		}
	}
	w := Window{Metrics: map[string]float64{}}
	if len(in) < 2 {
		return w // too short for any figure
	}
	d := delta{&in[0], &in[len(in)-1], in[len(in)-1].at.Sub(in[0].at).Seconds(), pair, w.Metrics}
	d.server(&w, in, s.targets, rps)
	d.client(&w, s.targets, rps)
	d.machine(&w)
	d.others(&w, s.targets)
	d.sides(&w, in)
	// A step of the clock before the window would put the window in the wrong place.
	first, last := s.samples[0].at, s.samples[len(s.samples)-1].at
	w.Metrics["clock_step_s"] = (last.Round(0).Sub(first.Round(0)) - last.Sub(first)).Abs().Seconds()
	return w
}

// A delta is two samples and the seconds between them.
type delta struct {
	a, b    *sample
	seconds float64
	pair    int
	m       map[string]float64
}

// spent is the CPU time that some processes used between two samples. The time of one that ended is its
// parent's then; ok is false where nobody waited for it.
func spent(a, b []process) (total time.Duration, ok bool) {
	for _, p := range b {
		total += p.cpu + p.waited
	}
	for _, p := range a {
		total -= p.cpu + p.waited
	}
	const cut = 2 * proc.Tick // user and system time of ended children are each cut to ticks
	return max(total, 0), len(b) > 0 && total > -cut
}

// first is the server's process whose parent is none of them.
func first(ps []process) int {
	for _, p := range ps {
		if !slices.ContainsFunc(ps, func(o process) bool { return o.pid == p.parent }) {
			return p.pid
		}
	}
	return 0
}

func (d delta) server(w *Window, in []sample, t Targets, rps float64) {
	a, b := d.a.pairs[d.pair].server, d.b.pairs[d.pair].server
	if cpu, ok := spent(a, b); ok {
		d.m["server_cpu_s"] = cpu.Seconds()
		if rps > 0 {
			d.m["server_cpu_per_request_s"] = cpu.Seconds() / d.seconds / rps
		}
	}
	d.busy(t.ServerCPUs, "server_cores_busy", "server_steal")
	var threads []float64 // of a worker, by sample
	for i, one := range in {
		ps, sum := one.pairs[d.pair].server, 0
		parent := first(ps)
		for _, p := range ps {
			if p.pid != parent {
				sum += p.threads
			}
		}
		workers := max(len(ps)-1, 0)
		if w.WorkersMax = max(w.WorkersMax, workers); i == 0 || workers < w.WorkersMin {
			w.WorkersMin = workers
		}
		if workers > 0 {
			threads = append(threads, float64(sum)/float64(workers))
		}
	}
	if len(b) == 0 {
		return // a server that was not seen does not have 0 workers
	}
	d.m["workers"], d.m["processes"] = float64(w.WorkersMin), float64(len(b))
	if len(threads) == 0 {
		return
	}
	mean := 0.0
	for _, v := range threads {
		mean += v / float64(len(threads))
	}
	d.m["threads_per_worker"] = mean
	var used []time.Duration // by each worker that is in both samples, without its children
	for _, p := range b {
		i := slices.IndexFunc(a, func(was process) bool { return was.pid == p.pid })
		if i >= 0 && p.pid != first(b) {
			used = append(used, p.cpu-a[i].cpu)
		}
	}
	if len(used) > 0 {
		mean, active := TookPart(used)
		d.m["server_workers_busy"], d.m["workers_active"] = mean.Seconds()/d.seconds, float64(active)
	}
}

// TookPart gives the mean CPU time of at least one worker, and how many of the workers took part.
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

// threadSlack is the share of a core by which a client's use may exceed the sum of its threads: process
// and threads are not read at the same moment.
const threadSlack = 0.05

func (d delta) client(w *Window, t Targets, rps float64) {
	a, b := d.a.pairs[d.pair], d.b.pairs[d.pair]
	cpu, ok := spent(a.client, b.client)
	if ok && rps > 0 {
		d.m["client_cpu_per_request_s"] = cpu.Seconds() / d.seconds / rps
	}
	seen := 0.0
	for id, after := range b.threads { // one that is missing in the first sample was started in between
		share := (after - a.threads[id]).Seconds() / d.seconds
		w.ClientThreads, seen = append(w.ClientThreads, share), seen+share
	}
	slices.SortFunc(w.ClientThreads, func(x, y float64) int { return cmp.Compare(y, x) })
	// Where the process used more than these threads, one has ended, which may have been the busiest.
	if ok && len(w.ClientThreads) > 0 && cpu.Seconds()/d.seconds-seen <= threadSlack {
		d.m["client_thread_busy_max"] = w.ClientThreads[0]
	}
	d.busy(t.ClientCPUs, "client_cores_busy", "client_steal")
}

// busy computes the shares of time in which cores were busy and in which they were stolen.
func (d delta) busy(cpus []int, busyName, stealName string) {
	var busy, stolen, total float64
	for _, cpu := range cpus {
		x, ok := d.a.cpus[int64(cpu)]
		y, also := d.b.cpus[int64(cpu)]
		if !ok || !also {
			return
		}
		all, idle, steal := sum(y)-sum(x), y.Idle+y.Iowait-x.Idle-x.Iowait, y.Steal-x.Steal
		total, stolen, busy = total+all, stolen+steal, busy+all-idle-steal
	}
	if total > 0 {
		d.m[busyName], d.m[stealName] = min(max(busy/total, 0), 1), min(max(stolen/total, 0), 1)
	}
}

// sum is all time of a core; guests' time is in user and nice already.
func sum(c procfs.CPUStat) float64 {
	return c.User + c.Nice + c.System + c.Idle + c.Iowait + c.IRQ + c.SoftIRQ + c.Steal
}

// machine computes where each core's time went, and what the kernel counted.
func (d delta) machine(w *Window) {
	if d.a.interrupts > 0 {
		d.m["interrupts_per_s"] = max(d.b.interrupts-d.a.interrupts, 0) / d.seconds
	}
	for _, cpu := range slices.Sorted(maps.Keys(d.b.cpus)) {
		x, ok := d.a.cpus[cpu]
		y := d.b.cpus[cpu]
		all := sum(y) - sum(x)
		if !ok || !(all > 0) {
			continue
		}
		share := func(ticks float64) float64 { return min(max(ticks/all, 0), 1) }
		w.Cores = append(w.Cores, Core{
			CPU: int(cpu), User: share(y.User + y.Nice - x.User - x.Nice), System: share(y.System - x.System),
			SoftIRQ: share(y.SoftIRQ + y.IRQ - x.SoftIRQ - x.IRQ), Steal: share(y.Steal - x.Steal),
			Idle: share(y.Idle + y.Iowait - x.Idle - x.Iowait),
		})
	}
	for name, after := range d.b.counters {
		if before, ok := d.a.counters[name]; ok {
			d.m[name] = max(after-before, 0) // a counter that wrapped counts as unchanged
		}
	}
	d.m["sampler_busy"] = (d.b.own - d.a.own).Seconds() / d.seconds
}

// others is what neither side's processes nor the lab's used of each side's cores. Time in interrupts does
// not count, since most of it is for the load. In a container it is the only trace of processes outside.
func (d delta) others(w *Window, t Targets) {
	server, ok := spent(d.a.known[0], d.b.known[0])
	client, also := spent(d.a.known[1], d.b.known[1])
	shared := slices.ContainsFunc(t.ServerCPUs, func(c int) bool { return slices.Contains(t.ClientCPUs, c) })
	for name, side := range map[string]struct {
		cpus []int
		own  time.Duration
	}{"server_foreign_load": {t.ServerCPUs, server}, "client_foreign_load": {t.ClientCPUs, client}} {
		own := side.own + d.b.own - d.a.own
		if shared {
			own = server + client + d.b.own - d.a.own
		}
		busy, seen := 0.0, len(side.cpus) > 0
		for _, cpu := range side.cpus {
			x, there := d.a.cpus[int64(cpu)]
			y, still := d.b.cpus[int64(cpu)]
			seen = seen && there && still
			busy += y.User + y.Nice + y.System - x.User - x.Nice - x.System
		}
		if seen && ok && (also || len(d.b.known[1]) == 0) {
			d.m[name] = max(0, busy-own.Seconds()) / d.seconds
		}
	}
	known := map[int]bool{}
	for _, p := range slices.Concat(d.b.known[0], d.b.known[1]) {
		known[p.pid] = true
	}
	for pid, now := range d.b.all {
		if used := now.CPU - d.a.all[pid].CPU; !known[pid] && used > 0 {
			w.Others = append(w.Others, Load{now.Name, (time.Duration(used) * proc.Tick).Seconds() / d.seconds})
		}
	}
	slices.SortFunc(w.Others, func(x, y Load) int { return cmp.Compare(y.Cores, x.Cores) })
}

// sides finds the most memory of each side, and the sides that were stopped by a signal.
func (d delta) sides(w *Window, in []sample) {
	for _, side := range []string{"server", "client"} {
		most, held := 0, false
		for _, one := range in {
			ps, rss := one.pairs[d.pair].server, 0
			if side == "client" {
				ps = one.pairs[d.pair].client
			}
			for _, p := range ps {
				rss, held = rss+p.rss, held || p.stopped
			}
			most = max(most, rss)
		}
		if held {
			w.Stopped = append(w.Stopped, side)
		}
		if most > 0 {
			d.m[side+"_rss_bytes"] = float64(most)
		}
	}
}
