// Package telemetry reads what a trial cost: CPU of the server's and the
// client's processes and of every core, threads, and the wire, from /proc.
//
// Its stance: counters are sampled through the whole trial and cut afterwards
// to the window that the load generator says it measured, so that neither
// warm-up nor connecting is charged to it. A figure that could not be read is
// left out; nothing is filled in.
//
// Its limit: time in interrupts is charged to whoever was interrupted, and the
// kernel's own threads to nobody. CPU per process is by schedstat, in
// nanoseconds; where the kernel has none, by ticks of a hundredth of a second.
package telemetry

import (
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/procfs"
)

// Targets is what to watch.
type Targets struct {
	Server     int    // pid at the root of the server's processes
	ServerName string // command name of those that count; wrappers around them do not
	Client     func() int
	ServerCPUs []int
	ClientCPUs []int
	NetPID     int    // a process in the network namespace of the wire's server side; 0: no wire
	NetDevice  string // the interface there
	// Window is how long the measured part will last. However dear sampling
	// is, it is done often enough for a few samples to fall into that.
	Window time.Duration
}

// interval is the time between samples unless sampling costs too much.
const interval = 100 * time.Millisecond

// budget is the share of one core the sampler aims to use at most.
const budget = 0.01

// atLeast is how many intervals a measured window is cut into at the least.
const atLeast = 5

// A sample is all counters at one time.
type sample struct {
	at      time.Time
	cpus    map[int64]procfs.CPUStat
	server  []process
	client  []process
	wire    *procfs.NetDevLine
	threads map[int]time.Duration // client threads, by id: CPU time
}

// A process is one process of a tree at one time.
type process struct {
	pid, parent int
	threads     int
	cpu         time.Duration
}

// A Sampler takes samples until it is stopped.
type Sampler struct {
	fs      procfs.FS
	targets Targets
	stop    chan struct{}
	done    chan struct{}

	mu      sync.Mutex
	samples []sample
}

// Start begins sampling.
func Start(t Targets) (*Sampler, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	s := &Sampler{fs: fs, targets: t, stop: make(chan struct{}), done: make(chan struct{})}
	go s.loop()
	return s, nil
}

func (s *Sampler) loop() {
	defer close(s.done)
	// The thread's own CPU time is the cost: on a busy machine the time by the
	// clock is mostly time spent waiting for a core.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		before := threadCPU()
		one := s.take()
		cost := threadCPU() - before
		s.mu.Lock()
		s.samples = append(s.samples, one)
		s.mu.Unlock()
		// Many workers make a sample dear; it is then taken less often rather
		// than at the server's expense.
		wait := max(interval, time.Duration(float64(cost)/budget))
		if s.targets.Window > 0 {
			wait = min(wait, max(s.targets.Window/atLeast, interval))
		}
		select {
		case <-s.stop:
			return
		case <-time.After(wait):
		}
	}
}

// Stop ends sampling.
func (s *Sampler) Stop() {
	close(s.stop)
	<-s.done
}

func (s *Sampler) take() sample {
	one := sample{at: time.Now(), threads: map[int]time.Duration{}}
	if st, err := s.fs.Stat(); err == nil {
		one.cpus = st.CPU
	}
	one.server = s.tree(s.targets.Server, s.targets.ServerName, nil)
	if pid := s.targets.Client(); pid > 0 {
		one.client = s.tree(pid, "", one.threads)
	}
	if s.targets.NetPID > 0 {
		if p, err := s.fs.Proc(s.targets.NetPID); err == nil {
			if dev, err := p.NetDev(); err == nil {
				if line, ok := dev[s.targets.NetDevice]; ok {
					one.wire = &line
				}
			}
		}
	}
	return one
}
