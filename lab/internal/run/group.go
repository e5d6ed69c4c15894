package run

import (
	"context"
	"math"
	"path/filepath"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	httpload "github.com/line-rate/line-rate/lab/load"
)

// A group is a set of conditions whose servers are up at once.
type group struct {
	run      *Run
	conds    []int // indexes of conditions, in the order drawn for the first round
	loads    []load
	profiles []profile.Set
	gauged   []float64 // the client's part in a server's CPU time; 0: not gauged
}

// group measures conditions that can be up together.
//
// What a condition is called decides nothing else: which server is started first, and which has
// which port and place with the client, is as the block's order was drawn. So servers that do not
// differ are exchangeable, which package compare relies on.
func (r *Run) group(ctx context.Context, sequence []int) (trials []results.Trial, profiles []profile.Set, err error) {
	members := experiment.Members(sequence)
	n := len(members)
	g := &group{run: r, conds: sequence[:n], profiles: make([]profile.Set, n), gauged: make([]float64, n)}
	for i, c := range g.conds {
		g.loads = append(g.loads, r.load(r.link, r.Experiment.Fixed().With(r.File.Conditions[c].Levels), r.Port+i))
	}
	// Conditions of a group have the same kernel settings, so those of the first serve for all.
	back, err := g.loads[0].turn(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = joinOnOneLine(err, back()) }()
	if err := makeSockets(g.loads); err != nil {
		return nil, nil, err
	}
	block, err := g.block(ctx, strict.Called(sequence, func(c int) int { return slices.Index(g.conds, c) }))
	if err != nil {
		return nil, nil, err
	}
	for _, c := range members {
		i := slices.Index(g.conds, c)
		t := g.trial(i, block.Trials[i])
		if !t.Valid {
			g.profiles[i] = nil
		}
		trials, profiles = append(trials, t), append(profiles, g.profiles[i])
	}
	return trials, profiles, nil
}

// block has the engine measure the group.
func (g *group) block(ctx context.Context, order []int) (*measure.Block, error) {
	r, l := g.run, g.loads[0]
	serverOn, clientOn := l.Split.On()
	plan := &measure.Plan{Slot: seconds(r.Experiment.Block.SlotS), Rounds: r.Experiment.Block.Rounds, Link: r.link, Dir: l.dir, Self: r.Lab,
		Loader: []string{experiment.Under(l.dir, filepath.Join(".tools", "bin", host.Loader))}, ServerCPUs: serverOn, ClientCPUs: clientOn,
		LineRateBps: r.Experiment.Topology.LineRateBps, Clock: r.clock, Threads: l.threads(), Seed: r.Seed,
		Target: func(i int, _ string) httpload.Target { return g.loads[i].target() }}
	for _, l := range g.loads {
		plan.Subjects = append(plan.Subjects, l.subject())
		plan.Asked, plan.Warmup = append(plan.Asked, l.asked), append(plan.Warmup, l.warmup())
	}
	plan.Extras = g.extras(plan.Subjects)
	if l.asked.Generator == setting.HTTPLoad {
		return plan.Block(ctx, order)
	}
	var pieces []measure.Piece
	for i := range g.loads {
		pieces = append(pieces, g.loads[i].piece())
	}
	return plan.Pieces(ctx, pieces)
}

// trial is the results file's record of what the engine measured.
func (g *group) trial(i int, m measure.Trial) results.Trial {
	l, f := g.loads[i], g.run.File
	t := results.Trial{Condition: f.Conditions[g.conds[i]].ID, StartedAt: m.StartedAt, Bound: gate.BoundUnknown, Metrics: m.Metrics,
		Slots: m.Slots, Below: m.Below, Resolution: m.Resolution}
	for _, why := range m.Faults {
		t.Reasons = append(t.Reasons, results.Reason{Gate: why.Name, Detail: why.Detail})
	}
	if len(t.Reasons) == 0 && g.profiles[i] != nil {
		l.take(&t, g.profiles[i], m.Extra)
	}
	if g.gauged[i] > 0 {
		t.Metrics[receiveShare] = share(g.gauged[i])
	}
	f.Conclude(&t)
	return t
}

// extras are the windows in which servers are profiled, or gauged.
func (g *group) extras(subjects []measure.Subject) (all []measure.Extra) {
	if g.loads[0].profile > 0 {
		all = append(all, measure.Extra{Window: g.loads[0].profile, Due: func(int) bool { return true },
			Do: func(ctx context.Context, i int) (err error) {
				g.profiles[i], err = profile.Take(ctx, g.loads[i].sockets(), g.loads[i].workers(), g.loads[i].profile)
				return err
			}})
	}
	if x := g.run.Experiment; x.Relative != nil && x.Relative.OwnWork {
		all = append(all, g.gauge(subjects))
	}
	return all
}

// share rounds to a hundredth of a percent, which is finer than clock ticks.
func share(v float64) float64 { return math.Round(v*1e4) / 1e4 }
