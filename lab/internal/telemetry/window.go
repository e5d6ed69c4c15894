package telemetry

import (
	"time"

	"github.com/prometheus/procfs"
)

// A Window is what the samples show of one stretch of time.
type Window struct {
	// Metrics by the names of package metric; what could not be read is absent.
	Metrics map[string]float64
	// Workers seen, least and most, over the samples; both 0 if none was seen.
	WorkersMin, WorkersMax int
}

// Between cuts the samples to a window. Requests is how many were completed in
// it a second, for figures per request; lineRate is bits a second, 0 for none.
func (s *Sampler) Between(from, to time.Time, rps, lineRate float64) Window {
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
		return w // too short to say anything
	}
	a, b := in[0], in[len(in)-1]
	d := delta{a, b, b.at.Sub(a.at).Seconds()}
	d.workers(&w, in)
	d.server(w.Metrics, s.targets, rps)
	d.client(w.Metrics, s.targets, rps)
	d.wire(w.Metrics, lineRate)
	return w
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

// used is the CPU time that processes present in both samples used, and the
// mean over those that keep admits.
func used(a, b []process, keep func(process) bool) (total float64, n int) {
	before := map[int]time.Duration{}
	for _, p := range a {
		before[p.pid] = p.cpu
	}
	for _, p := range b {
		if was, ok := before[p.pid]; ok && keep(p) {
			total += (p.cpu - was).Seconds()
			n++
		}
	}
	return total, n
}

func all(process) bool { return true }

func (d delta) server(m map[string]float64, t Targets, rps float64) {
	if cpu, n := used(d.a.server, d.b.server, all); n > 0 {
		m["server_cpu_s"] = cpu
		if rps > 0 {
			m["server_cpu_per_request_s"] = cpu / d.seconds / rps
		}
	}
	top := master(d.b.server)
	if cpu, n := used(d.a.server, d.b.server, func(p process) bool { return p.pid != top }); n > 0 {
		m["server_workers_busy"] = cpu / d.seconds / float64(n)
	}
	d.cores(m, t.ServerCPUs, "server_cores_busy", "server_steal")
}

func (d delta) client(m map[string]float64, t Targets, rps float64) {
	if cpu, n := used(d.a.client, d.b.client, all); n > 0 && rps > 0 {
		m["client_cpu_per_request_s"] = cpu / d.seconds / rps
	}
	busiest, seen := 0.0, false
	for tid, after := range d.b.threads {
		if before, ok := d.a.threads[tid]; ok {
			busiest, seen = max(busiest, (after-before).Seconds()/d.seconds), true
		}
	}
	if seen {
		m["client_thread_busy_max"] = busiest
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

func (d delta) wire(m map[string]float64, lineRate float64) {
	x, y := d.a.wire, d.b.wire
	if x == nil || y == nil {
		return
	}
	tx := float64(y.TxBytes-x.TxBytes) * 8 / d.seconds
	rx := float64(y.RxBytes-x.RxBytes) * 8 / d.seconds
	m["wire_tx_bps"], m["wire_rx_bps"] = tx, rx
	m["wire_tx_packets_per_s"] = float64(y.TxPackets-x.TxPackets) / d.seconds
	m["wire_rx_packets_per_s"] = float64(y.RxPackets-x.RxPackets) / d.seconds
	if lineRate > 0 {
		m["line_rate_share"] = max(tx, rx) / lineRate
	}
}
