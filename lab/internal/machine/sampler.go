// Package machine samples what else went on while servers were loaded, and identifies the machine.
//
// A sampler reads everything at once, a few times in a measured window: the processes of both sides,
// where the cores' time went, and the kernel's counters of losses and delays. Figures are the difference
// of the last and the first sample within a window, so that the window is charged neither for the
// warm-up nor for connecting. A figure that could not be read is left out, never filled in. The cost of
// sampling is a figure too.
//
// A process's CPU time comes from its own clock, in nanoseconds, and includes threads that have ended.
// Times of ended children and of cores are in ticks of a hundredth of a second.
package machine

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/procfs"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/proc"
)

// Targets says what to sample.
type Targets struct {
	Pairs []Pair
	// ServerCPUs and ClientCPUs are the cores of each side, possibly the same ones.
	ServerCPUs, ClientCPUs []int
	NetPID                 int           // a process in the server's network namespace; 0: the lab's own namespace
	Window                 time.Duration // length of the measured window, into which a few samples fall
}

// A Pair is a server and the client that loads it. Where several pairs are up at once, each has its own
// windows: process figures are the pair's alone, all others are the machine's.
type Pair struct {
	Servers []int      // process ids of the roots of its process trees
	Client  func() int // process id; 0 before it is started
}

// A process is one reading of one process.
type process struct {
	pid, parent int
	threads     int
	cpu, waited time.Duration // its own, and that of ended children that it waited for
	rss         int           // bytes
	stopped     bool          // by a signal
}

// A sample has all readings of one moment.
type sample struct {
	at         time.Time
	cpus       map[int64]procfs.CPUStat
	interrupts float64 // handled since boot, all cores
	own        time.Duration
	all        map[int]proc.Stat
	// known has the processes below the lab and the pairs' own: first those of the servers, then those of
	// the clients.
	known    [2][]process
	pairs    []readings
	counters map[string]float64 // counters that only rise, by the names of their metrics
}

// readings are those of a pair.
type readings struct {
	server, client []process
	threads        map[int]time.Duration // CPU time of the client's threads, by thread id
}

// A Sampler takes samples until it is stopped.
type Sampler struct {
	fs      procfs.FS
	targets Targets
	kernels map[int]bool // process ids of the kernel's own threads
	heat    []string     // files that count how long heat held cores back
	stop    chan struct{}
	once    sync.Once // for closing stop
	done    chan struct{}

	mu      sync.Mutex
	samples []sample
}

// The time between samples, and how many fall into a window at least.
const (
	shortest, longest = 100 * time.Millisecond, time.Second
	usual, least      = 5, 3
)

// Start begins sampling, and returns when the first sample has been taken.
func Start(t Targets) (*Sampler, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	t.NetPID = cmp.Or(t.NetPID, os.Getpid())
	s := &Sampler{fs: fs, targets: t, kernels: map[int]bool{}, stop: make(chan struct{}),
		done: make(chan struct{})}
	s.heat, _ = filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_total_time_ms")
	s.take()
	go s.loop()
	return s, nil
}

// Stop takes a last sample and ends sampling. It may be called twice.
func (s *Sampler) Stop() {
	s.once.Do(func() { close(s.stop) })
	<-s.done
}

func (s *Sampler) loop() {
	defer close(s.done)
	// A sample's cost is this thread's own CPU time: time on the wall is mostly waiting for a core.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pause := min(max(s.targets.Window/usual, shortest), longest)
	for wait := pause; ; {
		select {
		case <-s.stop:
			s.take()
			return
		case <-time.After(wait):
		}
		before := threadCPU()
		s.take()
		wait = max(pause, time.Duration(float64(threadCPU()-before)/gate.SamplerShare))
		if s.targets.Window > 0 {
			wait = min(wait, max(s.targets.Window/least, pause))
		}
	}
}

func (s *Sampler) take() {
	one := sample{own: ownCPU(), all: proc.Snapshot(s.kernels), counters: s.kernel()}
	if st, err := s.fs.Stat(); err == nil {
		one.cpus, one.interrupts = st.CPU, float64(st.IRQTotal)
	}
	one.at = time.Now()
	below := proc.Children(one.all)
	lab := os.Getpid()
	servers, clients := []int{lab}, []int{}
	for _, p := range s.targets.Pairs {
		client := proc.Below(below, p.Client())
		r := readings{server: processes(one.all, proc.Below(below, p.Servers...)), client: processes(one.all, client),
			threads: map[int]time.Duration{}}
		for _, pid := range client {
			threads(pid, r.threads)
		}
		one.pairs = append(one.pairs, r)
		servers, clients = append(servers, p.Servers...), append(clients, client...)
	}
	other := map[int]bool{}
	for _, pid := range clients {
		other[pid] = true
	}
	var rest []int
	for _, pid := range proc.Below(below, servers...) {
		if !other[pid] {
			rest = append(rest, pid)
		}
	}
	one.known = [2][]process{processes(one.all, rest), processes(one.all, clients)}
	for i := range one.known[0] {
		if p := &one.known[0][i]; p.pid == lab {
			p.cpu = 0 // the lab's own is told apart; what it waited for was a server, or its holder
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, one)
}

func processes(all map[int]proc.Stat, pids []int) (out []process) {
	for _, pid := range pids {
		st, ok := all[pid]
		if !ok {
			continue // it has ended meanwhile
		}
		cpu, ok := cores.ProcessTime(pid)
		if !ok {
			cpu = time.Duration(st.CPU) * proc.Tick
		}
		out = append(out, process{pid: pid, parent: st.Parent, threads: st.Threads, cpu: cpu,
			waited: time.Duration(st.Children) * proc.Tick, rss: st.RSS, stopped: st.State == 'T'})
	}
	return out
}

// threads adds the CPU time of each of a process's threads, where the kernel keeps it.
func threads(pid int, into map[int]time.Duration) {
	paths, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
	var buf [128]byte
	for _, path := range paths {
		text, err := proc.Slurp(path, buf[:])
		if err != nil {
			continue
		}
		first, _, _ := strings.Cut(string(text), " ") // time on a core, in ns
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if ns, err := strconv.ParseInt(first, 10, 64); err == nil {
			into[id] = time.Duration(ns)
		}
	}
}

// kernel reads the counters of the whole machine and of the loaded network namespace.
func (s *Sampler) kernel() map[string]float64 {
	counters := map[string]float64{}
	put := func(name string, v *float64) {
		if v != nil {
			counters[name] = *v
		}
	}
	if soft, err := s.fs.NetSoftnetStat(); err == nil {
		drops, squeezes := 0.0, 0.0
		for _, c := range soft {
			drops, squeezes = drops+float64(c.Dropped), squeezes+float64(c.TimeSqueezed)
		}
		put("softnet_drops", &drops)
		put("softnet_squeezes", &squeezes)
	}
	if p, err := s.fs.Proc(s.targets.NetPID); err == nil {
		if snmp, err := p.Snmp(); err == nil {
			put("tcp_retransmits", snmp.RetransSegs)
		}
		if net, err := p.Netstat(); err == nil {
			put("listen_overflows", net.ListenOverflows)
			put("listen_drops", net.ListenDrops)
		}
	}
	text, _ := os.ReadFile("/proc/vmstat")
	for line := range strings.Lines(string(text)) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		if v, err := strconv.ParseFloat(number, 64); err == nil && (name == "pswpin" || name == "pswpout") {
			counters["swap_pages"] += v
		}
	}
	if v, ok := s.throttled(); ok {
		put("throttled_s", &v)
	}
	return counters
}

// throttled is the time in seconds since boot for which cores were held back by a CPU quota on a
// control group of the lab, the server or the client, or by heat. It is unknown where the control groups
// cannot be read. Most virtual machines do not show heat.
func (s *Sampler) throttled() (seconds float64, ok bool) {
	who := []string{"self"}
	for _, p := range s.targets.Pairs {
		for _, pid := range append([]int{p.Client()}, p.Servers...) {
			if pid > 0 {
				who = append(who, strconv.Itoa(pid))
			}
		}
	}
	q := cores.ReadQuota("/proc", "/sys/fs/cgroup", who...)
	for _, path := range s.heat {
		text, _ := os.ReadFile(path)
		if ms, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64); err == nil {
			seconds += ms / 1e3
		}
	}
	return seconds + q.Held.Seconds(), q.Seen
}

// Forks is how many threads and processes this machine has started since it was booted; 0 if the kernel
// does not tell.
func Forks() int64 {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0
	}
	stat, _ := fs.Stat()
	return int64(stat.ProcessCreated)
}
