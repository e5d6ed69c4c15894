package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/leash"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/topology"
	"github.com/line-rate/line-rate/lab/internal/verdict"
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
	loads  int
	plans  []*generator.Plan
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
		all = append(all, fleet.Hello{Profile: host.Profile{ID: fmt.Sprintf("client-%d", i+1)}, Machine: fmt.Sprint(i + 1), CPUs: client, Device: "eth0",
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
	return r.printed.Bytes(), fleet.Seen{RxBytes: -1, TxBytes: -1, Own: 0.1, GapS: 0.25, Metrics: map[string]float64{
		"client_steal": 0, "client_foreign_load": 0, "client_rss_bytes": 1 << 20, "throttled_s": 0, "swap_pages": 0, "clock_step_s": 0}}, r.err
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
	ahead := wallAhead() + int64(c.ahead)
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
		one, err := generator.ParseLine([]byte(text))
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
		}
		_ = one.Write(&r.printed)
	}
	proc, err := leash.Start(leash.Spec{Dir: c.fleet.root, Argv: []string{"lab/scripts/trial.sh", "--generator", "http_load", "--plan", "-"}, Stdin: in, Stdout: &byLine{each: line}})
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

// onFleet is the plan of a run whose clients are made up.
func (p place) onFleet(d design, f *madeUpFleet) Plan {
	plan := p.plan(d.parse(p.t))
	plan.Clients, plan.Address = f, "127.0.0.1"
	plan.MaxBlocks, plan.Seed, plan.lead = 1, 3, 800*time.Millisecond
	return plan
}

// fleetBlock has enough load for a few answers of each client, and little of the
// cores.
var fleetBlock = design{settings: "generator = \"http_load\"\nconnections = 5\nprefork = false\nrate = 400", block: "slot_s = 0.2\nrounds = 2\nwarmup_s = 0.05"}

// What two clients count adds up, by clocks of their own; the file is one that the
// journal takes, and verdicts come of it.
func TestARunOfTwoClients(t *testing.T) {
	p := newPlace(t)
	f := newFleet(p, 2)
	plan := p.onFleet(fleetBlock, f)
	plan.MaxBlocks = 2
	plan.Keep = func(*Made) error { return nil }
	if err := plan.Ready(); err != nil {
		t.Fatal(err)
	}
	made, err := Do(t.Context(), plan, &watching{})
	if err != nil {
		t.Fatal(err)
	}
	x := plan.Experiment
	sound(t, x, made.File)
	pr := made.File.Provenance
	if made.File.Topology.Kind != "fleet" || !slices.Equal(made.File.Hosts.Clients, []string{"client-1", "client-2"}) || made.File.Machines() != 3 || pr.Fleet.Clients[1].Clock != "round-trips" || pr.Blocks != 2 {
		t.Errorf("%+v, %+v, %+v", made.File.Hosts, made.File.Topology, pr.Fleet)
	}
	if text, _ := results.Encode(made.File); bytes.Contains(text, []byte("127.0.0.1")) || !bytes.Contains(text, []byte("http://SERVER:")) {
		t.Error("the file has the server's address, or its commands have none in its place")
	}
	for _, one := range made.File.Trials {
		if disturbed(one) || closed(one, gate.SendLate) {
			continue
		}
		if closed(one, gate.ClientFailed, gate.Connections, gate.NoRequests, gate.Mismatches, gate.ClocksOff, gate.ClocksUnsure) {
			t.Errorf("%s: %q", one.Condition, one.Reasons)
			continue
		}
		if one.Metrics["connections_established"] != 5 || len(one.Clients) != 2 || one.Clients[0].Requests == 0 || one.Clients[1].Requests == 0 ||
			float64(one.Clients[0].Requests+one.Clients[1].Requests) != one.Metrics["requests"] || one.Metrics["server_cpu_s"] <= 0 {
			t.Errorf("%s: %+v, %v", one.Condition, one.Clients, one.Metrics)
		}
		if rps := one.Metrics["throughput_rps"]; one.Valid && math.Abs(rps-400) > 40 {
			t.Errorf("%s: %v a second of 400 that both were asked for together", one.Condition, rps)
		}
	}
	for k, want := range []int{3, 2} {
		if got := f.clients[k].plans[0].Targets[0]; got.Connections != want || got.Rate != 200 || !f.clients[k].plans[0].Raw {
			t.Errorf("client %d: %+v", k+1, got)
		}
	}
	said := verdict.Decide(x, plan.Host, []verdict.Run{{File: made.File, Then: x}})
	if len(said.Claims) != 1 || said.Control == nil || !slices.Equal(said.Fleet, []string{"client-1", "client-2"}) || said.Machines != 3 {
		t.Errorf("%+v", said)
	}
	nothingRuns(t)
}

// Conditions with different numbers of clients share a rotation, and the client
// that is full is named.
func TestClientsThatLoadInSomeConditions(t *testing.T) {
	p := newPlace(t)
	f := newFleet(p, 2)
	f.clients[1].full = true
	d := fleetBlock
	d.topology, d.factor, d.levels = `kind = "fleet"`, setting.Clients, "[1, 2, 3]"
	d.settings += "\nroute = \"/simple\""
	plan := p.onFleet(d, f)
	made, err := Do(t.Context(), plan, &watching{})
	if err != nil {
		t.Fatal(err)
	}
	sound(t, plan.Experiment, made.File)
	if left := made.File.Provenance.LeftOut; len(left) != 1 || left[0].Levels.Key() != "clients=3" {
		t.Errorf("left out: %+v", left)
	}
	for _, one := range made.File.Trials {
		n, _ := made.File.Conditions[slices.IndexFunc(made.File.Conditions, func(c results.Condition) bool { return c.ID == one.Condition })].Levels[setting.Clients].Int()
		if one.Slots == nil {
			continue // disturbed
		}
		full := strings.Contains(string(one.Bound), string(gate.BoundClientCPU))
		if one.Clients[1].Loads() != (n == 2) || (one.Clients[1].Requests > 0) != (n == 2) || n == 2 && !full {
			t.Errorf("%d clients: %s, %+v", n, one.Bound, one.Clients)
		}
		if n == 2 && !strings.Contains(one.BoundWhy, "the fullest client is 2 of 2: busiest client thread 100 %, client cores 100 %") {
			t.Errorf("%s", one.BoundWhy)
		}
	}
	nothingRuns(t)
}

// Each trouble of a client or its clock makes trials invalid by its own gate, and
// the run goes on.
func TestTroublesOfClients(t *testing.T) {
	p := newPlace(t)
	for name, c := range map[string]struct {
		spoil  func(f *madeUpFleet)
		closes string
		says   string
	}{
		"a client that starts late": {func(f *madeUpFleet) { f.clients[1].late = 5 * time.Second }, gate.ClientsApart, "client 2 came "},
		"a clock 200 ms off":        {func(f *madeUpFleet) { f.clients[1].ahead = 200 * time.Millisecond }, gate.ClocksOff, "client 2: its clock was 200 ms from that of the server's host"},
		"a clock that is not known": {func(f *madeUpFleet) { f.clients[0].clock = func(c *fleet.Clock, _ int) { c.UncertaintyS = 0.007 } }, gate.ClocksUnsure, "client 1: the offset of its clock was known to 7.0 ms only"},
		"a clock that moved": {func(f *madeUpFleet) {
			f.clients[1].clock = func(c *fleet.Clock, asked int) { c.OffsetS += 0.008 * float64(asked-1) }
		}, gate.ClocksOff, "client 2: its clock moved by 8.0 ms"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(p, 2)
			c.spoil(f)
			plan := p.onFleet(fleetBlock, f)
			made, err := Do(t.Context(), plan, &watching{})
			if err != nil {
				t.Fatal(err)
			}
			sound(t, plan.Experiment, made.File)
			for _, one := range made.File.Trials {
				i := slices.IndexFunc(one.Reasons, func(r results.Reason) bool { return r.Gate == c.closes })
				if one.Valid || i < 0 || !strings.HasPrefix(one.Reasons[i].Detail, c.says) {
					t.Errorf("%s: %q", one.Condition, one.Reasons)
				}
				if closed(one, gate.NoRequests, gate.ClientFailed) && !disturbed(one) {
					t.Errorf("%s is blamed for something else: %q", one.Condition, one.Reasons)
				}
			}
		})
	}
	nothingRuns(t)
}

// A client that came late gets more time before the next block.
func TestAClientThatComesLateIsGivenTime(t *testing.T) {
	p := newPlace(t)
	f := newFleet(p, 2)
	f.clients[0].late = 1100 * time.Millisecond
	plan := p.onFleet(fleetBlock, f)
	plan.MaxBlocks = 2
	made, err := Do(t.Context(), plan, &watching{})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range made.File.Trials {
		if late := closed(one, gate.ClientsApart); late != (one.Block == 1) && !disturbed(one) {
			t.Errorf("block %d: %q", one.Block, one.Reasons)
		}
	}
}

// The loss of a client ends the run with the block in which it was lost, and the
// blocks before it are kept.
func TestALostClientEndsTheRun(t *testing.T) {
	p := newPlace(t)
	f := newFleet(p, 2)
	f.clients[1].lost = func(load int) bool { return load == 2 }
	plan := p.onFleet(fleetBlock, f)
	plan.MaxBlocks = 5
	kept := 0
	plan.Keep = func(m *Made) error { kept = m.File.Provenance.Blocks; return nil }
	made, err := Do(t.Context(), plan, &watching{})
	const says = "client 2 was lost in mid-run: it said nothing for 5 s, at SERVER"
	if err == nil || err.Error() != says {
		t.Fatalf("%v, want %q", err, says)
	}
	if made == nil {
		t.Skip("this machine is too disturbed for a valid block")
	}
	sound(t, plan.Experiment, made.File)
	if pr := made.File.Provenance; pr.Ended != results.Interrupted || pr.StoppedEarly != says || pr.Blocks != 2 || kept != 2 {
		t.Errorf("%+v, %d kept", pr, kept)
	}
	for _, one := range made.File.Trials {
		if (one.Block == 2) != closed(one, gate.ClientLost) {
			t.Errorf("block %d: %q", one.Block, one.Reasons)
		}
	}
	f.clients[1].lost = func(int) bool { return true }
	if made, err := Do(t.Context(), plan, &watching{}); made != nil || err == nil || err.Error() != says {
		t.Errorf("lost in the first block: %v, %v", made, err)
	}
	nothingRuns(t)
}

func TestWhatAFleetCannotCarryOutIsSaid(t *testing.T) {
	p := newPlace(t)
	f := newFleet(p, 2)
	for name, c := range map[string]struct {
		spoil func(*Plan)
		says  string
	}{
		"too few connections": {func(q *Plan) {
			q.Experiment = design{settings: "generator = \"http_load\"\nconnections = 1\nprefork = false"}.parse(t)
		}, "1 connections are too few for 2 clients, each of which needs one"},
		"no address": {func(q *Plan) { q.Address = "lab.example" }, `"lab.example" is none; set line_rate_address in the inventory`},
	} {
		plan := p.onFleet(fleetBlock, f)
		c.spoil(&plan)
		if err := plan.Ready(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	f.clients[0].refuse = "http_load is not built"
	if _, err := Do(t.Context(), p.onFleet(fleetBlock, f), &watching{}); err == nil || !strings.Contains(err.Error(), "client 1 cannot load: http_load is not built") {
		t.Errorf("refused: %v", err)
	}
	few := p.onFleet(design{topology: `kind = "fleet"`, factor: "clients", levels: "[3, 4]", settings: fleetBlock.settings + "\nroute = \"/simple\""}, f)
	if why := few.Unreachable(); why != "needs 4 clients; the fleet has 2" {
		t.Errorf("%q", why)
	}
	for says, x := range map[string]*experiment.Experiment{"it loads with autocannon": inPieces.parse(t), "its servers send events": committed(t, "batch-pacing")} {
		plan := p.onFleet(fleetBlock, f)
		plan.Experiment = x
		if why := plan.Unreachable(); !strings.Contains(why, says) {
			t.Errorf("%q, want %q", why, says)
		}
	}
	nothingRuns(t)
}

// A controller that dies ends the run as a signal does.
func TestAnInterruptedFleetLeavesNothing(t *testing.T) {
	p := newPlace(t)
	f := newFleet(p, 2)
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the host that started the run is gone")
	go func() { time.Sleep(1500 * time.Millisecond); cancel(gone) }()
	if made, err := Do(ctx, p.onFleet(fleetBlock, f), &watching{}); made != nil || !errors.Is(err, gone) {
		t.Errorf("%v, %v", made, err)
	}
	nothingRuns(t)
}

func TestAFileTellsNoName(t *testing.T) {
	f := &results.File{Experiment: "x", NotApplicable: "Zeus.example is not reached, nor 10.0.0.7: the server", Hosts: results.Hosts{Server: "zeus-2c", Client: "zeus-2c"}}
	for word, private := range map[string]bool{"zeus.example": true, "10.0.0.7": true, "0.0.7": false, "zeus": false, "server": false, "": false, "x": true} {
		if err := Private(f, word); (err != nil) != private {
			t.Errorf("%q: %v", word, err)
		}
	}
}

// A profiled window is loaded from the clients too, and lies within their load.
func TestProfilesUnderAFleetsLoad(t *testing.T) {
	p := newPlace(t)
	f := newFleet(p, 2)
	d := profiling
	d.settings = fleetBlock.settings
	plan := p.onFleet(d, f).onFleet()
	link := topology.Fleet(plan.Address, "lo")
	file := plan.file()
	plan.conditions(file, link)
	e := newEngine(plan, link, file)
	l := plan.load(link, plan.Experiment.Fixed().With(file.Conditions[0].Levels), plan.Port)
	p.until(func() []results.Trial {
		g := &group{engine: e, conds: []int{0}, sequence: []int{0}, loads: []load{l}, profiles: taken{}, trials: []results.Trial{{Condition: "c1", Metrics: map[string]float64{"throughput_rps": 400}}}}
		if err := freshSockets(g.loads); err != nil {
			t.Fatal(err)
		}
		var err error
		if g.servers, err = startServers(t.Context(), g.loads); err != nil {
			t.Fatal(err)
		}
		defer stopServers(g.servers)
		if err := g.profiled(t.Context()); err != nil {
			t.Fatal(err)
		}
		return g.trials
	}, func(trials []results.Trial) bool {
		one := trials[0]
		if share := one.Metrics["profiled_throughput_share"]; len(one.Reasons) == 0 && (share < 0.8 || share > 1.2) {
			t.Errorf("at a set rate the profiled window has %v of the throughput", share)
		}
		return len(one.Reasons) == 0 && len(one.Profiles) == len(profiles.Kinds())
	})
	if f.clients[0].loads == 0 || f.clients[1].loads != f.clients[0].loads {
		t.Errorf("the clients loaded %d and %d times", f.clients[0].loads, f.clients[1].loads)
	}
	nothingRuns(t)
}
