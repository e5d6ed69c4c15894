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
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/line-rate/line-rate/lab/internal/cores"
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
	quota      cores.Quota
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
	one.quota = cores.ReadQuota("/proc", "/sys/fs/cgroup", s.groups...)
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

// Interface names the interface of this machine's default route, "eth0" for instance; empty if there is none. Of
// several the kernel lists that with the lowest metric first.
func Interface() string {
	fs, _ := procfs.NewDefaultFS()
	routes, _ := fs.NetRoute()
	for _, r := range routes {
		if r.Destination == 0 && r.Mask == 0 {
			return r.Iface
		}
	}
	return ""
}
