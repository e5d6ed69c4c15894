package run

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// An engine is a run in progress.
type engine struct {
	plan         Plan
	link         measure.Link
	file         *results.File
	groups       [][]int
	deaths       int           // blocks in a row without a valid trial
	fastest      time.Duration // fastest calibration of the run
	taken        taken
	away         time.Duration  // spent on other runs' turns
	failedGauges map[string]int // by server
}

// measured is what a group of conditions gave: a trial for each, and profiles
// where they were taken.
type measured struct {
	trials   []results.Trial // by index of condition
	profiles taken           // by index into trials
}

func newEngine(p Plan, link measure.Link, f *results.File) *engine {
	return &engine{plan: p, link: link, file: f, groups: f.Groups(), taken: taken{}, failedGauges: map[string]int{}}
}

// giveUp is how many blocks in a row without a valid trial end a run: whatever
// fails so often is broken, and trying longer would not help.
const giveUp = 4

// blocks measures blocks until more would tell nothing more, or the budget is
// spent.
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
		if p.Turn == nil {
			continue
		}
		if f.Provenance.Ended, err = e.rest(); err != nil {
			return e.interrupted(ctx, err)
		}
		if f.Provenance.Ended != "" {
			return made, nil
		}
	}
}

// rest takes down what the run has up until it is its turn again. A wire is made
// anew.
func (e *engine) rest() (results.Ended, error) {
	left := e.plan.clock.Passed()
	e.link.Down()
	ended := e.plan.Turn()
	e.away += e.plan.clock.Passed() - left
	if ended != "" || !e.plan.onWire() {
		return ended, nil
	}
	link, err := e.plan.up()
	if err == nil {
		e.link = link
	}
	return "", err
}

// made is the run as it stands now.
func (e *engine) made() (*Made, error) {
	raw, err := e.raw()
	if err != nil {
		return nil, err
	}
	return e.plan.finish(e.file, raw), nil
}

// interrupted gives what is left of a run that cannot go on: the complete
// blocks of an interrupted run, nothing of a failed one.
func (e *engine) interrupted(ctx context.Context, err error) (*Made, error) {
	if ctx.Err() == nil || e.file.Provenance.Blocks == 0 {
		return nil, err
	}
	e.file.Provenance.Ended = results.Interrupted
	made, failed := e.made()
	return made, joinOnOneLine(err, failed)
}

// ended says why no further block is measured; empty to go on.
func (e *engine) ended() results.Ended {
	p, f := e.plan, e.file
	took := p.clock.Passed() - e.away
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

// broken says why a run should stop after too many blocks in a row without a
// valid trial; empty to go on. An error means that the run has nothing worth
// keeping.
func (e *engine) broken(trials []results.Trial) (string, error) {
	for _, t := range trials {
		if t.Valid {
			e.deaths = 0
			return "", nil
		}
	}
	if e.deaths++; e.deaths < giveUp {
		return "", nil
	}
	last := trials[len(trials)-1].Reasons[0].Detail
	if alike(e.file.Trials, gate.ClientFailed) {
		return "", fmt.Errorf("nothing was measured: in each of the first %d trials %s", len(e.file.Trials), last)
	}
	return fmt.Sprintf("%d blocks in a row had no valid trial; the last: %s", e.deaths, last), nil
}

// block measures one block: each group of conditions that can be up together,
// in the order drawn. The trials are added to the file once all of them are
// there.
func (e *engine) block(ctx context.Context, block int, w Watcher) ([]results.Trial, error) {
	var trials []results.Trial
	kept := taken{}
	sequences := experiment.DrawBlock(e.groups, e.file.Provenance.Block.Rounds, e.plan.Seed, block)
	for i, sequence := range sequences {
		w.Turn(block, i+1, len(sequences))
		m, err := e.calibrated(ctx, sequence)
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
	maps.Copy(e.taken, kept)
	e.file.Trials = append(e.file.Trials, trials...)
	return trials, nil
}
