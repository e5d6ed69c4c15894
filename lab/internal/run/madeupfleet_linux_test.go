package run

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/leash"
	"github.com/line-rate/line-rate/lab/internal/setting"
	httpload "github.com/line-rate/line-rate/lab/load"
)

// A made-up fleet has clients that run the real load generator on this machine and
// say that they are elsewhere, each by a clock of its own.
type madeUpFleet struct {
	root    string
	cpus    cores.Split
	clients []*madeUpClient
	asked   int // how often the clocks were measured
}

type madeUpClient struct {
	fleet  *madeUpFleet
	number int
	ahead  time.Duration // of its clock
	late   time.Duration // before it starts a load
	lost   func(load int) bool
	refuse string
	hangs  bool
	clock  func(c *fleet.Clock, asked int) // changes what is measured of its clock
	full   bool                            // its generator reports all of its core's time
	lies   func(*httpload.Line)            // changes what its generator reports
	loads  int
	plans  []*httpload.Plan
}

func newFleet(p place, clients int) *madeUpFleet {
	f := &madeUpFleet{root: p.root, cpus: sides(p.t)}
	for i := range clients {
		f.clients = append(f.clients, &madeUpClient{fleet: f, number: i + 1, ahead: time.Duration(i*7) * time.Millisecond})
	}
	return f
}

func (f *madeUpFleet) Hellos() []fleet.Hello {
	server, client := f.cpus.On()
	all := []fleet.Hello{{Profile: host.Profile{ID: "here"}, Machine: "0", CPUs: server, Device: "lo", LineRate: 1e12}}
	for i := range f.clients {
		all = append(all, fleet.Hello{Profile: host.Profile{ID: fmt.Sprintf("client-%d", i+1)}, Machine: fmt.Sprint(i + 1),
			CPUs: client, Device: "eth0",
			Tools: map[string]string{"http_load": setting.HTTPLoadVersion}, Kernel: map[string]string{"release": "6.1"}})
	}
	return all
}

func (f *madeUpFleet) Clocks(context.Context) (all []fleet.Clock, err error) {
	f.asked++
	for _, c := range f.clients {
		one := fleet.Clock{OffsetS: c.ahead.Seconds(), UncertaintyS: 0.0005, Method: "round-trips"}
		if c.clock != nil {
			c.clock(&one, f.asked)
		}
		all = append(all, one)
	}
	return all, nil
}

func (f *madeUpFleet) Start(_ context.Context, client int, l fleet.Load) (fleet.Running, error) {
	c := f.clients[client-1]
	c.loads++
	c.plans = append(c.plans, l.Plan)
	if c.refuse != "" {
		return nil, fleet.Refused{Client: client, Why: c.refuse}
	}
	r := &madeUpLoad{client: c, held: make(chan struct{}), done: make(chan struct{}), ending: make(chan struct{})}
	go r.run(l)
	if c.lost != nil && c.lost(c.loads) {
		go func() {
			time.Sleep(1200 * time.Millisecond)
			r.finish(fleet.Lost{Client: client, Why: "it said nothing for 5 s, at 127.0.0.1"})
			r.Stop(0)
		}()
	}
	return r, nil
}

type madeUpLoad struct {
	client  *madeUpClient
	held    chan struct{}
	done    chan struct{}
	ending  chan struct{}
	once    sync.Once
	ended   sync.Once
	mu      sync.Mutex
	input   *os.File
	printed bytes.Buffer
	err     error
	// What the generator used while it loaded, in seconds, as its host sees it.
	used, loaded float64
}

func (r *madeUpLoad) Held() <-chan struct{} { return r.held }
func (r *madeUpLoad) Done() <-chan struct{} { return r.done }
func (r *madeUpLoad) Release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.input != nil && !r.client.hangs {
		_, _ = io.WriteString(r.input, "end\n")
	}
}

func (r *madeUpLoad) Result() ([]byte, fleet.Seen, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.printed.Bytes(), fleet.Seen{RxBytes: -1, TxBytes: -1, Own: r.used / max(r.loaded, 0.001), GapS: 0.25,
		Metrics: map[string]float64{
			"client_steal": 0, "client_foreign_load": 0, "client_rss_bytes": 1 << 20, "throttled_s": 0, "swap_pages": 0,
			"clock_step_s":      0,
			"client_cores_busy": 0.2, "client_thread_busy_max": 0.3}}, r.err
}

func (r *madeUpLoad) Stop(time.Duration) {
	r.once.Do(func() { close(r.ending) })
	<-r.done
}

func (r *madeUpLoad) finish(err error) {
	r.ended.Do(func() {
		r.mu.Lock()
		r.err = err
		r.mu.Unlock()
		close(r.done)
	})
}

// run starts the generator with the plan's times by this machine's clock.
func (r *madeUpLoad) run(l fleet.Load) {
	c := r.client
	ahead := fleet.Ahead(time.Now) + int64(c.ahead)
	p := *l.Plan
	p.Slots = slices.Clone(p.Slots)
	for i := range p.Slots {
		p.Slots[i].AtNS -= ahead
	}
	time.Sleep(c.late)
	in, w, err := os.Pipe()
	if err != nil {
		r.finish(err)
		return
	}
	defer in.Close()
	defer w.Close()
	r.mu.Lock()
	r.input = w
	r.mu.Unlock()
	line := func(text string) {
		one, err := httpload.ParseLine([]byte(text))
		if err != nil {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if one.Held {
			close(r.held)
		}
		if s := one.Slot; s != nil {
			if s.AtNS != 0 {
				s.AtNS += ahead
			}
			if c.full {
				s.ClientCPUS, s.BusiestThreadS = s.Seconds*float64(len(c.fleet.cpus.Client)), s.Seconds
			}
			r.used, r.loaded = r.used+s.ClientCPUS, r.loaded+s.Seconds
		}
		if c.lies != nil {
			c.lies(&one)
		}
		_ = one.Write(&r.printed)
	}
	proc, err := leash.Start(leash.Spec{Dir: c.fleet.root,
		Argv: []string{"lab/scripts/trial.sh", "--generator", "http_load", "--plan", "-"}, Stdin: in,
		Stdout: &byLine{each: line}})
	if err != nil {
		r.finish(err)
		return
	}
	_ = p.Write(w)
	select {
	case <-proc.Done():
	case <-r.ending:
		_ = proc.Stop(proc.Pid(), 0)
		<-proc.Done()
	}
	if err := proc.Err(); err != nil {
		err = fmt.Errorf("%w: %s", err, proc.LastLine())
		r.finish(err)
		return
	}
	r.finish(nil)
}

// byLine calls each for every line.
type byLine struct {
	each func(string)
	rest string
}

func (b *byLine) Write(text []byte) (int, error) {
	b.rest += string(text)
	for {
		line, rest, ok := strings.Cut(b.rest, "\n")
		if !ok {
			return len(text), nil
		}
		b.rest = rest
		b.each(line)
	}
}
