// Package run carries out an experiment: it makes the topology, and for each
// trial starts the server, loads it, watches both, and decides whether the
// trial counts.
//
// Its stance: a trial is fresh (its own server process), blocked (every
// condition once a block, in an order drawn from a recorded seed), and judged
// by gates that never look at how fast it was. Invalid trials stay in the
// file; a bounded number of them is repeated within their block.
//
// Its limit: one machine, one client. Several hosts are not driven from here.
package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/provenance"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/topology"
)

// A Plan is one run to be made.
type Plan struct {
	Root       journal.Root
	Experiment *experiment.Experiment
	Size       string
	Seed       uint64
	Port       int
	Split      cores.Split
	Host       *host.Profile
}

// A Watcher is told how a run goes on.
type Watcher interface {
	// Begin names the run and how many trials are planned, of about how long.
	Begin(x *experiment.Experiment, size string, trials int, each time.Duration)
	// Trial is called before each trial.
	Trial(seq, block int, levels setting.Levels)
	// Result is called after each trial.
	Result(t results.Trial)
}

// A slot is one trial to be made.
type slot struct {
	block int
	cond  int
}

// order draws the order of trials: in each block every condition once.
func order(conditions, blocks int, seed uint64) []slot {
	r := rand.New(rand.NewPCG(seed, 0))
	var out []slot
	for b := 1; b <= blocks; b++ {
		for _, c := range r.Perm(conditions) {
			out = append(out, slot{b, c})
		}
	}
	return out
}

// Do makes the run. An error means that there is nothing to write: a run that
// was interrupted, or could not begin. What goes wrong within a trial is in
// the trial.
func Do(ctx context.Context, p Plan, w Watcher) (*results.File, error) {
	x := p.Experiment
	size := x.Sizes[p.Size]
	f := &results.File{
		SchemaVersion: results.Version, Experiment: x.Name, Source: results.Measured,
		Hosts:    results.Hosts{Server: p.Host.ID, Client: p.Host.ID},
		Topology: results.Topology(x.Topology),
		Settings: x.Fixed(), Conditions: []results.Condition{}, Trials: []results.Trial{},
	}
	tools := provenance.Tools(string(p.Root))
	commit, dirty := provenance.Commit(string(p.Root))
	f.Provenance = &results.Provenance{
		StartedAt: time.Now().UTC().Truncate(time.Second), Commit: commit, Dirty: dirty,
		ExperimentSHA256: x.SHA256, Size: p.Size, Blocks: size.Blocks, WarmupS: size.WarmupS, DurationS: size.DurationS,
		Seed: p.Seed, Generator: strings.TrimSpace("autocannon " + tools["autocannon"]),
		ServerCPUs: cores.Format(p.Split.Server), ClientCPUs: cores.Format(p.Split.Client),
		Tools: tools, Kernel: provenance.Kernel(),
	}
	f.Run = f.Provenance.StartedAt.Format("20060102t150405z") + "-" + p.Host.ID
	finish := func() (*results.File, error) {
		f.Provenance.FinishedAt = time.Now().UTC().Truncate(time.Second)
		return f, nil
	}

	link, err := topology.Up(x.Topology, string(p.Root), scriptPath("wire.sh"))
	var unavailable topology.Unavailable
	if errors.As(err, &unavailable) {
		f.NotApplicable = fmt.Sprintf("no %s topology here: %s", x.Topology.Kind, unavailable.Why)
		w.Begin(x, p.Size, 0, 0)
		return finish()
	}
	if err != nil {
		return nil, err
	}
	defer link.Down()
	if link.Command != "" {
		f.Provenance.Commands = []string{link.Command}
	}

	for i, levels := range x.Conditions() {
		l := p.load(link, x.Fixed().With(levels))
		f.Conditions = append(f.Conditions, results.Condition{
			ID: fmt.Sprintf("c%d", i+1), Levels: levels, Commands: l.commands(),
		})
	}
	todo := order(len(f.Conditions), size.Blocks, p.Seed)
	w.Begin(x, p.Size, len(todo), estimate(size))
	repeats, deaths := size.Repeats, 0
	for len(todo) > 0 {
		s := todo[0]
		todo = todo[1:]
		cond := f.Conditions[s.cond]
		w.Trial(len(f.Trials)+1, s.block, cond.Levels)
		t, err := p.load(link, x.Fixed().With(cond.Levels)).trial(ctx)
		if err != nil {
			return nil, err
		}
		t.Seq, t.Block, t.Condition = len(f.Trials)+1, s.block, cond.ID
		f.Trials = append(f.Trials, t)
		w.Result(t)
		if t.Valid {
			deaths = 0
			continue
		}
		if deaths++; deaths == giveUp {
			f.Provenance.StoppedEarly = fmt.Sprintf("%d trials in a row were invalid, the last: %s", giveUp, t.Reasons[0].Detail)
			break
		}
		if repeats > 0 && passing(t) {
			repeats--
			todo = after(todo, s)
		}
	}
	return finish()
}

// giveUp is how many invalid trials in a row end a run: what fails like that
// is broken, and more of it would only take longer.
const giveUp = 4

// passing tells whether a trial is invalid only for what may be the machine's
// passing weather. A server that died or answered wrongly is not: repeating it
// would hide it.
func passing(t results.Trial) bool {
	for _, r := range t.Reasons {
		switch r.Gate {
		case gateErrors, gateTimeouts, gateResets, gateNoTelemetry:
		default:
			return false
		}
	}
	return true
}

// after puts a slot behind the rest of its block.
func after(todo []slot, s slot) []slot {
	i := 0
	for i < len(todo) && todo[i].block == s.block {
		i++
	}
	return append(append(append([]slot{}, todo[:i]...), s), todo[i:]...)
}

// overhead is about what starting and stopping server and client takes.
const overhead = 700 * time.Millisecond

func estimate(s experiment.Size) time.Duration {
	return overhead + time.Duration((s.WarmupS+s.DurationS)*float64(time.Second))
}

// Estimate is about how long a run takes.
func Estimate(x *experiment.Experiment, size string) time.Duration {
	s := x.Sizes[size]
	return time.Duration(s.Blocks*len(x.Conditions())) * estimate(s)
}

// scriptPath names a script from the repository's root, so that recorded
// command lines can be typed there.
func scriptPath(name string) string { return filepath.Join("lab", "scripts", name) }
