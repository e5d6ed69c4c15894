package run

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/topology"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// onFleet is the plan of a run whose clients are made up.
func (p place) onFleet(d design, f *madeUpFleet) Plan {
	plan := p.plan(d.parse(p.t))
	plan.Clients, plan.Address = f, "127.0.0.1"
	plan.MaxBlocks, plan.Seed, plan.lead = 1, 3, 800*time.Millisecond
	return plan
}

// fleetBlock has enough load for a few answers of each client, and little of the
// cores.
var fleetBlock = design{settings: "generator = \"http_load\"\nconnections = 5\nprefork = false\nrate = 400",
	block: "slot_s = 0.2\nrounds = 2\nwarmup_s = 0.05"}

// What two clients count adds up, by clocks of their own; the file is one that the
// journal takes, and verdicts come of it.
func TestARunOfTwoClients(t *testing.T) {
	t.Parallel()
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
	if made.File.Topology.Kind != "fleet" || !slices.Equal(made.File.Hosts.Clients, []string{"client-1", "client-2"}) ||
		made.File.Machines() != 3 || pr.Fleet.Clients[1].Clock != "round-trips" || pr.Blocks != 2 {
		t.Errorf("%+v, %+v, %+v", made.File.Hosts, made.File.Topology, pr.Fleet)
	}
	if text, _ := results.Encode(made.File); bytes.Contains(text, []byte("127.0.0.1")) ||
		!bytes.Contains(text, []byte("http://SERVER:")) {
		t.Error("the file has the server's address, or its commands have none in its place")
	}
	for _, one := range made.File.Trials {
		if disturbed(one) || closed(one, gate.SendLate) {
			continue
		}
		if closed(one, gate.ClientFailed, gate.Connections, gate.NoRequests, gate.Mismatches, gate.ClocksOff,
			gate.ClocksUnsure, gate.Misreport,
			gate.WrongAnswer) {
			t.Errorf("%s: %q", one.Condition, one.Reasons)
			continue
		}
		if one.Metrics["connections_established"] != 5 || len(one.Clients) != 2 || one.Clients[0].Requests == 0 ||
			one.Clients[1].Requests == 0 ||
			float64(one.Clients[0].Requests+one.Clients[1].Requests) != one.Metrics["requests"] ||
			one.Metrics["server_cpu_s"] <= 0 {
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
	if len(said.Claims) != 1 || said.Control == nil || !slices.Equal(said.Fleet, []string{"client-1", "client-2"}) ||
		said.Machines != 3 {
		t.Errorf("%+v", said)
	}
	p.nothingRuns(t)
}

// Conditions with different numbers of clients share a rotation, and the client
// that is full is named.
func TestClientsThatLoadInSomeConditions(t *testing.T) {
	t.Parallel()
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
		n, _ := made.File.Conditions[slices.IndexFunc(made.File.Conditions,
			func(c results.Condition) bool { return c.ID == one.Condition })].Levels[setting.Clients].Int()
		if one.Slots == nil {
			continue // disturbed
		}
		full := strings.Contains(string(one.Bound), string(gate.BoundClientCPU))
		if one.Clients[1].Loads() != (n == 2) || (one.Clients[1].Requests > 0) != (n == 2) || n == 2 && !full {
			t.Errorf("%d clients: %s, %+v", n, one.Bound, one.Clients)
		}
		if n == 2 && !strings.Contains(one.BoundWhy,
			"the fullest client is 2 of 2: busiest client thread 100 %, client cores 100 %") {
			t.Errorf("%s", one.BoundWhy)
		}
	}
	p.nothingRuns(t)
}

// Each trouble of a client or its clock makes trials invalid by its own gate, and
// the run goes on.
func TestTroublesOfClients(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	t.Cleanup(func() { p.nothingRuns(t) })
	for name, c := range map[string]struct {
		spoil  func(f *madeUpFleet)
		closes string
		says   string
	}{
		"a client that starts late": {func(f *madeUpFleet) { f.clients[1].late = 5 * time.Second }, gate.ClientsApart,
			"client 2 came "},
		"a clock 200 ms off": {func(f *madeUpFleet) { f.clients[1].ahead = 200 * time.Millisecond }, gate.ClocksOff,
			"client 2: its clock was 200 ms from that of the server's host"},
		"a clock that is not known": {func(f *madeUpFleet) { f.clients[0].clock = func(c *fleet.Clock, _ int) { c.UncertaintyS = 0.007 } }, gate.ClocksUnsure, "client 1: the offset of its clock was known to 7.0 ms only"},
		"a clock that moved": {func(f *madeUpFleet) {
			f.clients[1].clock = func(c *fleet.Clock, asked int) { c.OffsetS += 0.008 * float64(asked-1) }
		}, gate.ClocksOff, "client 2: its clock moved by 8.0 ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
}

// The loss of a client ends the run with the block in which it was lost, and the
// blocks before it are kept.
func TestALostClientEndsTheRun(t *testing.T) {
	t.Parallel()
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
	if pr := made.File.Provenance; pr.Ended != results.Interrupted || pr.StoppedEarly != says || pr.Blocks != 2 ||
		kept != 2 {
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
	p.nothingRuns(t)
}

func TestWhatAFleetCannotCarryOutIsSaid(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	f := newFleet(p, 2)
	for name, c := range map[string]struct {
		spoil func(*Plan)
		says  string
	}{
		"too few connections": {func(q *Plan) {
			q.Experiment = design{settings: "generator = \"http_load\"\nconnections = 1\nprefork = false"}.parse(t)
		}, "1 connections are too few for 2 clients, each of which needs one"},
		"no address": {func(q *Plan) { q.Address = "lab.example" },
			`"lab.example" is none; set line_rate_address in the inventory`},
	} {
		plan := p.onFleet(fleetBlock, f)
		c.spoil(&plan)
		if err := plan.Ready(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	f.clients[0].refuse = "http_load is not built"
	if _, err := Do(t.Context(), p.onFleet(fleetBlock, f), &watching{}); err == nil ||
		!strings.Contains(err.Error(), "client 1 cannot load: http_load is not built") {
		t.Errorf("refused: %v", err)
	}
	few := p.onFleet(design{topology: `kind = "fleet"`, factor: "clients", levels: "[3, 4]",
		settings: fleetBlock.settings + "\nroute = \"/simple\""}, f)
	if why := few.Unreachable(); why != "needs 4 clients; the fleet has 2" {
		t.Errorf("%q", why)
	}
	for says, x := range map[string]*experiment.Experiment{"its servers are loaded by autocannon": inPieces.parse(t),
		"its servers send events": committed(t, "batch-pacing")} {
		plan := p.onFleet(fleetBlock, f)
		plan.Experiment = x
		if why := plan.Unreachable(); !strings.Contains(why, says) {
			t.Errorf("%q, want %q", why, says)
		}
	}
	p.nothingRuns(t)
}

// A controller that dies ends the run as a signal does.
func TestAnInterruptedFleetLeavesNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	f := newFleet(p, 2)
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the host that started the run is gone")
	go func() { time.Sleep(1500 * time.Millisecond); cancel(gone) }()
	if made, err := Do(ctx, p.onFleet(fleetBlock, f), &watching{}); made != nil || !errors.Is(err, gone) {
		t.Errorf("%v, %v", made, err)
	}
	p.nothingRuns(t)
}

func TestAFileTellsNoName(t *testing.T) {
	f := &results.File{Experiment: "x", NotApplicable: "Zeus.example is not reached, nor 10.0.0.7: the server",
		Hosts:      results.Hosts{Server: "zeus-2c", Client: "zeus-2c"},
		Conditions: []results.Condition{{ID: "c1"}}, Trials: []results.Trial{{Condition: "c1"}},
		Provenance: &results.Provenance{}}
	for word, private := range map[string]bool{"zeus.example": true, "10.0.0.7": true, "0.0.7": false, "zeus": false,
		"zeus-2c": true, "server": false, "": false, "hosts": false, "c1": false} {
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
	plan, _ := p.onFleet(d, f).without()
	link := &topology.Link{Host: plan.Address, NetDevice: "lo"}
	file := plan.file()
	plan.conditions(file, link)
	e := newEngine(plan, link, file)
	l := plan.load(link, plan.Experiment.Fixed().With(file.Conditions[0].Levels), plan.Port)
	p.until(func() []results.Trial {
		g := &group{engine: e, conds: []int{0}, sequence: []int{0}, loads: []load{l}, profiles: taken{},
			trials: []results.Trial{{Condition: "c1", Metrics: map[string]float64{"throughput_rps": 400}}}}
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
	p.nothingRuns(t)
}
