package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/topology"
)

// A watching records a run's progress.
type watching struct {
	begun         string
	block, budget time.Duration
	turns         []string
	told          []int // number of trials in each block
}

func (w *watching) Begin(x *experiment.Experiment, block, budget time.Duration) {
	w.begun, w.block, w.budget = x.Name, block, budget
}
func (w *watching) Turn(block, group, groups int) {
	w.turns = append(w.turns, fmt.Sprintf("%d: %d of %d", block, group, groups))
}
func (w *watching) Block(_ *results.File, trials []results.Trial) {
	w.told = append(w.told, len(trials))
}

// A madeUp engine measures nothing: the outcome of each trial is given by its
// block and index, and all calibrations are equal. Each group takes ten seconds
// by the run's clock.
type madeUp struct {
	*engine
	watching
	kept      []results.File // copies of the file at each call of Keep
	sequences [][]int        // of all groups
}

const turnTakes = 10 * time.Second

func newMadeUp(t *testing.T, p Plan, outcome func(block, cond int) results.Trial) *madeUp {
	t.Helper()
	if p.Experiment == nil {
		p.Experiment = design{}.parse(t)
	}
	p.Host, p.clock, p.found = &host.Profile{ID: "here", Cores: 2}, newClock(), &host.Programs{}
	m := &madeUp{}
	if p.Keep == nil {
		p.Keep = func(made *Made) error {
			f := *made.File
			about := *f.Provenance
			f.Provenance, f.Trials = &about, slices.Clone(f.Trials)
			m.kept = append(m.kept, f)
			return nil
		}
	}
	f := p.file()
	link := &topology.Link{Host: "127.0.0.1"}
	p.conditions(f, link)
	m.engine = newEngine(p, link, f)
	m.loop = func([]int) (time.Duration, error) { return time.Microsecond, nil }
	m.turn = func(ctx context.Context, sequence []int) (measured, error) {
		m.sequences = append(m.sequences, sequence)
		m.plan.clock.began = m.plan.clock.began.Add(-turnTakes)
		if err := context.Cause(ctx); err != nil {
			return measured{}, err
		}
		var got measured
		for _, c := range experiment.Members(sequence) {
			one := outcome(m.file.Provenance.Blocks+1, c)
			one.Condition, one.Metrics = m.file.Conditions[c].ID, maps.Clone(one.Metrics)
			got.trials = append(got.trials, one)
		}
		return got, nil
	}
	return m
}

// all makes the whole run.
func (m *madeUp) all(t *testing.T) *results.File {
	t.Helper()
	made, err := m.blocks(t.Context(), &m.watching)
	if err != nil {
		t.Fatal(err)
	}
	return made.File
}

func good(rps float64) results.Trial {
	return results.Trial{Valid: true, Metrics: map[string]float64{"throughput_rps": rps}}
}

func bad(gates ...string) results.Trial {
	t := results.Trial{Metrics: map[string]float64{"throughput_rps": 1}}
	for _, g := range gates {
		t.Reasons = append(t.Reasons, results.Reason{Gate: g, Detail: "made up"})
	}
	return t
}

func always(t results.Trial) func(int, int) results.Trial {
	return func(int, int) results.Trial { return t }
}

// A run ends when more blocks would tell nothing more, its time is up, or it
// has as many blocks as allowed; it is kept after each block, with the reason
// for ending.
func TestARunEnds(t *testing.T) {
	after := func(n int) func(*results.File) bool {
		return func(f *results.File) bool { return f.Provenance.Blocks >= n }
	}
	for _, c := range []struct {
		name   string
		plan   Plan
		blocks int
		why    results.Ended
	}{
		{"decided", Plan{Decided: after(3), MaxBlocks: 9}, 3, results.Decided},
		{"decided with its last block", Plan{Decided: after(3), MaxBlocks: 3}, 3, results.Decided},
		{"as many blocks as were asked for", Plan{Decided: after(9), MaxBlocks: 4}, 4, results.Blocks},
		{"nobody decides", Plan{MaxBlocks: 2}, 2, results.Blocks},
		{"there is no time for another block", Plan{Budget: 3*turnTakes + turnTakes/2}, 3, results.Budget},
		{"there is time for not even one", Plan{Budget: 1}, 1, results.Budget},
		{"the experiment's budget", Plan{}, 59, results.Budget}, // 600 s, minus the test's own time
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMadeUp(t, c.plan, always(good(1)))
			f := m.all(t)
			if f.Provenance.Ended != c.why || f.Provenance.Blocks != c.blocks || len(f.Trials) != 3*c.blocks ||
				len(m.told) != c.blocks {
				t.Errorf("ended %q after %d blocks, %d trials, %d told of; want %q after %d", f.Provenance.Ended,
					f.Provenance.Blocks, len(f.Trials), len(m.told), c.why, c.blocks)
			}
			for i, k := range m.kept {
				if k.Provenance.Blocks != i+1 || len(k.Trials) != 3*(i+1) || (k.Provenance.Ended != "") != (i == c.blocks-1) {
					t.Errorf("kept after block %d: %d blocks, %d trials, ended %q", i+1, k.Provenance.Blocks, len(k.Trials),
						k.Provenance.Ended)
				}
			}
			if len(m.kept) != c.blocks {
				t.Errorf("kept %d times, want %d", len(m.kept), c.blocks)
			}
		})
	}
}

// A journal's file without room for another block gets none; a run outside of one goes on.
func TestAFullFileEndsTheRun(t *testing.T) {
	long := good(1)
	long.ClientThreads = slices.Repeat([]float64{0.01}, results.Longest/150)
	for root, blocks := range map[journal.Root]int{journal.Root(t.TempDir()): results.LeastBlocks, "": 20} {
		f := newMadeUp(t, Plan{Root: root, MaxBlocks: 20}, always(long)).all(t)
		if f.Provenance.Ended != results.Blocks || f.Provenance.Blocks != blocks {
			t.Errorf("in %q: ended %q after %d blocks, want %d", root, f.Provenance.Ended, f.Provenance.Blocks, blocks)
		}
	}
}

// A run whose blocks cannot be kept ends: they would be lost.
func TestARunThatCannotBeKeptEnds(t *testing.T) {
	full := errors.New("no space left")
	m := newMadeUp(t, Plan{Keep: func(*Made) error { return full }}, always(good(1)))
	if made, err := m.blocks(t.Context(), &m.watching); made != nil || !errors.Is(err, full) || len(m.told) != 1 {
		t.Errorf("%v, %v after %d blocks", made, err, len(m.told))
	}
}

// Every trial is in the file: the slowest, the invalid ones, and those beside
// them. None is repeated.
func TestNothingDropsTheWorst(t *testing.T) {
	outcomes := [][]results.Trial{{good(1000), good(0.001), bad(gate.Steal)},
		{bad(gate.LostWorker), good(2000), bad(gate.ServerExited)}}
	m := newMadeUp(t, Plan{MaxBlocks: 2}, func(block, cond int) results.Trial { return outcomes[block-1][cond] })
	f := m.all(t)
	if len(f.Trials) != 6 || len(m.sequences) != 2 {
		t.Fatalf("%d trials of %d turns", len(f.Trials), len(m.sequences))
	}
	for i, got := range f.Trials {
		want := outcomes[i/3][i%3]
		if got.Valid != want.Valid || !slices.Equal(gatesOf(got), gatesOf(want)) ||
			got.Metrics["throughput_rps"] != want.Metrics["throughput_rps"] {
			t.Errorf("trial %d: %+v, want %+v", i+1, got, want)
		}
	}
}

// A server that keeps failing ends the run, and a single valid trial shows that measuring is possible.
func TestWhatIsBrokenEndsTheRun(t *testing.T) {
	for _, c := range []struct {
		name    string
		outcome func(block, cond int) results.Trial
		blocks  int
	}{
		{"a server that dies", always(bad(gate.ServerExited)), giveUp},
		{"a trial that counts between", func(block, _ int) results.Trial {
			if block == 3 {
				return good(1)
			}
			return bad(gate.ServerExited)
		}, 3 + giveUp},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newMadeUp(t, Plan{}, c.outcome).all(t)
			p := f.Provenance
			if p.Ended != results.Failing || p.Blocks != c.blocks ||
				!strings.Contains(p.StoppedEarly, "blocks in a row had no valid trial; the last: made up") {
				t.Errorf("ended %q after %d blocks: %q; want failing after %d", p.Ended, p.Blocks, p.StoppedEarly, c.blocks)
			}
		})
	}
	// One condition that never works does not prevent measuring the others.
	f := newMadeUp(t, Plan{MaxBlocks: 12}, func(_, cond int) results.Trial {
		return []results.Trial{bad(gate.ServerExited), good(1), good(1)}[cond]
	}).all(t)
	if f.Provenance.Blocks != 12 || f.Provenance.StoppedEarly != "" {
		t.Errorf("%d blocks, %q", f.Provenance.Blocks, f.Provenance.StoppedEarly)
	}
}

// A client that cannot run here fails in each trial in the same way, and a file
// of such trials would say nothing about the server.
func TestAClientThatCannotRunLeavesNoFile(t *testing.T) {
	m := newMadeUp(t, Plan{}, always(bad(gate.ClientFailed)))
	if made, err := m.blocks(t.Context(), &m.watching); made != nil || err == nil ||
		!strings.Contains(err.Error(), "in each of the first 12 trials made up") {
		t.Errorf("%v, %v", made, err)
	}
	// One valid trial, or another failure, makes it a run that is kept.
	for _, first := range []results.Trial{good(1), bad(gate.ServerExited)} {
		m := newMadeUp(t, Plan{}, func(block, _ int) results.Trial {
			if block == 1 {
				return first
			}
			return bad(gate.ClientFailed)
		})
		if f := m.all(t); f.Provenance.Ended != results.Failing {
			t.Errorf("ended %q", f.Provenance.Ended)
		}
	}
}
