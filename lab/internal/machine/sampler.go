// Package machine samples what else went on while servers were loaded.
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
	"os"
	"path/filepath"
	"slices"
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
	Window                 time.Duration // length of the measured window, into which a few samples fall
}

// A Pair is a server and the client that loads it. Where several pairs are up at once, each has its own
// windows: process figures are the pair's alone, all others are the machine's.
type Pair struct {
	Servers []int      // process ids of the roots of its process trees
	Client  func() int // process id; 0 before it is started
}

// Sides of a sample's processes.
const server, client = 0, 1

// A process is one reading of one process.
type process struct {
	pid int
	proc.Stat
	cpu time.Duration // its own, by its clock
}

// total is its CPU time with that of the ended children that it waited for.
func (p process) total() time.Duration { return p.cpu + time.Duration(p.Children)*proc.Tick }

// A sample has all readings of one moment.
type sample struct {
	at         time.Time
	cpus       map[int64]procfs.CPUStat
	interrupts float64 // handled since boot, all cores
	own        time.Duration
	all        map[int]proc.Stat
	known      [2][]process // below the lab and the pairs' own
	pairs      [][2][]process
	threads    []map[int]time.Duration // of each pair, the CPU time of the client's threads by id
	counters   map[string]float64      // that only rise, by the names of their metrics
}

// A Sampler takes samples until it is stopped.
type Sampler struct {
	fs      procfs.FS
	targets Targets
	kernels map[int]bool // process ids of the kernel's own threads
	heat    []string     // files that count how long heat held cores back
	stop    func()
	stopped chan struct{}
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
	s := &Sampler{fs: fs, targets: t, kernels: map[int]bool{}, stopped: make(chan struct{}), done: make(chan struct{})}
	s.stop = sync.OnceFunc(func() { close(s.stopped) })
	s.heat, _ = filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_total_time_ms")
	s.take()
	go s.loop()
	return s, nil
}

// Stop takes a last sample and ends sampling. It may be called twice.
func (s *Sampler) Stop() {
	s.stop()
	<-s.done
}

func (s *Sampler) loop() {
	defer close(s.done)
	pause := min(max(s.targets.Window/usual, shortest), longest)
	for wait := pause; ; {
		select {
		case <-s.stopped:
			s.take()
			return
		case <-time.After(wait):
		}
		before := ownCPU()
		s.take()
		wait = max(pause, time.Duration(float64(ownCPU()-before)/gate.SamplerShare))
		if s.targets.Window > 0 {
			wait = min(wait, max(s.targets.Window/least, pause))
		}
	}
}

// ownCPU is the CPU time of the lab. While servers are loaded, all of it is the cost of sampling.
func ownCPU() time.Duration {
	t, _ := cores.ProcessTime(os.Getpid())
	return t
}

func (s *Sampler) take() {
	one := sample{own: ownCPU(), all: proc.Snapshot(s.kernels), counters: s.counters()}
	if st, err := s.fs.Stat(); err == nil {
		one.cpus, one.interrupts = st.CPU, float64(st.IRQTotal)
	}
	one.at = time.Now()
	below := proc.Children(one.all)
	lab := os.Getpid()
	servers, clients := []int{lab}, []int{}
	for _, p := range s.targets.Pairs {
		loads, threads := proc.Below(below, p.Client()), map[int]time.Duration{}
		for _, pid := range loads {
			readThreads(pid, threads)
		}
		one.pairs = append(one.pairs, [2][]process{one.processes(proc.Below(below, p.Servers...)), one.processes(loads)})
		one.threads = append(one.threads, threads)
		servers, clients = append(servers, p.Servers...), append(clients, loads...)
	}
	rest := slices.DeleteFunc(proc.Below(below, servers...), func(pid int) bool { return slices.Contains(clients, pid) })
	one.known = [2][]process{one.processes(rest), one.processes(clients)}
	for i := range one.known[server] {
		if p := &one.known[server][i]; p.pid == lab {
			p.cpu = 0 // the lab's own is told apart; what it waited for was a server, or its holder
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, one)
}

func (s *sample) processes(pids []int) (out []process) {
	for _, pid := range pids {
		st, ok := s.all[pid]
		if !ok {
			continue // it has ended meanwhile
		}
		cpu, ok := cores.ProcessTime(pid)
		if !ok {
			cpu = time.Duration(st.CPU) * proc.Tick
		}
		out = append(out, process{pid, st, cpu})
	}
	return out
}

// readThreads adds the CPU time of each of a process's threads, where the kernel keeps it.
func readThreads(pid int, into map[int]time.Duration) {
	paths, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
	var buf [128]byte
	for _, path := range paths {
		text, err := proc.Slurp(path, buf[:])
		first, _, _ := strings.Cut(string(text), " ") // time on a core, in ns
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if ns, wrong := strconv.ParseInt(first, 10, 64); err == nil && wrong == nil {
			into[id] = time.Duration(ns)
		}
	}
}

// counters reads how many pages were swapped, and the time in seconds since boot for which cores were held back by a
// CPU quota on a control group of the lab, the server or the client, or by heat. The latter is unknown where
// the control groups cannot be read. Most virtual machines do not show heat.
func (s *Sampler) counters() map[string]float64 {
	counters := map[string]float64{}
	add := func(name, number string, scale float64) {
		if v, err := strconv.ParseFloat(strings.TrimSpace(number), 64); err == nil {
			counters[name] += v * scale
		}
	}
	text, _ := os.ReadFile("/proc/vmstat")
	for line := range strings.Lines(string(text)) {
		if name, number, _ := strings.Cut(line, " "); name == "pswpin" || name == "pswpout" {
			add("swap_pages", number, 1)
		}
	}
	who := []string{"self"}
	for _, p := range s.targets.Pairs {
		for _, pid := range append([]int{p.Client()}, p.Servers...) {
			if pid > 0 {
				who = append(who, strconv.Itoa(pid))
			}
		}
	}
	if q := cores.ReadQuota("/proc", "/sys/fs/cgroup", who...); q.Seen {
		counters["throttled_s"] = q.Held.Seconds()
		for _, path := range s.heat {
			text, _ := os.ReadFile(path)
			add("throttled_s", string(text), 1e-3)
		}
	}
	return counters
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

// Interface names the interface of this machine's default route with the lowest metric, "eth0" for instance;
// empty if there is none.
func Interface() (name string) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return ""
	}
	routes, _ := fs.NetRoute()
	least := uint32(0)
	for _, r := range routes {
		if r.Destination == 0 && r.Mask == 0 && (name == "" || r.Metric < least) {
			name, least = r.Iface, r.Metric
		}
	}
	return name
}
