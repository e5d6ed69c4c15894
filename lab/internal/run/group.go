package run

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
)

// A group is a set of conditions whose servers are up at once.
type group struct {
	engine   *engine
	conds    []int // indexes of conditions, in the order drawn for the first round
	loads    []load
	sequence []int // of the slots: indexes into conds
	servers  []*server
	trials   []results.Trial
	profiles taken
	sampler  *telemetry.Sampler
}

// group measures conditions that can be up together. Their servers start, one
// client goes round them in the given sequence or each has a client of its own,
// and the CPU time of both sides is read.
//
// What a condition is called decides nothing else: which server is started first, and which has
// which port and place with the client, is as the block's order was drawn. So servers that do not
// differ are exchangeable, which package compare relies on.
func (e *engine) group(ctx context.Context, sequence []int) (m measured, err error) {
	members := experiment.Members(sequence)
	g := &group{engine: e, conds: sequence[:len(members)], profiles: taken{}}
	g.sequence = strict.Called(sequence, func(s int) int { return slices.Index(g.conds, s) })
	p, x := e.plan, e.plan.Experiment
	for i, c := range g.conds {
		cond := e.file.Conditions[c]
		g.loads = append(g.loads, p.load(e.link, x.Fixed().With(cond.Levels), p.Port+i))
		g.trials = append(g.trials, results.Trial{Condition: cond.ID, Bound: gate.BoundUnknown, Metrics: map[string]float64{}})
	}
	// Conditions of a group have the same kernel settings, so those of the first
	// serve for all.
	back, err := g.loads[0].turn(ctx)
	if err != nil {
		return m, err
	}
	defer func() { err = joinOnOneLine(err, back()) }()
	if err := freshSockets(g.loads); err != nil {
		return m, err
	}
	if err := g.measure(ctx); err != nil {
		return m, err
	}
	for i := range g.trials {
		e.file.Conclude(&g.trials[i])
	}
	m.profiles = taken{}
	for _, c := range members {
		i := slices.Index(g.conds, c)
		if set := g.profiles[i]; set != nil {
			m.profiles[len(m.trials)] = set
		}
		m.trials = append(m.trials, g.trials[i])
	}
	return m, nil
}

// measure runs the group's clients: in turns where the generator can take
// turns, else at once.
func (g *group) measure(ctx context.Context) error {
	now := g.engine.plan.clock.now()
	for i := range g.trials {
		g.trials[i].StartedAt = now
	}
	switch {
	case g.engine.plan.Running != nil:
		return g.fromOutside(ctx)
	case g.loads[0].rotates():
		return g.up(ctx, g.rotate)
	}
	return g.up(ctx, g.pieces)
}

// up has the group's servers up, which give the same answers, while something is done with them.
func (g *group) up(ctx context.Context, do func(context.Context) error) (err error) {
	if g.servers, err = startServers(ctx, g.loads); err != nil {
		return err
	}
	defer stopServers(g.servers)
	if err := sameAnswers(g.servers); err != nil && !g.engine.plan.AnswersMayDiffer {
		return err
	}
	return do(ctx)
}

// atOnce calls do for each of 0 to n-1 at the same time. The first error
// cancels the others and is returned.
func atOnce(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if err := do(within, i); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	if within.Err() != nil {
		return context.Cause(within)
	}
	return nil
}

// pair is a client with the servers that it loads, for telemetry to watch.
func (g *group) pair(client func() int, servers ...*server) telemetry.Pair {
	return telemetry.Pair{Client: client, Servers: strict.Called(servers, (*server).first)}
}

// watch begins to sample both sides and the machine.
func (g *group) watch(window time.Duration, pairs ...telemetry.Pair) error {
	l := g.loads[0]
	serverOn, clientOn := l.split.On()
	var err error
	g.sampler, err = telemetry.Start(telemetry.Targets{
		Pairs:      pairs,
		ServerCPUs: serverOn, ClientCPUs: clientOn,
		NetPID: l.link.NetPID,
		Window: window,
	})
	return err
}

// failer records the reasons of the group's trial i.
func (g *group) failer(i int) failer {
	t := &g.trials[i]
	return func(name, format string, args ...any) { t.Reasons = append(t.Reasons, reason(name, format, args...)) }
}

func reason(name, format string, args ...any) results.Reason {
	return results.Reason{Gate: name, Detail: strict.Line(fmt.Sprintf(format, args...), longestReason)}
}

// blame records faults with their trials. A fault of no particular condition
// goes to all trials. A fault of one condition also makes the others' trials
// invalid, since it disturbed them or left their block incomplete.
func (g *group) blame(faults []fault) {
	for _, f := range faults {
		for i := range g.trials {
			switch {
			case f.of == i || f.of < 0:
				g.trials[i].Reasons = append(g.trials[i].Reasons, f.Reason)
			case len(g.trials[i].Reasons) == 0:
				g.failer(i)(f.Gate, "beside it, %s: %s", g.loads[f.of].name(), f.Detail)
			}
		}
	}
}

// machine has the figures of a sampled window that describe the machine and not
// one server: all trials of a group share them.
var machine = []string{
	"server_steal", "client_steal", "server_foreign_load", "client_foreign_load", "sampler_busy", "client_rss_bytes",
	"tcp_retransmits", "listen_overflows", "listen_drops", "softnet_drops", "softnet_squeezes", "interrupts_per_s",
	"throttled_s", "swap_pages", "clock_step_s",
}

// pick copies those of some figures that are known.
func pick(into, from map[string]float64, names ...string) {
	for _, name := range names {
		if v, ok := from[name]; ok {
			into[name] = v
		}
	}
}

// stopped refuses a trial of which a signal held one side.
func stopped(w telemetry.Window, fail failer) {
	for _, side := range w.Stopped {
		fail(gate.Stopped, "a signal stopped the %s for a while", side)
	}
}

// take copies what a trial in one piece records beside its metrics.
func take(t *results.Trial, w telemetry.Window) {
	for _, c := range w.Cores {
		t.Cores = append(t.Cores, results.Core{
			CPU: c.CPU, User: share(c.User), System: share(c.System), SoftIRQ: share(c.SoftIRQ), Steal: share(c.Steal),
			Idle: share(c.Idle),
		})
	}
	for _, busy := range w.ClientThreads {
		if busy >= 0.01 {
			t.ClientThreads = append(t.ClientThreads, share(busy))
		}
	}
}

// share rounds to a hundredth of a percent, which is finer than clock ticks.
func share(v float64) float64 { return math.Round(v*1e4) / 1e4 }
