package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

func TestMain(m *testing.M) {
	if root := os.Getenv(victimRoot); root != "" {
		victim(root)
	}
	os.Exit(alone(m))
}

// alone runs the tests where no comparison that goes on on this machine excludes their runs.
func alone(m *testing.M) int {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv("XDG_RUNTIME_DIR", dir)
	return m.Run()
}

// A workshop is a journal of two experiments, with a made-up machine that measures nothing: its runs hold
// made-up figures in the form that the engine gives.
type workshop struct {
	t    *testing.T
	root journal.Root
	log  string // where progress goes

	at    time.Time // the machine's clock
	seeds []uint64  // of the runs made so far
	order []string  // entries of the blocks made so far
	// seen is how many workers a trial counts; if it is nil, as many as were asked for.
	seen func(workers int64) float64
	// broken makes all trials invalid. fail is the number of a run's block that fails, from 1: by cancel if
	// that is set, otherwise with an error.
	broken bool
	fail   int
	cancel func()
}

const (
	counted = "97-counted"
	other   = "98-other"
)

func newWorkshop(t *testing.T) *workshop {
	t.Helper()
	w := &workshop{t: t, root: journal.Root(t.TempDir()), at: time.Now().Add(-24 * time.Hour).Truncate(time.Second)}
	w.log = filepath.Join(t.TempDir(), "log")
	w.write(w.root.Experiment(counted), archivetest.CountedDesign("97", true))
	w.write(w.root.Experiment(other), archivetest.CountedDesign("98", true))
	return w
}

func (w *workshop) write(path, text string) {
	w.t.Helper()
	archivetest.Write(w.t, path, text)
}

// session opens the journal again, as each call of the lab does.
func (w *workshop) session(o Options) *Session {
	w.t.Helper()
	j, faults, err := archive.Open(w.root)
	if err != nil || len(faults) > 0 {
		w.t.Fatal(err, faults)
	}
	log, err := os.OpenFile(w.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { log.Close() })
	line := cli.NewLine(log)
	line.Now = func() time.Time { return w.at }
	return &Session{Options: o, Line: line, j: j, profile: madeHost(j), self: "lab",
		here:  results.Provenance{Binaries: map[string]host.Binary{}},
		ready: func(run.Plan) error { return nil }, start: w.start, block: w.block,
		sleep: func(ctx context.Context, length time.Duration) error {
			w.at = w.at.Add(length)
			return ctx.Err()
		}}
}

// madeHost is the made-up machine, as the journal has it if it does.
func madeHost(j *archive.Journal) *host.Profile {
	if known, ok := j.Hosts["made-up"]; ok {
		return known
	}
	return &host.Profile{SchemaVersion: host.Version, ID: "made-up", Name: "a made-up machine", Arch: "amd64", CPU: "made up",
		Cores: 2, MemoryBytes: 1 << 30, Kernel: "6.1"}
}

// said returns the report since the last call.
func (w *workshop) said() string {
	w.t.Helper()
	text, err := os.ReadFile(w.log)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.Truncate(w.log, 0); err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

var errBroken = errors.New("a cable was pulled")

// start begins a run, as package run does.
func (w *workshop) start(p run.Plan) (*run.Run, error) {
	w.seeds = append(w.seeds, p.Seed)
	f := madeup.Run(madeup.Plan{Experiment: p.Experiment, Host: p.Host.ID, Started: w.at, Seed: p.Seed})
	f.Provenance.Ended, f.Provenance.BudgetS, f.Trials = "", p.Budget.Seconds(), []results.Trial{}
	return &run.Run{Plan: p, File: f}, nil
}

// block adds a made-up block, of four seconds if a slot has one.
func (w *workshop) block(r *run.Run, ctx context.Context) ([]results.Trial, error) {
	f, p := r.File, r.File.Provenance
	if ctx.Err() == nil && p.Blocks+1 == w.fail {
		if w.cancel == nil {
			return nil, errBroken
		}
		w.cancel()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	p.Blocks++
	w.order = append(w.order, r.Experiment.Entry)
	first := len(f.Trials)
	for _, sequence := range experiment.DrawBlock(f.Groups(), 1, p.Seed, p.Blocks) {
		c := f.Conditions[sequence[0]]
		t := results.Trial{Seq: len(f.Trials) + 1, Block: p.Blocks, Condition: c.ID, StartedAt: w.at, Valid: !w.broken,
			Bound: gate.BoundUnknown, Metrics: map[string]float64{"requests": 100, "duration_s": p.Block.SlotS, "throughput_rps": 100}}
		n, _ := c.Levels[setting.Workers].Int()
		t.Metrics["workers"] = float64(n)
		if w.seen != nil {
			t.Metrics["workers"] = w.seen(n)
		}
		if w.broken {
			t.Metrics = nil
			t.Reasons = []results.Reason{{Gate: gate.ServerExited, Detail: "the server exited in mid-trial"}}
		}
		f.Trials = append(f.Trials, t)
		w.at = w.at.Add(time.Duration(p.Block.SlotS * float64(time.Second)))
	}
	w.at = w.at.Add(time.Second)
	p.FinishedAt = w.at
	return f.Trials[first:], nil
}

// inOrder opens the journal as lab check does, and returns its runs.
func (w *workshop) inOrder() []*results.File {
	w.t.Helper()
	j, faults, err := archive.Open(w.root)
	if err != nil || len(faults) > 0 {
		w.t.Fatal(err, faults)
	}
	if left, _ := os.ReadDir(w.root.Staged()); len(left) > 0 {
		w.t.Errorf("half written: %v", left)
	}
	return j.Runs
}

// measure is a call of the lab that measures the first n experiments.
func (w *workshop) measure(ctx context.Context, n int, o Options) (held bool, out string, err error) {
	w.t.Helper()
	o.Budget = cmp.Or(o.Budget, 10*time.Minute)
	s := w.session(o)
	var text bytes.Buffer
	held, err = s.Measure(ctx, s.j.Experiments[:n], &text)
	return held, text.String(), err
}

// made fails unless the journal has runs of so many blocks.
func (w *workshop) made(want ...int) []*results.File {
	w.t.Helper()
	runs := w.inOrder()
	if got := strict.Map(runs, func(f *results.File) int { return f.Provenance.Blocks }); !slices.Equal(got, want) {
		w.t.Fatalf("runs of %v blocks, want %v", got, want)
	}
	return runs
}

// has fails unless a text has all parts.
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}
