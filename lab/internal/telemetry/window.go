package telemetry

import (
	"slices"
	"time"

	"github.com/prometheus/procfs"

	"github.com/line-rate/line-rate/lab/internal/strict"
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
	// Gap is the longest time between two samples that overlaps the window: about
	// the longest time for which the lab itself was held up. If there is no sample
	// before or after the window, the window's own end takes its place.
	Gap time.Duration
}

// A Core says where one core's time went, in shares.
type Core struct {
	CPU                                int
	User, System, SoftIRQ, Steal, Idle float64
}

// Between computes the figures of a window for one pair, given by its index.
// rps is the requests completed per second in the window, for figures per
// request.
func (s *Sampler) Between(pair int, from, to time.Time, rps float64) Window {
	s.mu.Lock()
	defer s.mu.Unlock()
	samples := s.samples[pair]
	within := func(all []sample) []sample {
		return strict.Those(all, func(one sample) bool { return !one.at.Before(from) && !one.at.After(to) })
	}
	in := within(samples)
	w := Window{Metrics: map[string]float64{}, Gap: gap(samples, from, to)}
	if len(in) < 2 {
		return w // too short for any figure
	}
	a, b := in[0], in[len(in)-1]
	d := delta{a, b, b.at.Sub(a.at).Seconds()}
	d.workers(&w, in)
	d.server(w.Metrics, s.targets, rps)
	d.client(&w, s.targets, rps)
	d.machine(&w)
	d.watching(&w, in)
	d.surveys(&w, in, s.targets)
	if s.blind {
		own := s.ownOf(within)
		for side, cpus := range map[string][]int{"server": s.targets.ServerCPUs, "client": s.targets.ClientCPUs} {
			if load, ok := w.Metrics[side+"_foreign_load"]; ok && own != nil {
				w.Metrics[side+"_foreign_load"] = max(load, unseen(w.Cores, cpus, own[side]))
			}
		}
	}
	// The clock is checked over the whole trial: a step before the window would
	// put the window in the wrong place.
	all := delta{a: samples[0], b: samples[len(samples)-1]}
	w.Metrics["clock_step_s"] = all.step().Abs().Seconds()
	return w
}

// gap is the longest time without a sample. The nearest samples outside the
// window count too: a standstill at the window's begin or end does not show
// between the samples inside.
func gap(samples []sample, from, to time.Time) (longest time.Duration) {
	last := from
	for _, one := range samples {
		if one.at.Before(from) {
			last = one.at
			continue
		}
		longest = max(longest, one.at.Sub(last))
		if last = one.at; last.After(to) {
			return longest
		}
	}
	return max(longest, to.Sub(last))
}

// A delta is two samples and the seconds between them.
type delta struct {
	a, b    sample
	seconds float64
}

// master is the server process whose parent is not one of the server's
// processes.
func master(ps []process) int {
	own := strict.Set(ps, func(p process) int { return p.pid })
	for _, p := range ps {
		if !own[p.parent] {
			return p.pid
		}
	}
	return 0
}

func (d delta) workers(w *Window, in []sample) {
	var threads, processes float64
	n, seen := 0, false
	var counts []int // of workers, by sample
	for _, one := range in {
		m := master(one.server)
		seen = seen || m != 0
		count, sum := 0, 0
		for _, p := range one.server {
			if p.pid != m {
				count++
				sum += p.threads
			}
		}
		counts = append(counts, count)
		processes = float64(len(one.server))
		if count > 0 {
			threads += float64(sum) / float64(count)
			n++
		}
	}
	w.WorkersMin, w.WorkersMax = slices.Min(counts), slices.Max(counts)
	if !seen {
		return // a server that was not seen does not have 0 workers
	}
	w.Metrics["workers"] = float64(w.WorkersMin)
	w.Metrics["processes"] = processes
	if n > 0 {
		w.Metrics["threads_per_worker"] = threads / float64(n)
	}
}

func (d delta) server(m map[string]float64, t Targets, rps float64) {
	if cpu, ok := spent(d.a.server, d.b.server, d.a.uptime); ok {
		m["server_cpu_s"] = cpu.Seconds()
		if rps > 0 {
			m["server_cpu_per_request_s"] = cpu.Seconds() / d.seconds / rps
		}
	}
	if mean, active, ok := workers(d.a.server, d.b.server); ok {
		m["server_workers_busy"], m["workers_active"] = mean.Seconds()/d.seconds, float64(active)
	}
	if n, ok := switches(d.a.server, d.b.server); ok {
		m["server_context_switches_per_s"] = n / d.seconds
	}
	d.cores(m, t.ServerCPUs, "server_cores_busy", "server_steal")
}

func (d delta) client(w *Window, t Targets, rps float64) {
	m := w.Metrics
	if cpu, ok := spent(d.a.client, d.b.client, d.a.uptime); ok && rps > 0 {
		m["client_cpu_per_request_s"] = cpu.Seconds() / d.seconds / rps
	}
	var known bool
	if w.ClientThreads, known = d.threads(); known {
		m["client_thread_busy_max"] = w.ClientThreads[0]
	}
	if n, ok := switches(d.a.client, d.b.client); ok {
		m["client_context_switches_per_s"] = n / d.seconds
	}
	d.cores(m, t.ClientCPUs, "client_cores_busy", "client_steal")
}

// cores computes the shares of time in which the cores were busy and in which
// they were stolen.
func (d delta) cores(m map[string]float64, cpus []int, busyName, stealName string) {
	var busy, steal float64
	for _, cpu := range cpus {
		x, xok := d.a.cpus[int64(cpu)]
		y, yok := d.b.cpus[int64(cpu)]
		all := sum(y) - sum(x)
		if !xok || !yok || !(all > 0) {
			return // with one core unknown the mean would cover other cores
		}
		busy += 1 - (y.Idle+y.Iowait-x.Idle-x.Iowait)/all
		steal += (y.Steal - x.Steal) / all
	}
	if n := float64(len(cpus)); n > 0 {
		// The kernel's idle counters may run backwards by a proc.Tick.
		m[busyName] = min(max(busy/n, 0), 1)
		m[stealName] = min(max(steal/n, 0), 1)
	}
}

// sum leaves out guest time, which the kernel includes in user time.
func sum(c procfs.CPUStat) float64 {
	return c.User + c.Nice + c.System + c.Idle + c.Iowait + c.IRQ + c.SoftIRQ + c.Steal
}

// machine computes where each core's time went, and the interrupts.
func (d delta) machine(w *Window) {
	if d.a.interrupts > 0 {
		w.Metrics["interrupts_per_s"] = max(d.b.interrupts-d.a.interrupts, 0) / d.seconds
	}
	for cpu, y := range d.b.cpus {
		x, ok := d.a.cpus[cpu]
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
	slices.SortFunc(w.Cores, func(x, y Core) int { return x.CPU - y.CPU })
}

// step is how far the wall clock moved relative to the monotonic clock.
func (d delta) step() time.Duration {
	return d.b.at.Round(0).Sub(d.a.at.Round(0)) - (d.b.mono - d.a.mono)
}

// watching computes the cost of sampling, and finds the sides that were stopped
// by a signal.
func (d delta) watching(w *Window, in []sample) {
	if d.b.own > 0 {
		w.Metrics["sampler_busy"] = (d.b.own - d.a.own).Seconds() / d.seconds
	}
	held := map[string]bool{}
	most := map[string]float64{}
	for _, one := range in {
		for side, ps := range map[string][]process{"server": one.server, "client": one.client} {
			rss := 0.0
			for _, p := range ps {
				held[side] = held[side] || p.stopped
				rss += float64(p.rss)
			}
			most[side] = max(most[side], rss)
		}
	}
	for _, side := range []string{"server", "client"} {
		if held[side] {
			w.Stopped = append(w.Stopped, side)
		}
		if most[side] > 0 {
			w.Metrics[side+"_rss_bytes"] = most[side]
		}
	}
}

// surveys computes what changed between the first and the last survey in the window.
func (d delta) surveys(w *Window, in []sample, t Targets) {
	var found []*survey
	for _, one := range in {
		if one.survey != nil {
			found = append(found, one.survey)
		}
	}
	if len(found) < 2 {
		return
	}
	a, b := found[0], found[len(found)-1]
	for name, after := range b.counters {
		if before, ok := a.counters[name]; ok {
			w.Metrics[name] = max(after-before, 0) // a counter that wrapped counts as unchanged
		}
	}
	w.Others = others(a, b)
	for side, cpus := range map[string][]int{"server": t.ServerCPUs, "client": t.ClientCPUs} {
		if len(cpus) == 0 {
			continue
		}
		load := 0.0
		for _, o := range w.Others {
			if slices.Contains(cpus, o.Core) {
				load += o.Cores
			}
		}
		w.Metrics[side+"_foreign_load"] = load
	}
}
