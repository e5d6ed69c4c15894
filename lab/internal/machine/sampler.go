// Package machine knows the machine that the lab runs on: its cores and their division between server and client, what
// keeps it from measuring, and what else went on while servers were loaded.
//
// A sampler reads everything at once, a few times in a measured window: the processes of both sides, where
// the cores' time went, and what held them back. Figures are the difference of the last and the first sample
// within a window, so that the window is charged neither for the warm-up nor for connecting. A figure that
// could not be read is left out, never filled in. The cost of sampling is a figure too.
//
// A process's CPU time comes from its own clock, in nanoseconds, and includes threads that have ended.
// Times of ended children and of cores are in ticks of a hundredth of a second.
package machine

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/proc"
)

// Targets says what to sample.
type Targets struct {
	Pairs []Pair
	// ServerCPUs and ClientCPUs are the cores of each side, possibly the same ones.
	ServerCPUs, ClientCPUs []int
	Window                 time.Duration // length of the measured window, into which a few samples fall
}

// A Pair is a server and the client that loads it. Where several pairs are up at once, each has its own
// windows: process figures are the pair's alone, all others are the machine's.
type Pair struct {
	Servers []int // process ids of the roots of its process trees
	Client  int   // process id; 0: there is none
}

// A reading is of a process tree on each side.
type reading struct {
	server, client proc.Times
	threads        map[int]time.Duration // CPU time of the client's threads by id
}

// A sample has all readings of one moment.
type sample struct {
	at         time.Time
	cpus       map[int64]procfs.CPUStat
	interrupts float64   // handled since boot, all cores
	pairs      []reading // and last of the lab, with all servers and what it started, and of all clients
	quota      Quota
}

// all is the last reading.
func (s *sample) all() reading { return s.pairs[len(s.pairs)-1] }

// own is the CPU time of the lab. While servers are loaded, that is the cost of sampling.
func (s *sample) own() time.Duration { return s.all().server.CPU[0] }

// A Sampler takes samples until it is stopped.
type Sampler struct {
	fs      procfs.FS
	targets Targets
	tree    proc.Tree // the lab, all servers and all clients
	groups  []string  // processes whose control groups are read
	stop    func()
	done    chan struct{}
	samples []sample
}

// The time between samples, and how many fall into a window of less than their longest.
const (
	shortest, longest = 100 * time.Millisecond, time.Second
	usual             = 5
)

// Start begins sampling, and returns when the first sample has been taken.
func Start(t Targets) (*Sampler, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	s := &Sampler{fs: fs, targets: t, groups: []string{"self"}, done: make(chan struct{})}
	s.tree.Roots = []int{os.Getpid()}
	for _, p := range t.Pairs {
		s.tree.Roots = append(append(s.tree.Roots, p.Servers...), p.Client)
		for _, pid := range p.Servers {
			s.groups = append(s.groups, strconv.Itoa(pid))
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.take()
	go func() {
		defer close(s.done)
		for over := false; !over; s.take() {
			select {
			case <-ctx.Done():
				over = true
			case <-time.After(min(max(t.Window/usual, shortest), longest)):
			}
		}
	}()
	return s, nil
}

// Stop takes a last sample and ends sampling. A second call does nothing.
func (s *Sampler) Stop() {
	s.stop()
	<-s.done
}

func (s *Sampler) take() {
	one := sample{at: time.Now()}
	if st, err := s.fs.Stat(); err == nil {
		one.cpus, one.interrupts = st.CPU, float64(st.IRQTotal)
	}
	all, clients := s.tree.Read(), []int{}
	for _, p := range s.targets.Pairs {
		r := reading{server: all.Below(p.Servers...), client: all.Below(p.Client)}
		r.threads = threads(r.client.PIDs)
		one.pairs, clients = append(one.pairs, r), append(clients, p.Client)
	}
	one.pairs = append(one.pairs, reading{server: all, client: all.Below(clients...)})
	one.quota = ReadQuota("/proc", "/sys/fs/cgroup", s.groups...)
	s.samples = append(s.samples, one)
}

// threads is the CPU time of each thread of some processes, where the kernel keeps it.
func threads(pids []int) map[int]time.Duration {
	all := map[int]time.Duration{}
	var buf [128]byte
	for _, pid := range pids {
		paths, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
		for _, path := range paths {
			text, err := proc.Slurp(path, buf[:])
			first, _, _ := strings.Cut(string(text), " ") // time on a core, in ns
			id, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if ns, wrong := strconv.ParseInt(first, 10, 64); err == nil && wrong == nil {
				all[id] = time.Duration(ns)
			}
		}
	}
	return all
}

// Forks is how many threads and processes this machine has started since it was booted; 0 if the kernel
// does not tell.
func Forks() int64 {
	fs, _ := procfs.NewDefaultFS()
	stat, _ := fs.Stat()
	return int64(stat.ProcessCreated)
}

// A Window has the figures of the samples within one stretch of time.
type Window struct {
	// Metrics are the pair's, and Machine what is alike for all servers that are up with one client. They have the names
	// of package metric; what could not be read is absent.
	Metrics, Machine map[string]float64
	Stopped          []string // sides, "server" or "client", of which a signal stopped a process at some time
	Ended            int      // of the server's processes at the begin, how many are not there at the end
}

// Between computes the figures of a window for one pair, given by its index, and stops sampling. rps is the
// requests completed per second in the window, for figures per request.
func (s *Sampler) Between(pair int, from, to time.Time, rps float64) Window {
	s.Stop()
	w := Window{Metrics: map[string]float64{}, Machine: map[string]float64{}}
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
	d.processes(&w, "server", func(r reading) proc.Times { return r.server }, rps)
	d.processes(&w, "client", func(r reading) proc.Times { return r.client }, rps)
	d.cores(&w)
	d.workers(&w)
	d.threads(&w)
	if d.a.interrupts > 0 {
		w.Machine["interrupts_per_s"] = max(d.b.interrupts-d.a.interrupts, 0) / d.seconds
	}
	if d.a.quota.Seen && d.b.quota.Seen {
		w.Machine["throttled_s"] = max(d.b.quota.Held-d.a.quota.Held, 0).Seconds()
	}
	w.Machine["sampler_busy"] = (d.b.own() - d.a.own()).Seconds() / d.seconds
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

// spent is the CPU time that a tree used between two readings. The time of a process that ended is its parent's
// then; ok is false where nobody waited for it.
func spent(a, b proc.Times) (total time.Duration, ok bool) {
	const cut = 2 * proc.Tick // user and system time of ended children are each cut to ticks
	total = b.Total() - a.Total()
	return max(total, 0), len(b.PIDs) > 0 && total > -cut
}

// processes computes what one side's processes used.
func (d delta) processes(w *Window, name string, side func(reading) proc.Times, rps float64) {
	if cpu, ok := spent(side(d.a.pairs[d.pair]), side(d.b.pairs[d.pair])); ok {
		if name == "server" {
			w.Metrics["server_cpu_s"] = cpu.Seconds()
		}
		if rps > 0 {
			w.Metrics[name+"_cpu_per_request_s"] = cpu.Seconds() / d.seconds / rps
		}
	}
	most, stopped := 0, false
	for _, one := range d.in {
		rss := 0
		for _, p := range side(one.pairs[d.pair]).Stats {
			rss, stopped = rss+p.RSS, stopped || p.State == 'T'
		}
		most = max(most, rss)
	}
	if most > 0 && name == "client" {
		w.Machine["client_rss_bytes"] = float64(most)
	} else if most > 0 {
		w.Metrics["server_rss_bytes"] = float64(most)
	}
	if stopped {
		w.Stopped = append(w.Stopped, name)
	}
}

// cores computes where the time of each side's cores went. Foreign is what neither side's processes nor the
// lab's used of them. Time in interrupts does not count there, since most is for the load. In a container
// it is the only trace of processes outside.
func (d delta) cores(w *Window) {
	before, after := d.a.all(), d.b.all()
	all, ok := spent(before.server, after.server)
	clients, seen := spent(before.client, after.client)
	seen = ok && (seen || len(after.client.PIDs) == 0)
	servers := all - clients
	clients += d.b.own() - d.a.own() // which may have run on either side
	if slices.ContainsFunc(d.targets.ServerCPUs, func(c int) bool { return slices.Contains(d.targets.ClientCPUs, c) }) {
		servers, clients = all, all
	}
	for _, side := range []struct {
		name  string
		cpus  []int
		known time.Duration
	}{{"server", d.targets.ServerCPUs, servers}, {"client", d.targets.ClientCPUs, clients}} {
		var total, idle, steal, ran float64
		for _, cpu := range side.cpus {
			x, ok := d.a.cpus[int64(cpu)]
			y, also := d.b.cpus[int64(cpu)]
			if !ok || !also {
				total = 0
				break
			}
			total, steal = total+sum(y)-sum(x), steal+y.Steal-x.Steal
			idle += y.Idle + y.Iowait - x.Idle - x.Iowait
			ran += y.User + y.Nice + y.System - x.User - x.Nice - x.System
		}
		if total <= 0 {
			continue
		}
		w.Metrics[side.name+"_cores_busy"], w.Machine[side.name+"_steal"] = share(total-idle-steal, total), share(steal, total)
		if seen {
			w.Machine[side.name+"_foreign_load"] = max(0, ran-side.known.Seconds()) / d.seconds
		}
	}
}

// sum is all time of a core; guests' time is in user and nice already.
func sum(c procfs.CPUStat) float64 {
	return c.User + c.Nice + c.System + c.Idle + c.Iowait + c.IRQ + c.SoftIRQ + c.Steal
}

func share(part, of float64) float64 { return min(max(part/of, 0), 1) }

// workers looks at what each of a server's processes but the first used without its children.
func (d delta) workers(w *Window) {
	a, b := d.a.pairs[d.pair].server, d.b.pairs[d.pair].server
	for _, pid := range a.PIDs {
		if !slices.Contains(b.PIDs, pid) {
			w.Ended++
		}
	}
	var used []float64
	for i, pid := range b.PIDs {
		if before := slices.Index(a.PIDs, pid); i > 0 && before >= 0 {
			used = append(used, (b.CPU[i] - a.CPU[before]).Seconds())
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
	before, after := d.a.pairs[d.pair], d.b.pairs[d.pair]
	for id, used := range after.threads { // one that is missing in the first sample was started in between
		share := (used - before.threads[id]).Seconds() / d.seconds
		busiest, all = max(busiest, share), all+share
	}
	cpu, ok := spent(before.client, after.client)
	if ok && len(after.threads) > 0 && cpu.Seconds()/d.seconds-all <= threadSlack {
		w.Metrics["client_thread_busy_max"] = busiest
	}
}
