// Package run carries out an experiment: block after block, until its claims are decided or the
// time is up. Package measure measures the blocks.
//
// Conditions to be compared are measured side by side (see package measure). What cannot share a
// block is measured one after the other within it: other kernel settings, or a load generator that
// cannot take turns. Producers of events at a set rate leave most of the cores idle and are measured
// at once, each by a receiver of its own.
//
// Faults do not know the claims. Refused trials stay in the file and are never repeated; the next
// block is a new one.
package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/wire"
)

// A Plan describes a run to be made.
type Plan struct {
	// Root is the journal's: its scripts start servers and clients, and commands start from there.
	Root journal.Root

	Experiment *experiment.Experiment
	Seed       uint64
	Port       int // of the first server of a block; the others use the ports above
	Split      cores.Split
	Host       *host.Profile
	// Lab is the command that starts the program itself, which passes its arguments to
	// Called.
	Lab []string

	// Budget is the longest time that the run may take; 0: as the experiment says.
	// MaxBlocks limits the blocks; 0: as many as a file can hold.
	Budget    time.Duration
	MaxBlocks int
	// Decided is asked after each block whether more blocks would tell nothing
	// more. nil: they always could.
	Decided func(*results.File) bool
	// Keep is given the run so far after each block, so that complete blocks
	// survive the process. nil: not kept.
	Keep func(*Made) error
	// Turn is called before each block but the first, and returns when it is this
	// run's turn again; a reason ends the run with the blocks that it has. Until
	// then nothing of the run is up, and its budget does not run: other runs have
	// the machine. nil: its blocks follow one another.
	Turn func() results.Ended

	found *host.Programs // before the run
	clock measure.Clock
}

// A Made is a finished run: its file, and the raw profiles that it names, by
// path from data/profiles.
type Made struct {
	File *results.File
	Raw  map[string][]byte
}

// A Watcher is told of a run's progress.
type Watcher interface {
	// Begin is called with about how long a block takes, and the longest that the
	// run may go on.
	Begin(x *experiment.Experiment, block, budget time.Duration)
	// Turn is called before each group of conditions of a block.
	Turn(block, group, groups int)
	// Block is called after each block with the run so far; trials are the block's
	// own, the last ones of the file.
	Block(f *results.File, trials []results.Trial)
}

// Unable says why nothing of a design can be measured here. There is no run then.
type Unable struct{ Why string }

func (u Unable) Error() string { return u.Why }

// Do makes the run. With an error it may still return a run: the blocks that
// were complete when it was interrupted. A failure within a trial is recorded
// in the trial.
func Do(ctx context.Context, p Plan, w Watcher) (*Made, error) {
	p.clock = measure.NewClock()
	p, left := p.without()
	x := p.Experiment
	f := p.file()
	f.Provenance.LeftOut = left
	if why := p.Unreachable(); why != "" {
		return nil, Unable{why}
	}
	link, err := p.up()
	if unavailable, ok := errors.AsType[wire.Unavailable](err); ok {
		return nil, Unable{fmt.Sprintf("no %s topology here: %s", x.Topology.Kind, strict.Line(unavailable.Why, longestReason))}
	}
	if err != nil {
		return nil, err
	}
	e := &engine{link: link}
	defer func() { e.link.Down() }()
	if p.found, err = p.find(); err != nil {
		return nil, err
	}
	f.Provenance.Binaries, f.Provenance.Environment = p.found.Binaries(), p.found.Environment()
	if p.onWire() {
		f.Provenance.Commands = []string{p.spec().Line()}
	}
	p.conditions(f, link)
	w.Begin(x, p.BlockTime(), p.budget())
	e = newEngine(p, link, f)
	return e.blocks(ctx, w)
}

// file is the results file before the first block.
func (p Plan) file() *results.File {
	x := p.Experiment
	tools := host.Tools(string(p.Root))
	commit, dirty := host.Commit(string(p.Root))
	f := &results.File{
		SchemaVersion: results.Version, Experiment: x.Name,
		Hosts:    results.Hosts{Server: p.Host.ID, Client: p.Host.ID},
		Topology: results.Topology(x.Topology),
		Settings: x.Fixed(), Conditions: []results.Condition{}, Trials: []results.Trial{},
	}
	f.Provenance = &results.Provenance{
		StartedAt: p.clock.Now().Truncate(time.Second), Commit: commit, Dirty: dirty,
		ExperimentSHA256: x.SHA256, Locks: x.Locks(), Seed: p.Seed, Generator: generators(x, tools),
		Block: &results.BlockPlan{SlotS: x.Block.SlotS, Rounds: x.Block.Rounds, WarmupS: x.Block.WarmupS,
			ProfileS: x.ProfileS()},
		BudgetS:    p.budget().Seconds(),
		Servers:    results.SharedServers(x),
		ServerCPUs: cores.Format(p.Split.Server), ClientCPUs: cores.Format(p.Split.Client),
		Tools: tools, Kernel: host.Kernel("/"), MemoryBytes: host.Memory("/"),
		Boot: host.Boot("/"), Known: p.Host.Mark != "" && p.Host.Mark == host.Mark("/"),
	}
	f.Run = f.Provenance.StartedAt.Format("20060102t150405z") + "-" + p.Host.ID
	return f
}

// conditions adds the conditions, the control last, with the command lines that
// a reader would type for each.
func (p Plan) conditions(f *results.File, link measure.Link) {
	x := p.Experiment
	all := x.Conditions()
	twin := experiment.DrawControl(len(all), p.Seed)
	for i, levels := range append(all, all[twin]) {
		l := p.load(link, x.Fixed().With(levels), p.Port)
		c := results.Condition{ID: fmt.Sprintf("c%d", i+1), Levels: levels, Commands: l.commands()}
		if _, factor := levels["generator"]; factor {
			c.Generator = versioned(l.generator, f.Provenance.Tools)
		}
		if i == len(all) {
			c.ControlOf = f.Conditions[twin].ID
		}
		f.Conditions = append(f.Conditions, c)
	}
}

// onWire reports whether server and client are in namespaces that the lab made.
func (p Plan) onWire() bool { return p.Experiment.Topology.Kind == "netns" }

func (p Plan) budget() time.Duration {
	if p.Budget > 0 {
		return p.Budget
	}
	return seconds(p.Experiment.BudgetS)
}

func (p Plan) finish(f *results.File, raw map[string][]byte) *Made {
	f.Provenance.FinishedAt = p.clock.Now().Truncate(time.Second)
	return &Made{f, raw}
}

// up makes the link of the design's topology.
func (p Plan) up() (measure.Link, error) {
	if !p.onWire() {
		return measure.Loopback{}, nil
	}
	x := p.Experiment
	for _, levels := range x.Conditions() {
		if name := experiment.Generator(x.Fixed().With(levels)); name != setting.HTTPLoad {
			return nil, wire.Unavailable{Why: fmt.Sprintf("a wire is read between the slots of %s; %s loads over loopback only",
				setting.HTTPLoad, name)}
		}
	}
	w, err := wire.Make(p.spec())
	if err != nil {
		return nil, err
	}
	return w, nil
}

// spec is the wire that the design asks for.
func (p Plan) spec() wire.Spec {
	t := p.Experiment.Topology
	return wire.Spec{LineRateBps: t.LineRateBps, BurstBytes: t.BurstBytes, QueueS: t.QueueS}
}

// Time to start and stop the servers of a group and a client, with the
// calibrations before and after; the time in each slot before it counts; and the
// time that a receiver searches for the limit.
const (
	groupOverhead = 600 * time.Millisecond
	searching     = 7500 * time.Millisecond
	fillLoopback  = 15 * time.Millisecond
	fillWire      = 250 * time.Millisecond // a deep pipeline fills the shaper's queue first
)

// BlockTime is about how long a block of an experiment takes.
func BlockTime(x *experiment.Experiment) time.Duration { return Plan{Experiment: x}.BlockTime() }

// BlockTime is about how long a block takes.
func (p Plan) BlockTime() time.Duration {
	x := p.Experiment
	fill := fillLoopback
	if p.onWire() {
		fill = fillWire / 5 // only the deepest pipelines take all of it
	}
	slots := time.Duration(x.Block.Rounds) * (seconds(x.Block.SlotS) + fill)
	each := func(levels setting.Levels) time.Duration {
		took := seconds(x.Block.WarmupS) + slots
		if searches(x.Fixed().With(levels)) {
			took += searching
		}
		if x.Profile != nil {
			took += Plan{Experiment: x}.profiledFor()
		}
		return took
	}
	all, groups := x.Conditions(), x.Groups()
	total, control := time.Duration(0), time.Duration(0)
	for _, g := range groups {
		total += groupOverhead
		if experiment.AtOnce(x.Fixed().With(all[g[0]])) {
			total += each(all[g[0]]) // all conditions, and the control if it belongs to the group
			continue
		}
		for _, i := range g {
			total += each(all[i])
		}
		control = each(all[g[0]])
	}
	if control > 0 && len(groups) == len(all) {
		control += groupOverhead
	}
	return total + control
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// scriptPath is a script's path from the repository's root, so that recorded
// command lines can be typed there.
func scriptPath(name string) string { return filepath.Join("lab", "scripts", name) }

// without is the plan for what this machine has.
func (p Plan) without() (Plan, []results.LeftOut) {
	x, lacks := p.Experiment.Present(string(p.Root))
	p.Experiment = x
	return p, strict.Called(lacks, func(l experiment.Lack) results.LeftOut {
		return results.LeftOut{Levels: setting.Levels{setting.Server: setting.String(l.Server)}, Why: l.Why()}
	})
}

// taken has the profiles of trials, by the trial's index.
type taken map[int]*profile.Set
