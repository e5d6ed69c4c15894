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

	Cores   []Core
	Others  []Load   // other processes, highest use first
	Stopped []string // sides, "server" or "client", of which a signal stopped a process at some time
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
	d := delta{&in[0], &in[len(in)-1], in, pair, s.targets, in[len(in)-1].at.Sub(in[0].at).Seconds()}
	d.side(&w, server, "server", s.targets.ServerCPUs, rps)
	d.side(&w, client, "client", s.targets.ClientCPUs, rps)
	d.workers(&w)
	d.threads(&w)
	d.machine(&w)
	d.others(&w)
	// A step of the clock before the window would put the window in the wrong place.
	first, last := s.samples[0].at, s.samples[len(s.samples)-1].at
	w.Metrics["clock_step_s"] = (last.Round(0).Sub(first.Round(0)) - last.Sub(first)).Abs().Seconds()
	return w
}

// A delta is a window's samples, the first and the last of them, and the seconds between these.
type delta struct {
	a, b    *sample
	in      []sample
	pair    int
	targets Targets
	seconds float64
}

// spent is the CPU time that some processes used between two samples. The time of one that ended is its
// parent's then; ok is false where nobody waited for it.
func spent(a, b []process) (total time.Duration, ok bool) {
	for _, p := range b {
		total += p.total()
	}
	for _, p := range a {
		total -= p.total()
	}
	const cut = 2 * proc.Tick // user and system time of ended children are each cut to ticks
	return max(total, 0), len(b) > 0 && total > -cut
}

// side computes what one side's processes used, and where the time of its cores went. Foreign is what
// neither side's processes nor the lab's used of them. Time in interrupts does not count there, since most
// of it is for the load. In a container it is the only trace of processes outside.
func (d delta) side(w *Window, side int, name string, cpus []int, rps float64) {
	if cpu, ok := spent(d.a.pairs[d.pair][side], d.b.pairs[d.pair][side]); ok {
		if side == server {
			w.Metrics["server_cpu_s"] = cpu.Seconds()
		}
		if rps > 0 {
			w.Metrics[name+"_cpu_per_request_s"] = cpu.Seconds() / d.seconds / rps
		}
	}
	most, stopped := 0, false
	for _, one := range d.in {
		rss := 0
		for _, p := range one.pairs[d.pair][side] {
			rss, stopped = rss+p.RSS, stopped || p.State == 'T'
		}
		most = max(most, rss)
	}
	if most > 0 {
		w.Metrics[name+"_rss_bytes"] = float64(most)
	}
	if stopped {
		w.Stopped = append(w.Stopped, name)
	}

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
	w.Metrics[name+"_cores_busy"], w.Metrics[name+"_steal"] = share(total-idle-steal, total), share(steal, total)
	shared := slices.ContainsFunc(d.targets.ServerCPUs, func(c int) bool { return slices.Contains(d.targets.ClientCPUs, c) })
	own := d.b.own - d.a.own
	for _, which := range []int{server, client} {
		used, ok := spent(d.a.known[which], d.b.known[which])
		if !ok && len(d.b.known[which]) > 0 {
			return
		}
		if which == side || shared {
			own += used
		}
	}
	w.Metrics[name+"_foreign_load"] = max(0, ran-own.Seconds()) / d.seconds
}

// sum is all time of a core; guests' time is in user and nice already.
func sum(c procfs.CPUStat) float64 {
	return c.User + c.Nice + c.System + c.Idle + c.Iowait + c.IRQ + c.SoftIRQ + c.Steal
}

func share(part, of float64) float64 { return min(max(part/of, 0), 1) }

// workers are the server's processes but the first, which is the one whose parent is none of them.
func workers(ps []process) (out []process) {
	first := slices.IndexFunc(ps, func(p process) bool {
		return !slices.ContainsFunc(ps, func(o process) bool { return o.pid == p.Parent })
	})
	if first < 0 {
		return nil
	}
	return slices.Concat(ps[:first], ps[first+1:])
}

func (d delta) workers(w *Window) {
	var threads, seen float64 // seen is in how many samples there were some
	for i, one := range d.in {
		ps := workers(one.pairs[d.pair][server])
		sum := 0
		for _, p := range ps {
			sum += p.Threads
		}
		if len(ps) > 0 {
			threads, seen = threads+float64(sum)/float64(len(ps)), seen+1
		}
		if w.WorkersMax = max(w.WorkersMax, len(ps)); i == 0 || len(ps) < w.WorkersMin {
			w.WorkersMin = len(ps)
		}
	}
	a, b := d.a.pairs[d.pair][server], d.b.pairs[d.pair][server]
	if len(b) == 0 {
		return // a server that was not seen does not have 0 workers
	}
	w.Metrics["workers"], w.Metrics["processes"] = float64(w.WorkersMin), float64(len(b))
	if seen > 0 {
		w.Metrics["threads_per_worker"] = threads / seen
	}
	var used []float64 // by each worker that is in both samples, without its children
	for _, p := range workers(b) {
		if i := slices.IndexFunc(a, func(was process) bool { return was.pid == p.pid }); i >= 0 {
			used = append(used, (p.cpu - a[i].cpu).Seconds())
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
func (d delta) threads(w *Window) {
	busiest, all := 0.0, 0.0
	for id, after := range d.b.threads[d.pair] { // one that is missing in the first sample was started in between
		share := (after - d.a.threads[d.pair][id]).Seconds() / d.seconds
		busiest, all = max(busiest, share), all+share
	}
	cpu, ok := spent(d.a.pairs[d.pair][client], d.b.pairs[d.pair][client])
	if ok && len(d.b.threads[d.pair]) > 0 && cpu.Seconds()/d.seconds-all <= threadSlack {
		w.Metrics["client_thread_busy_max"] = busiest
	}
}

// machine computes where each core's time went, and what held cores back.
func (d delta) machine(w *Window) {
	if d.a.interrupts > 0 {
		w.Metrics["interrupts_per_s"] = max(d.b.interrupts-d.a.interrupts, 0) / d.seconds
	}
	for _, cpu := range slices.Sorted(maps.Keys(d.b.cpus)) {
		x, y := d.a.cpus[cpu], d.b.cpus[cpu]
		if all := sum(y) - sum(x); all > 0 && sum(x) > 0 {
			w.Cores = append(w.Cores, Core{
				CPU: int(cpu), User: share(y.User+y.Nice-x.User-x.Nice, all), System: share(y.System-x.System, all),
				SoftIRQ: share(y.SoftIRQ+y.IRQ-x.SoftIRQ-x.IRQ, all), Steal: share(y.Steal-x.Steal, all),
				Idle: share(y.Idle+y.Iowait-x.Idle-x.Iowait, all),
			})
		}
	}
	for name, after := range d.b.counters {
		if before, ok := d.a.counters[name]; ok {
			w.Metrics[name] = max(after-before, 0) // a counter that wrapped counts as unchanged
		}
	}
	w.Metrics["sampler_busy"] = (d.b.own - d.a.own).Seconds() / d.seconds
}

// others lists the processes that are neither of a side nor the lab's.
func (d delta) others(w *Window) {
	known := map[int]bool{}
	for _, p := range slices.Concat(d.b.known[server], d.b.known[client]) {
		known[p.pid] = true
	}
	for pid, now := range d.b.all {
		if used := now.CPU - d.a.all[pid].CPU; !known[pid] && used > 0 {
			w.Others = append(w.Others, Load{now.Name, (time.Duration(used) * proc.Tick).Seconds() / d.seconds})
		}
	}
	slices.SortFunc(w.Others, func(x, y Load) int { return cmp.Compare(y.Cores, x.Cores) })
}
