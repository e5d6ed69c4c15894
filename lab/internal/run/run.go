// Package run carries out an experiment: it makes the topology, and block after
// block starts the servers of all conditions afresh, loads them in turns, watches
// both sides, and decides which trials count.
//
// Its stance: what is compared is measured side by side. The servers of all
// conditions that can live together are up at once on the same cores, and one
// client goes round them in short slots, in an order drawn from a recorded seed.
// Producers of events at a set rate leave most of the cores idle, and are measured
// at once, each by a receiver of its own. What cannot live together (other settings
// of the kernel, a load generator that takes all it gets in one piece) is measured
// one condition after the other within the block. Profiles come after the turns:
// each server is then loaded alone for one more window, which no metric but theirs
// is of. Gates that know nothing of what claims hope for judge each trial;
// invalid ones stay in the file and are never made again: the next block is
// another one. One condition, drawn by the same seed, is measured twice under two
// names: the run's A/A control.
//
// Its limit: one machine, one client. Several hosts are not driven from here.
package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/capture"
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/topology"
)

// A Plan is one run to be made.
type Plan struct {
	Root       journal.Root
	Experiment *experiment.Experiment
	Seed       uint64
	Port       int // of the first server of a block; the others have those above
	Split      cores.Split
	Host       *host.Profile
	// Lab is the command that the lab itself can be started by, to read a
	// wire's counters from inside its namespaces.
	Lab []string
	// Profile has the server profiled although the experiment does not ask for it.
	Profile bool

	// Budget is the longest the run goes on; 0: what the experiment says. MaxBlocks
	// bounds its blocks; 0: only what a file can hold.
	Budget    time.Duration
	MaxBlocks int
	// Decided is asked after each block whether more of them could tell anything.
	// nil: they always could.
	Decided func(*results.File) bool
	// Keep is given the run so far after each block, so that nothing that is
	// complete is lost with the process. nil: nobody keeps it.
	Keep func(*Made) error

	found *host.Programs // before the run
	clock clock
}

// A Made is a run that was made: its file, and the raw profiles that it names,
// by path from data/profiles.
type Made struct {
	File *results.File
	Raw  map[string][]byte
}

// A Watcher is told how a run goes on.
type Watcher interface {
	// Begin names the run: about how long a block takes, and the longest that the
	// run goes on. Both are nought for one that cannot be made here.
	Begin(x *experiment.Experiment, block, budget time.Duration)
	// Turn is called before each group of conditions of a block.
	Turn(block, group, groups int)
	// Block is called after each block, with the run so far; the block's trials
	// stand last.
	Block(f *results.File, trials []results.Trial)
}

// Do makes the run. With an error there may be a run all the same: the blocks
// that were complete when it was interrupted. What goes wrong within a trial is
// in the trial.
func Do(ctx context.Context, p Plan, w Watcher) (*Made, error) {
	p.clock = newClock()
	x := p.Experiment
	f := p.file()
	if why := p.Unreachable(); why != "" {
		f.NotApplicable = why
		w.Begin(x, 0, 0)
		return p.finish(f, nil), nil
	}
	link, err := p.up()
	var unavailable topology.Unavailable
	if errors.As(err, &unavailable) {
		f.NotApplicable = fmt.Sprintf("no %s topology here: %s", x.Topology.Kind, strict.Line(unavailable.Why, longestReason))
		w.Begin(x, 0, 0)
		return p.finish(f, nil), nil
	}
	if err != nil {
		return nil, err
	}
	defer link.Down()
	if p.found, err = p.find(); err != nil {
		return nil, err
	}
	f.Provenance.Binaries, f.Provenance.Environment = p.found.Binaries(), p.found.Environment()
	if link.Command != "" {
		f.Provenance.Commands = []string{link.Command}
	}
	if err := link.Watch(string(p.Root), append(slices.Clone(p.Lab), "watch-shaper")); err != nil {
		return nil, err
	}
	p.conditions(f, link)
	w.Begin(x, BlockTime(x), p.budget())
	return newEngine(p, link, f).blocks(ctx, w)
}

// file is the run before its first block.
func (p Plan) file() *results.File {
	x := p.Experiment
	tools := host.Tools(string(p.Root))
	commit, dirty := host.Commit(string(p.Root))
	f := &results.File{
		SchemaVersion: results.Version, Experiment: x.Name, Source: results.Measured,
		Hosts:    results.Hosts{Server: p.Host.ID, Client: p.Host.ID},
		Topology: results.Topology(x.Topology),
		Settings: x.Fixed(), Conditions: []results.Condition{}, Trials: []results.Trial{},
	}
	f.Provenance = &results.Provenance{
		StartedAt: p.clock.now().Truncate(time.Second), Commit: commit, Dirty: dirty,
		ExperimentSHA256: x.SHA256, Seed: p.Seed, Generator: generators(x, tools),
		Block:      &results.BlockPlan{SlotS: x.Block.SlotS, Rounds: x.Block.Rounds, WarmupS: x.Block.WarmupS, ProfileS: x.ProfileS()},
		BudgetS:    p.budget().Seconds(),
		ServerCPUs: cores.Format(p.Split.Server), ClientCPUs: cores.Format(p.Split.Client),
		Tools: tools, Kernel: host.Kernel(),
	}
	f.Run = f.Provenance.StartedAt.Format("20060102t150405z") + "-" + p.Host.ID
	return f
}

// conditions names the conditions, the control last, with the lines that a
// reader would type for each.
func (p Plan) conditions(f *results.File, link *topology.Link) {
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

func (p Plan) budget() time.Duration {
	if p.Budget > 0 {
		return p.Budget
	}
	return seconds(p.Experiment.BudgetS)
}

func (p Plan) finish(f *results.File, raw map[string][]byte) *Made {
	f.Provenance.FinishedAt = p.clock.now().Truncate(time.Second)
	return &Made{f, raw}
}

// up makes the topology: as root where the design turns settings of its
// interfaces, which takes that.
func (p Plan) up() (*topology.Link, error) {
	x := p.Experiment
	turns := false
	for _, levels := range x.Conditions() {
		turns = turns || slices.ContainsFunc(p.knobs("", x.Fixed().With(levels)), func(k knob) bool { return k.inside })
	}
	return topology.Up(x.Topology, string(p.Root), scriptPath("wire.sh"), turns)
}

// What starting and stopping the servers of a group takes, and a client, with the
// calibration before and after; and what comes to each slot until it counts.
const (
	groupOverhead = 600 * time.Millisecond
	fillLoopback  = 15 * time.Millisecond
	fillWire      = 250 * time.Millisecond // a deep pipeline fills the shaper's queue first
)

func fills(wire bool) time.Duration {
	if wire {
		return fillWire
	}
	return fillLoopback
}

// BlockTime is about how long a block of an experiment takes.
func BlockTime(x *experiment.Experiment) time.Duration {
	fill := fills(x.Topology.Kind == "netns")
	slots := time.Duration(x.Block.Rounds) * (seconds(x.Block.SlotS) + fill)
	each := func(levels setting.Levels) time.Duration {
		took := seconds(x.Block.WarmupS) + slots
		if x.Profile != nil {
			took += Plan{Experiment: x}.profiledFor(levels)
		}
		return took
	}
	all, groups := x.Conditions(), x.Groups()
	total, control := time.Duration(0), time.Duration(0)
	for _, g := range groups {
		total += groupOverhead
		if experiment.AtOnce(x.Fixed().With(all[g[0]])) {
			total += each(all[g[0]]) // all of them, and the control if it is one of them
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

// scriptPath names a script from the repository's root, so that recorded
// command lines can be typed there.
func scriptPath(name string) string { return filepath.Join("lab", "scripts", name) }

// taken are the profiles of trials, by their place.
type taken map[int]*capture.Set
