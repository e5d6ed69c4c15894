// Package telemetry reads what a trial cost and what else went on: CPU of the
// server's and the client's processes and threads, of every core and of
// everybody else, memory, the wire, connections, and the kernel's counters of
// what was lost or held back.
//
// Its stance: counters are sampled through the whole trial and cut afterwards
// to the window that the load generator says it measured, so that neither
// warm-up nor connecting is charged to it. A figure that could not be read is
// left out; nothing is filled in. What watching costs is a figure too.
//
// Its limit: time in interrupts is charged to whoever was interrupted, and the
// kernel's own threads to nobody. CPU per process is by the process's own clock,
// in nanoseconds, with threads that have ended; of children that have ended it
// is by ticks of a hundredth of a second, as the cores' times are. What a thread
// used is known of those that live.
package telemetry

import (
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/procfs"

	"github.com/line-rate/line-rate/lab/internal/shaper"
)

// Targets is what to watch.
type Targets struct {
	Pairs      []Pair
	ServerName string // command name of the servers' processes that count; wrappers around them do not
	// ServerCPUs and ClientCPUs are the cores that each side runs on, which may be
	// the same: what disturbs a side is looked for there.
	ServerCPUs []int
	ClientCPUs []int
	Ends       int    // of each connection that lie in that namespace: 2 over loopback
	NetPID     int    // a process in the network namespace of the server's side; 0: the lab's own
	NetDevice  string // the interface under load, whose interrupts are counted
	// Wire gives the readings of both directions' shapers so far, oldest first;
	// nil where there is no wire.
	Wire func() (server, client []shaper.Reading)
	// Window is how long the measured part will last. However dear sampling
	// is, it is done often enough for a few samples to fall into that.
	Window time.Duration
}

// A Pair is a server and what loads it. Where several are up at once, each has
// windows of its own: its processes' figures in them are the pair's alone, all
// others are the machine's.
type Pair struct {
	Servers []int      // pids at the roots of its processes
	Client  func() int // 0 until it has been started
}

// A sample is all counters at one time, as one pair has them. Pairs share what is
// the machine's.
type sample struct {
	at         time.Time
	mono       time.Duration // by the monotonic clock, since sampling began
	uptime     time.Duration // since the machine was started
	cpus       map[int64]procfs.CPUStat
	server     []process
	client     []process
	threads    map[int]time.Duration // client threads, by id: CPU time
	interrupts float64               // handled since boot, all cores
	wire       *[2]shaper.Reading    // server to client, client to server
	own        time.Duration         // CPU time the lab itself has used
	survey     *survey               // taken in some samples only
}

// A Sampler takes samples until it is stopped.
type Sampler struct {
	fs      procfs.FS
	proc    string // where /proc is, but for what fs reads
	sys     string // where /sys is
	targets Targets
	began   time.Time
	stop    chan struct{}
	once    sync.Once // closes it
	done    chan struct{}
	first   chan struct{} // closed when there is a sample

	// What the last survey found; for the sampling goroutine only.
	found   []found
	kernels map[int]bool // threads of the kernel's own
	heat    []string     // files that count how long heat held cores back

	mu      sync.Mutex
	samples [][]sample // by pair; all have as many, of the same times
}

// A found is what a survey found of a pair.
type found struct {
	server, client []member
	pid            int // the client's
}

// Start begins sampling, and returns when the first sample has been taken.
func Start(t Targets) (*Sampler, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	if t.NetPID == 0 {
		t.NetPID = os.Getpid()
	}
	s := &Sampler{fs: fs, proc: "/proc", sys: "/sys", targets: t, began: time.Now(), stop: make(chan struct{}), done: make(chan struct{}), first: make(chan struct{}),
		kernels: map[int]bool{}, samples: make([][]sample, len(t.Pairs))}
	s.heat = s.heatFiles()
	go s.loop()
	<-s.first
	return s, nil
}

func (s *Sampler) loop() {
	defer close(s.done)
	// The thread's own CPU time is the cost: on a busy machine the time by the
	// clock is mostly time spent waiting for a core.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := pacing{window: s.targets.Window}
	first := sync.OnceFunc(func() { close(s.first) })
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
		first()
		if last {
			return
		}
		select {
		case <-s.stop:
			// The whole time that was watched ends with a sample, however short it was.
			last = true
		case <-time.After(p.sampled(cost)):
		}
	}
}

// another tells whether a client was started, or changed, since the last survey.
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
		one.server = processes(f.server, s.targets.ServerName, nil)
		one.client = processes(f.client, "", one.threads)
		all[i] = one
	}
	return all
}
