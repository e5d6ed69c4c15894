package run

import (
	"context"
	"fmt"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/topology"
)

// An engine is a run under way.
type engine struct {
	plan    Plan
	link    *topology.Link
	file    *results.File
	groups  [][]int
	deaths  int           // blocks in a row without a valid trial
	spare   int           // loops that are left for waiting
	fastest time.Duration // calibration of the run
	taken   taken

	// What measures: the calibration loop, and a group of conditions. They are
	// here so that what an engine decides can be tested without measuring.
	pause time.Duration // before a slow core is looked at again
	loop  func(cpus []int) (time.Duration, error)
	turn  func(ctx context.Context, sequence []int) (measured, error)
}

// measured is what a group of conditions gave: a trial each, and profiles where
// they were taken.
type measured struct {
	trials   []results.Trial // in the order of their conditions
	profiles taken           // by the trial's place among these
}

func newEngine(p Plan, link *topology.Link, f *results.File) *engine {
	e := &engine{plan: p, link: link, file: f, groups: f.Groups(), spare: loopsSpare, taken: taken{}, pause: loopPause, loop: cores.TimeLoop}
	e.turn = e.group
	return e
}

// giveUp is how many blocks in a row without a valid trial end a run: what fails
// like that is broken, and more of it would only take longer. Weather may last
// twice as long.
const giveUp = 4

// blocks makes blocks until more would not tell more, or the budget is spent.
func (e *engine) blocks(ctx context.Context, w Watcher) (*Made, error) {
	p, f := e.plan, e.file
	for block := 1; ; block++ {
		trials, err := e.block(ctx, block, w)
		if err != nil {
			return e.interrupted(ctx, err)
		}
		f.Provenance.Blocks = block
		f.Provenance.CalibrationS = e.fastest.Seconds()
		if f.Provenance.StoppedEarly, err = e.broken(trials); err != nil {
			return nil, err
		}
		f.Provenance.Ended = e.ended()
		w.Block(f, trials)
		if err := p.found.Changed(); err != nil {
			return nil, err
		}
		made, err := e.made()
		if err != nil {
			return nil, err
		}
		if p.Keep != nil {
			if err := p.Keep(made); err != nil {
				return nil, err
			}
		}
		if f.Provenance.Ended != "" {
			return made, nil
		}
	}
}

// made is the run as it stands.
func (e *engine) made() (*Made, error) {
	raw, err := e.raw()
	if err != nil {
		return nil, err
	}
	return e.plan.finish(e.file, raw), nil
}

// interrupted gives the run that is there when it cannot go on: of an interrupted
// one the complete blocks, and of one that failed nothing.
func (e *engine) interrupted(ctx context.Context, err error) (*Made, error) {
	if ctx.Err() == nil || e.file.Provenance.Blocks == 0 {
		return nil, err
	}
	e.file.Provenance.Ended = results.Interrupted
	made, failed := e.made()
	return made, also(err, failed)
}

// ended says why no further block is made; empty where one is.
func (e *engine) ended() results.Ended {
	p, f := e.plan, e.file
	took := p.clock.now().Sub(p.clock.began)
	n := f.Provenance.Blocks
	switch {
	case f.Provenance.StoppedEarly != "":
		return results.Failing
	case p.Decided != nil && p.Decided(f):
		return results.Decided
	case f.Full(), p.MaxBlocks > 0 && n >= p.MaxBlocks:
		return results.Blocks
	case took+took/time.Duration(n) > p.budget():
		return results.Budget
	}
	return ""
}

// broken says why a run cannot go on that had no valid trial for too long. An
// error means that it has nothing to keep.
func (e *engine) broken(trials []results.Trial) (string, error) {
	limit := 2 * giveUp
	for _, t := range trials {
		if t.Valid {
			e.deaths = 0
			return "", nil
		}
		if !weather(t) {
			limit = giveUp
		}
	}
	if e.deaths++; e.deaths < limit {
		return "", nil
	}
	last := trials[len(trials)-1].Reasons[0].Detail
	if alike(e.file.Trials, gate.ClientFailed) {
		return "", fmt.Errorf("nothing was measured: in each of the first %d trials %s", len(e.file.Trials), last)
	}
	return fmt.Sprintf("%d blocks in a row had no valid trial; the last: %s", e.deaths, last), nil
}

// block makes one block: each group of conditions that can be up together, in the
// order drawn. The trials are added to the file when all of them are there.
func (e *engine) block(ctx context.Context, block int, w Watcher) ([]results.Trial, error) {
	var trials []results.Trial
	kept := taken{}
	var best time.Duration // calibration of the block
	sequences := experiment.DrawBlock(e.groups, e.file.Provenance.Block.Rounds, e.plan.Seed, block)
	for i, sequence := range sequences {
		w.Turn(block, i+1, len(sequences))
		m, err := e.calibrated(ctx, sequence, &best)
		if err != nil {
			return nil, err
		}
		for i, t := range m.trials {
			t.Block, t.Seq = block, len(e.file.Trials)+len(trials)+1
			if set := m.profiles[i]; set != nil {
				kept[t.Seq] = set
			}
			trials = append(trials, t)
		}
	}
	for i := range trials {
		slow(&trials[i], best) // known only now: a later group may have been the faster
	}
	for seq, set := range kept {
		e.taken[seq] = set
	}
	e.file.Trials = append(e.file.Trials, trials...)
	return trials, nil
}
