// Package telemetry samples what a trial cost and what else went on: CPU of the
// server's and the client's processes and threads, of every core and of all
// other processes, memory, connections, and the kernel's counters of
// losses and delays.
//
// Counters are sampled through the whole trial and afterwards cut to the window
// that the load generator reports, so that the window is charged neither for
// the warm-up nor for connecting. A figure that could not be read is left out,
// never filled in. The cost of sampling is a figure too.
//
// Time in interrupts is charged to the process that was interrupted, and the
// kernel's own threads to no process. A process's CPU time comes from its own
// clock, in nanoseconds, and includes threads that have ended. Times of ended
// children and of cores are in ticks of a hundredth of a second. Per-thread
// times are known for living threads only.
package telemetry

import (
	"cmp"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/procfs"
)

// Targets says what to sample.
type Targets struct {
	Pairs []Pair
	// ServerCPUs and ClientCPUs are the cores of each side, possibly the same
	// ones. Disturbances of a side are looked for on its cores.
	ServerCPUs []int
	ClientCPUs []int
	NetPID     int // a process in the server's network namespace; 0: the lab's own namespace
	// Window is the length of the measured window. However costly sampling is, a
	// few samples fall into a window of this length.
	Window time.Duration
}

// A Pair is a server and the client that loads it. Where several pairs are up
// at once, each has its own windows: process figures are the pair's alone, all
// others are the machine's.
type Pair struct {
	Servers []int      // process ids of the roots of its process trees
	Client  func() int // process id; 0 before it is started
}

// A sample is one pair's reading of all counters at one time. The machine's
// counters are the same for all pairs.
type sample struct {
	at         time.Time
	mono       time.Duration // monotonic clock since sampling began
	uptime     time.Duration // since boot
	cpus       map[int64]procfs.CPUStat
	server     []process
	client     []process
	threads    map[int]time.Duration // CPU time of the client's threads, by thread id
	interrupts float64               // handled since boot, all cores
	own        time.Duration         // CPU time the lab itself has used
	survey     *survey               // nil in most samples
}

// A Sampler takes samples until it is stopped.
type Sampler struct {
	fs      procfs.FS
	proc    string // path of /proc, for what fs does not read
	sys     string // path of /sys
	targets Targets
	began   time.Time
	stop    chan struct{}
	once    sync.Once // for closing stop
	done    chan struct{}

	// What the last survey found; used by the sampling goroutine only.
	found   []found
	kernels map[int]bool // process ids of the kernel's own threads
	heat    []string     // files that count how long heat held cores back

	mu sync.Mutex
	// blind tells whether processes run on this machine that /proc does not show, as
	// in a container: every machine has threads of the kernel's own, and here are
	// none.
	blind   bool
	samples [][]sample // by pair, then by time; all pairs have the same times
}

// A found has the processes of one pair, as of the last survey.
type found struct {
	server, client []member
	pid            int // client's process id
}

// Start begins sampling, and returns when the first sample has been taken.
func Start(t Targets) (*Sampler, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	t.NetPID = cmp.Or(t.NetPID, os.Getpid())
	s := &Sampler{fs: fs, proc: "/proc", sys: "/sys", targets: t, began: time.Now(), stop: make(chan struct{}),
		done: make(chan struct{}), kernels: map[int]bool{}, samples: make([][]sample, len(t.Pairs))}
	s.heat = s.heatFiles()
	first := make(chan struct{})
	go s.loop(sync.OnceFunc(func() { close(first) }))
	<-first
	return s, nil
}

// loop takes samples until the sampler is stopped, and says so after each.
func (s *Sampler) loop(taken func()) {
	defer close(s.done)
	// Cost is measured as the thread's own CPU time: wall time on a busy machine
	// is mostly waiting for a core.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := pacing{window: s.targets.Window}
	for last := false; ; {
		var v *survey
		if now := time.Now(); last || p.due(now.Sub(s.began)) || s.another() {
			before := threadCPU()
			v = s.look()
			p.surveyed(now.Sub(s.began), threadCPU()-before)
		}
		before := threadCPU()
		all := s.take(v)
		cost := threadCPU() - before
		s.mu.Lock()
		for i, one := range all {
			s.samples[i] = append(s.samples[i], one)
		}
		s.mu.Unlock()
		taken()
		if last {
			return
		}
		select {
		case <-s.stop:
			// Stopping takes a last sample, so that even a short watch ends with one.
			last = true
		case <-time.After(p.sampled(cost)):
		}
	}
}

// another tells whether a client was started or replaced since the last survey.
func (s *Sampler) another() bool {
	for i, p := range s.targets.Pairs {
		if p.Client() != s.found[i].pid {
			return true
		}
	}
	return false
}

// Stop ends sampling. It may be called twice.
func (s *Sampler) Stop() {
	s.once.Do(func() { close(s.stop) })
	<-s.done
}

// take reads the machine's counters once, and those of each pair's processes.
func (s *Sampler) take(v *survey) []sample {
	now := time.Now()
	machine := sample{at: now, mono: now.Sub(s.began), uptime: uptime(), own: ownCPU(), survey: v}
	if st, err := s.fs.Stat(); err == nil {
		machine.cpus, machine.interrupts = st.CPU, float64(st.IRQTotal)
	}
	all := make([]sample, len(s.found))
	for i, f := range s.found {
		one := machine
		one.threads = map[int]time.Duration{}
		one.server = processes(f.server, nil)
		one.client = processes(f.client, one.threads)
		all[i] = one
	}
	return all
}
