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
	Servers []int // process ids of the roots of its process trees
	Client  int   // process id; 0: there is none
}

// A sample has all readings of one moment.
type sample struct {
	at         time.Time
	cpus       map[int64]procfs.CPUStat
	interrupts float64       // handled since boot, all cores
	own        time.Duration // CPU time of this process
	all        map[int]proc.Stat
	below      map[int][]int                 // the children of each process
	clocks     map[int]time.Duration         // CPU time of the pairs' processes, and of what the lab started
	threads    map[int]map[int]time.Duration // CPU time of the threads of each client's processes
	quota      cores.Quota
}

// tree are some processes and all below them, parents first, as far as they could be read.
func (s *sample) tree(roots ...int) []int {
	return slices.DeleteFunc(proc.Below(s.below, roots...), func(pid int) bool { _, ok := s.clocks[pid]; return !ok })
}

// used is the CPU time of some processes, with that of the ended children that they waited for.
func (s *sample) used(pids []int) (total time.Duration) {
	for _, pid := range pids {
		total += s.clocks[pid] + time.Duration(s.all[pid].Children)*proc.Tick
	}
	return total
}

// A Sampler takes samples until it is stopped.
type Sampler struct {
	fs      procfs.FS
	targets Targets
	kernels map[int]bool // process ids of the kernel's own threads
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
	t, _ := proc.Time(os.Getpid())
	return t
}

func (s *Sampler) take() {
	one := sample{own: ownCPU(), all: proc.Snapshot(s.kernels), clocks: map[int]time.Duration{}, threads: map[int]map[int]time.Duration{}}
	if st, err := s.fs.Stat(); err == nil {
		one.cpus, one.interrupts = st.CPU, float64(st.IRQTotal)
	}
	one.at = time.Now()
	one.below = proc.Children(one.all)
	roots, groups := []int{os.Getpid()}, []string{"self"}
	for _, p := range s.targets.Pairs {
		for _, pid := range append(slices.Clone(p.Servers), p.Client) {
			if pid > 0 {
				roots, groups = append(roots, pid), append(groups, strconv.Itoa(pid))
			}
		}
		for _, pid := range proc.Below(one.below, p.Client) {
			one.threads[pid] = threads(pid)
		}
	}
	for _, pid := range proc.Below(one.below, roots...) {
		if cpu, ok := proc.Time(pid); ok {
			one.clocks[pid] = cpu
		} else if st, ok := one.all[pid]; ok { // else it has ended meanwhile
			one.clocks[pid] = time.Duration(st.CPU) * proc.Tick
		}
	}
	one.clocks[os.Getpid()] = 0 // that is own; what it waited for was a server, or its holder
	one.quota = cores.ReadQuota("/proc", "/sys/fs/cgroup", groups...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, one)
}

// threads is the CPU time of each of a process's threads, where the kernel keeps it.
func threads(pid int) map[int]time.Duration {
	all := map[int]time.Duration{}
	paths, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
	var buf [128]byte
	for _, path := range paths {
		text, err := proc.Slurp(path, buf[:])
		first, _, _ := strings.Cut(string(text), " ") // time on a core, in ns
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if ns, wrong := strconv.ParseInt(first, 10, 64); err == nil && wrong == nil {
			all[id] = time.Duration(ns)
		}
	}
	return all
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
