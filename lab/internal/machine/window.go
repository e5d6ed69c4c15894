package machine

import (
	"os"
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

	Stopped []string // sides, "server" or "client", of which a signal stopped a process at some time
}

// Between computes the figures of a window for one pair, given by its index. rps is the requests
// completed per second in the window, for figures per request.
func (s *Sampler) Between(pair int, from, to time.Time, rps float64) Window {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := Window{Metrics: map[string]float64{}}
	var in []sample
	for _, one := range s.samples {
		if !one.at.Before(from) && !one.at.After(to) {
			in = append(in, one)
		}
	}
	if len(in) < 2 {
		return w // too short for any figure
	}
	p := s.targets.Pairs[pair]
	d := delta{&in[0], &in[len(in)-1], in, s.targets, in[len(in)-1].at.Sub(in[0].at).Seconds()}
	d.processes(&w, "server", p.Servers, rps)
	d.processes(&w, "client", []int{p.Client}, rps)
	d.cores(&w, "server", s.targets.ServerCPUs)
	d.cores(&w, "client", s.targets.ClientCPUs)
	d.workers(&w, p.Servers)
	d.threads(&w, p.Client)
	if d.a.interrupts > 0 {
		w.Metrics["interrupts_per_s"] = max(d.b.interrupts-d.a.interrupts, 0) / d.seconds
	}
	if d.a.quota.Seen && d.b.quota.Seen {
		w.Metrics["throttled_s"] = max(d.b.quota.Held-d.a.quota.Held, 0).Seconds()
	}
	w.Metrics["sampler_busy"] = (d.b.own - d.a.own).Seconds() / d.seconds
	return w
}

// A delta is a window's samples, the first and the last of them, and the seconds between these.
type delta struct {
	a, b    *sample
	in      []sample
	targets Targets
	seconds float64
}

// spent is the CPU time that some processes used between two samples, given those of each. The time of one that
// ended is its parent's then; ok is false where nobody waited for it.
func (d delta) spent(before, after []int) (total time.Duration, ok bool) {
	const cut = 2 * proc.Tick // user and system time of ended children are each cut to ticks
	total = d.b.used(after) - d.a.used(before)
	return max(total, 0), len(after) > 0 && total > -cut
}

// processes computes what one side's processes used, given their roots.
func (d delta) processes(w *Window, side string, roots []int, rps float64) {
	if cpu, ok := d.spent(d.a.tree(roots...), d.b.tree(roots...)); ok {
		if side == "server" {
			w.Metrics["server_cpu_s"] = cpu.Seconds()
		}
		if rps > 0 {
			w.Metrics[side+"_cpu_per_request_s"] = cpu.Seconds() / d.seconds / rps
		}
	}
	most, stopped := 0, false
	for _, one := range d.in {
		rss := 0
		for _, pid := range one.tree(roots...) {
			rss, stopped = rss+one.all[pid].RSS, stopped || one.all[pid].State == 'T'
		}
		most = max(most, rss)
	}
	if most > 0 {
		w.Metrics[side+"_rss_bytes"] = float64(most)
	}
	if stopped {
		w.Stopped = append(w.Stopped, side)
	}
}

// cores computes where the time of one side's cores went. Foreign is what neither side's processes nor the
// lab's used of them. Time in interrupts does not count there, since most of it is for the load. In a
// container it is the only trace of processes outside.
func (d delta) cores(w *Window, side string, cpus []int) {
	var total, idle, steal, ran float64
	for _, cpu := range cpus {
		x, ok := d.a.cpus[int64(cpu)]
		y, also := d.b.cpus[int64(cpu)]
		if !ok || !also {
			return
		}
		total, steal = total+sum(y)-sum(x), steal+y.Steal-x.Steal
		idle += y.Idle + y.Iowait - x.Idle - x.Iowait
		ran += y.User + y.Nice + y.System - x.User - x.Nice - x.System
	}
	if total <= 0 {
		return
	}
	w.Metrics[side+"_cores_busy"], w.Metrics[side+"_steal"] = share(total-idle-steal, total), share(steal, total)
	shared := slices.ContainsFunc(d.targets.ServerCPUs, func(c int) bool { return slices.Contains(d.targets.ClientCPUs, c) })
	known := d.b.own - d.a.own // the lab's own may have run on either side
	for _, which := range []string{"server", "client"} {
		before, after := d.a.known(which, d.targets), d.b.known(which, d.targets)
		used, ok := d.spent(before, after)
		if !ok && len(after) > 0 {
			return
		}
		if which == side || shared {
			known += used
		}
	}
	w.Metrics[side+"_foreign_load"] = max(0, ran-known.Seconds()) / d.seconds
}

// known are the processes of a side in all pairs. What the lab has started besides, such as the holders of
// servers, counts with the servers.
func (s *sample) known(side string, t Targets) []int {
	servers, clients := []int{os.Getpid()}, []int{}
	for _, p := range t.Pairs {
		servers, clients = append(servers, p.Servers...), append(clients, p.Client)
	}
	loads := s.tree(clients...)
	if side == "client" {
		return loads
	}
	return slices.DeleteFunc(s.tree(servers...), func(pid int) bool { return slices.Contains(loads, pid) })
}

// sum is all time of a core; guests' time is in user and nice already.
func sum(c procfs.CPUStat) float64 {
	return c.User + c.Nice + c.System + c.Idle + c.Iowait + c.IRQ + c.SoftIRQ + c.Steal
}

func share(part, of float64) float64 { return min(max(part/of, 0), 1) }

// workers looks at a server's processes but the first, and at what each of them used without its children.
func (d delta) workers(w *Window, roots []int) {
	var threads, seen float64 // seen is in how many samples there were some
	var ps []int
	for i, one := range d.in {
		all := one.tree(roots...)
		ps = all[min(1, len(all)):]
		sum := 0
		for _, pid := range ps {
			sum += one.all[pid].Threads
		}
		if len(ps) > 0 {
			threads, seen = threads+float64(sum)/float64(len(ps)), seen+1
		}
		if w.WorkersMax = max(w.WorkersMax, len(ps)); i == 0 || len(ps) < w.WorkersMin {
			w.WorkersMin = len(ps)
		}
	}
	last := d.b.tree(roots...)
	if len(last) == 0 {
		return // a server that was not seen does not have 0 workers
	}
	w.Metrics["workers"], w.Metrics["processes"] = float64(w.WorkersMin), float64(len(last))
	if seen > 0 {
		w.Metrics["threads_per_worker"] = threads / seen
	}
	var used []float64
	for _, pid := range ps {
		if before, ok := d.a.clocks[pid]; ok {
			used = append(used, (d.b.clocks[pid] - before).Seconds())
		}
	}
	if len(used) > 0 {
		mean, active := TookPart(used)
		w.Metrics["server_workers_busy"], w.Metrics["workers_active"] = mean/d.seconds, float64(active)
	}
}

// TookPart gives the mean CPU time of at least one worker, and how many of the workers took part.
func TookPart(cpus []float64) (mean float64, active int) {
	least := gate.ActiveShare * slices.Max(cpus)
	for _, cpu := range cpus {
		mean += cpu / float64(len(cpus))
		if cpu > 0 && cpu >= least {
			active++
		}
	}
	return mean, active
}

// threadSlack is the share of a core by which a client's use may exceed the sum of its threads: process
// and threads are not read at the same moment.
const threadSlack = 0.05

// threads finds the client's busiest thread. Where the process used more than its threads, one has ended,
// which may have been the busiest.
func (d delta) threads(w *Window, client int) {
	busiest, all, seen := 0.0, 0.0, false
	for _, pid := range d.b.tree(client) {
		for id, after := range d.b.threads[pid] { // one that is missing in the first sample was started in between
			share := (after - d.a.threads[pid][id]).Seconds() / d.seconds
			busiest, all, seen = max(busiest, share), all+share, true
		}
	}
	cpu, ok := d.spent(d.a.tree(client), d.b.tree(client))
	if ok && seen && cpu.Seconds()/d.seconds-all <= threadSlack {
		w.Metrics["client_thread_busy_max"] = busiest
	}
}
