package telemetry

import (
	"math"
	"slices"
	"time"

	"github.com/prometheus/procfs"

	"github.com/line-rate/line-rate/lab/internal/shaper"
)

// A Window is what the samples show of one stretch of time.
type Window struct {
	// Metrics by the names of package metric; what could not be read is absent.
	Metrics map[string]float64
	// Workers seen, least and most, over the samples; both 0 if none was seen.
	WorkersMin, WorkersMax int

	Cores         []Core
	ClientThreads []float64          // share of a core, busiest first
	Interrupts    map[string]float64 // a second, by queue of the interface under load
	Others        []Load             // other processes that ran, most first
	Stopped       []string           // "server", "client": a signal held it at some time
	// Gap is the longest time between two samples of which the window has a part,
	// about as long as the lab itself was held up at the most. Where no sample was
	// taken before the window, or after it, its own ends take their place.
	Gap time.Duration
}

// A Core says where one core's time went, in shares.
type Core struct {
	CPU                                int
	User, System, SoftIRQ, Steal, Idle float64
}

// Between cuts the samples to a window of one pair, by its place among them. rps is
// how many requests were completed in it a second, for figures per request; lineRate
// is bits a second, 0 for none.
func (s *Sampler) Between(pair int, from, to time.Time, rps, lineRate float64) Window {
	s.mu.Lock()
	defer s.mu.Unlock()
	samples := s.samples[pair]
	var in []sample
	for _, one := range samples {
		if !one.at.Before(from) && !one.at.After(to) {
			in = append(in, one)
		}
	}
	w := Window{Metrics: map[string]float64{}, Gap: gap(samples, from, to)}
	if len(in) < 2 {
		return w // too short to say anything
	}
	a, b := in[0], in[len(in)-1]
	d := delta{a, b, b.at.Sub(a.at).Seconds()}
	d.workers(&w, in)
	d.server(w.Metrics, s.targets, rps)
	d.client(&w, s.targets, rps)
	d.machine(&w)
	d.watching(&w, in, s.wire(w.Metrics, from, to, lineRate))
	d.surveys(&w, in, samples[0].survey, s.targets)
	// The clock is looked at over the whole trial: a step before the window
	// puts the window in the wrong place.
	all := delta{a: samples[0], b: samples[len(samples)-1]}
	w.Metrics["clock_step_s"] = all.step().Abs().Seconds()
	return w
}

// gap finds the longest time without a sample. The samples beside the window
// count too: a machine that stands still as it begins or ends is not to be seen
// between those inside.
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

// master is the process whose parent is not of the server itself.
func master(ps []process) int {
	own := map[int]bool{}
	for _, p := range ps {
		own[p.pid] = true
	}
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
	w.WorkersMin = -1
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
		if w.WorkersMin < 0 || count < w.WorkersMin {
			w.WorkersMin = count
		}
		w.WorkersMax = max(w.WorkersMax, count)
		processes = float64(len(one.server))
		if count > 0 {
			threads += float64(sum) / float64(count)
			n++
		}
	}
	w.WorkersMin = max(w.WorkersMin, 0)
	if !seen {
		return // a server that was not seen has no nought workers
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

// cores gives the share of time that cores were not idle, and were stolen.
func (d delta) cores(m map[string]float64, cpus []int, busyName, stealName string) {
	var busy, steal float64
	for _, cpu := range cpus {
		x, xok := d.a.cpus[int64(cpu)]
		y, yok := d.b.cpus[int64(cpu)]
		all := sum(y) - sum(x)
		if !xok || !yok || !(all > 0) {
			return // one core unknown: the mean would be of others
		}
		busy += 1 - (y.Idle+y.Iowait-x.Idle-x.Iowait)/all
		steal += (y.Steal - x.Steal) / all
	}
	if n := float64(len(cpus)); n > 0 {
		// The kernel's idle counters may run back by a tick.
		m[busyName] = min(max(busy/n, 0), 1)
		m[stealName] = min(max(steal/n, 0), 1)
	}
}

// sum leaves guest time out: the kernel counts it in user time already.
func sum(c procfs.CPUStat) float64 {
	return c.User + c.Nice + c.System + c.Idle + c.Iowait + c.IRQ + c.SoftIRQ + c.Steal
}

// wire is between the first and the last readings that were taken within the
// window: they have times of their own. It returns what taking them cost.
func (s *Sampler) wire(m map[string]float64, from, to time.Time, lineRate float64) (cost float64) {
	if s.targets.Wire == nil {
		return 0
	}
	busier, drops := 0.0, 0.0
	server, client := s.targets.Wire()
	for name, all := range map[string][]shaper.Reading{"tx": server, "rx": client} {
		in := slices.DeleteFunc(slices.Clone(all), func(r shaper.Reading) bool { return r.At.Before(from) || r.At.After(to) })
		if len(in) < 2 {
			return cost
		}
		x, y := in[0], in[len(in)-1]
		seconds := y.At.Sub(x.At).Seconds()
		bps := float64(y.Bytes-x.Bytes) * 8 / seconds
		m["wire_"+name+"_bps"] = bps
		m["wire_"+name+"_packets_per_s"] = float64(y.Packets-x.Packets) / seconds
		busier, drops = max(busier, bps), drops+float64(y.Drops-x.Drops)
		cost += (y.CPUS - x.CPUS) / seconds
	}
	m["wire_drops"] = drops
	if lineRate > 0 {
		m["line_rate_share"] = busier / lineRate
	}
	return cost
}

// machine gives where each core's time went, and interrupts.
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

// step is how far the wall clock moved against the monotonic one.
func (d delta) step() time.Duration {
	return d.b.at.Round(0).Sub(d.a.at.Round(0)) - (d.b.mono - d.a.mono)
}

// watching gives what the samples say of watching itself, and of who was held.
func (d delta) watching(w *Window, in []sample, shapers float64) {
	if d.b.own > 0 {
		w.Metrics["sampler_busy"] = (d.b.own-d.a.own).Seconds()/d.seconds + shapers
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

// surveys gives what changed between the first and the last survey in the
// window. Connections are those beyond what there were when sampling began,
// before the client; of several counts the median, since the first may have
// come while the client was still connecting.
func (d delta) surveys(w *Window, in []sample, began *survey, t Targets) {
	var found []*survey
	var established []float64
	for _, one := range in {
		if one.survey == nil {
			continue
		}
		found = append(found, one.survey)
		if began != nil && began.established >= 0 && one.survey.established >= 0 {
			established = append(established, one.survey.established-began.established)
		}
	}
	// Of several pairs nobody knows whose they are.
	if len(established) > 0 && len(t.Pairs) == 1 {
		slices.Sort(established)
		// Others may have closed some meanwhile; there are none less than none.
		w.Metrics["connections_established"] = max(0, math.Ceil(established[len(established)/2]/float64(max(t.Ends, 1))))
	}
	if n, ok := serving(began, found, d.b.server, master(d.b.server)); ok {
		w.Metrics["workers_serving"] = float64(n)
	}
	if len(found) < 2 {
		return
	}
	a, b := found[0], found[len(found)-1]
	for name, after := range b.counters {
		if before, ok := a.counters[name]; ok {
			w.Metrics[name] = max(after-before, 0) // one that wrapped counts as still
		}
	}
	for queue, after := range b.irqs {
		if before, ok := a.irqs[queue]; ok {
			if w.Interrupts == nil {
				w.Interrupts = map[string]float64{}
			}
			w.Interrupts[queue] = (after - before) / b.at.Sub(a.at).Seconds()
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
