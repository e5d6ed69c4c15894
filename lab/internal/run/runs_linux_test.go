package run

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/check"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/wire/wiretest"
)

// sound fails if a run's file could not be kept: it writes the file, reads it
// again, and checks it against its experiment.
func sound(t *testing.T, x *experiment.Experiment, f *results.File) {
	t.Helper()
	text, err := results.Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	again := &results.File{}
	if err := results.Decode(text, again); err != nil {
		t.Fatalf("%v\n%.2000s", err, text)
	}
	if err := check.File(again, x); err != nil {
		t.Errorf("%v", err)
	}
}

// A whole run of real servers: two blocks of two routes and a control, each
// kept, in a file that passes Check.
func TestAWholeRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	x := design{}.parse(t)
	plan := p.plan(x)
	plan.Seed = 7
	var kept []int
	plan.Keep = func(m *Made) error {
		kept = append(kept, m.File.Provenance.Blocks)
		f := *m.File
		about := *f.Provenance
		if f.Provenance = &about; about.Ended == "" {
			about.Ended = results.Interrupted // as the recovery of a killed run would
		}
		sound(t, x, &f)
		return nil
	}
	plan.Decided = func(f *results.File) bool { return f.Provenance.Blocks == 2 }
	if err := plan.Ready(); err != nil {
		t.Fatal(err)
	}
	w := &watching{}
	made, err := Do(t.Context(), plan, w)
	if err != nil {
		t.Fatal(err)
	}
	f := made.File
	sound(t, x, f)
	if pr := f.Provenance; pr.Ended != results.Decided || pr.Blocks != 2 || len(f.Trials) != 6 || pr.CalibrationS <= 0 ||
		pr.FinishedAt.Before(pr.StartedAt) {
		t.Errorf("%d trials, %+v", len(f.Trials), pr)
	}
	for _, name := range []string{"fiber_server", "linerate", "lab"} {
		if f.Provenance.Binaries[name].SHA256 == "" {
			t.Errorf("nothing says which %s ran", name)
		}
	}
	if !slices.Equal(kept, []int{1, 2}) || w.begun != "x" || w.budget != 600*time.Second ||
		!slices.Equal(w.turns, []string{"1: 1 of 1", "2: 1 of 1"}) || !slices.Equal(w.told, []int{3, 3}) {
		t.Errorf("kept %v, told %+v", kept, w)
	}
	for _, one := range f.Trials {
		if len(one.Slots.AtS) != 2 || one.Metrics["requests"] == 0 || one.Metrics["calibration_before_s"] <= 0 {
			t.Errorf("%s in block %d: %+v", one.Condition, one.Block, one.Metrics)
		}
	}
	p.nothingRuns(t)
}

// Two runs take turns block by block, one of them over a wire. While one has its turn,
// nothing of the other is up; both files pass Check, though the blocks of each lie apart.
func TestRunsTakeTurns(t *testing.T) {
	t.Parallel()
	wiretest.NeedsWire(t)
	p := newPlace(t)
	xs := []*experiment.Experiment{design{}.parse(t), design{topology: shaped}.parse(t)}
	type turn struct {
		made *Made
		err  error
	}
	give, back := []chan results.Ended{make(chan results.Ended), make(chan results.Ended)}, make(chan turn)
	var order []string
	for i, x := range xs {
		plan := p.plan(x)
		plan.Turn = func() results.Ended {
			back <- turn{}
			return <-give[i]
		}
		plan.Keep = func(m *Made) error {
			order = append(order, fmt.Sprint(i, m.File.Provenance.Blocks))
			return nil
		}
		go func() {
			if why := <-give[i]; why != "" {
				panic(why)
			}
			made, err := Do(t.Context(), plan, &watching{})
			back <- turn{made, err}
		}()
	}
	for range 3 {
		for i := range xs {
			give[i] <- ""
			if got := <-back; got.err != nil || got.made != nil {
				t.Fatalf("run %d ended: %v", i, got.err)
			}
			p.nothingRuns(t)
		}
	}
	if want := []string{"0 1", "1 1", "0 2", "1 2", "0 3", "1 3"}; !slices.Equal(order, want) {
		t.Errorf("%v", order)
	}
	for i, x := range xs {
		give[i] <- results.Budget
		got := <-back
		if got.err != nil || got.made.File.Provenance.Ended != results.Budget || got.made.File.Provenance.Blocks != 3 {
			t.Fatalf("run %d: %v", i, got.err)
		}
		sound(t, x, got.made.File)
	}
	p.nothingRuns(t)
}

// A server that stalls has fewer slots, in a file that passes Check, and the
// servers beside it have all of theirs.
func TestARunWhoseServerStalls(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.faulty("half-of-its-length 100 1 /read") // few enough for a server that gets little of a core
	x := design{}.parse(t)
	plan := p.plan(x)
	plan.MaxBlocks = 1
	for experiment.DrawControl(2, plan.Seed) != 1 {
		plan.Seed++ // so that the control repeats the healthy route
	}
	made, err := Do(t.Context(), plan, &watching{})
	if err != nil {
		t.Fatal(err)
	}
	sound(t, x, made.File)
	for _, one := range made.File.Trials {
		if stalls := one.Condition == "c1"; stalls && (one.Valid || !closed(one, gate.Timeouts)) || !stalls &&
			(len(one.Slots.AtS) != 2 || closed(one, gate.Timeouts, gate.NoRequests)) {
			t.Errorf("%s: %q, %+v", one.Condition, one.Reasons, one.Slots)
		}
	}
}

// An interrupted run keeps its complete blocks, in a file that passes Check,
// and leaves nothing running.
func TestAnInterruptedRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	x := design{}.parse(t)
	why := errors.New("a signal came")
	for _, c := range []struct{ during, blocks int }{{1, 0}, {2, 1}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		w := &interrupting{p: p, during: c.during, then: func() { cancel(why) }}
		made, err := Do(ctx, p.plan(x), w)
		w.Wait()
		cancel(nil)
		if !errors.Is(err, why) {
			t.Fatalf("%v, want %v", err, why)
		}
		if (made != nil) != (c.blocks > 0) {
			t.Fatalf("interrupted in block %d: %+v", c.during, made)
		}
		if made != nil {
			sound(t, x, made.File)
			if pr := made.File.Provenance; pr.Ended != results.Interrupted || pr.Blocks != c.blocks ||
				len(made.File.Trials) != 3*c.blocks {
				t.Errorf("%d trials, %+v", len(made.File.Trials), pr)
			}
		}
		p.nothingRuns(t)
	}
}

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

// An interrupting watcher calls a function while a block's client is at work.
type interrupting struct {
	watching
	sync.WaitGroup
	p      place
	during int
	then   func()
}

func (w *interrupting) Turn(block, _, _ int) {
	if block == w.during {
		w.Go(func() {
			for end := time.Now().Add(time.Minute); len(w.p.children("linerate")) == 0 && time.Now().Before(end); {
				time.Sleep(5 * time.Millisecond)
			}
			w.then()
		})
	}
}

// What prevents the first trial gives one clear line and no run.
func TestWhatKeepsARunFromBeginning(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	x := design{}.parse(t)
	begin := func(t *testing.T, plan Plan) string {
		t.Helper()
		made, err := Do(t.Context(), plan, &watching{})
		if made != nil || err == nil || strings.Contains(err.Error(), "\n") {
			t.Fatalf("%+v, %v", made, err)
		}
		p.nothingRuns(t)
		return err.Error()
	}
	t.Run("a port in use", func(t *testing.T) {
		plan := p.plan(x)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", plan.Port+1))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if got, want := begin(t, plan), fmt.Sprintf("127.0.0.1:%d is already in use; stop what listens there, or choose "+
			"another with --port", plan.Port+1); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// If a program is replaced during a run, its figures would be of two programs:
// the run ends.
func TestAProgramThatIsReplaced(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	x := design{}.parse(t)
	for _, name := range []string{"linerate", "fiber_server"} {
		plan := p.plan(x)
		plan.Decided = func(*results.File) bool { return false }
		kept := 0
		plan.Keep = func(*Made) error { kept++; return nil }
		w := &replacing{p: p, name: name}
		made, err := Do(t.Context(), plan, w)
		if name == "fiber_server" && kept > 0 {
			t.Errorf("a block of two programs was kept")
		}
		if made != nil || err == nil || err.Error() != name+
			" was replaced during the run, so its figures are of two programs; run again and build nothing meanwhile" {
			t.Errorf("%+v, %v", made, err)
		}
		p.use(name)
		p.nothingRuns(t)
	}
}

// A replacing watcher builds another program after the first block, or before
// it.
type replacing struct {
	watching
	p    place
	name string
}

func (w *replacing) Turn(block, _, _ int) {
	if w.name == "fiber_server" && block == 1 { // its processes show it
		w.replace()
	}
}

func (w *replacing) Block(f *results.File, _ []results.Trial) {
	if w.name == "linerate" {
		w.replace()
	}
}

func (w *replacing) replace() {
	text, err := os.ReadFile(filepath.Join(w.p.built, w.name))
	if err != nil {
		w.p.t.Error(err)
	}
	w.p.without(w.name)
	if err := os.WriteFile(filepath.Join(w.p.root, ".tools", "bin", w.name), append(text, 0), 0o755); err != nil {
		w.p.t.Error(err)
	}
}

// A design that cannot be carried out here gives no file, and says so.
func TestADesignThatCannotBeCarriedOut(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	x := design{topology: `kind = "fleet"`}.parse(t)
	w := &watching{}
	made, err := Do(t.Context(), p.plan(x), w)
	if none, ok := errors.AsType[Unable](err); !ok || none.Why != "needs several machines" || made != nil || w.begun != "" {
		t.Errorf("%+v, %v, told %+v", made, err, w)
	}
	if err := p.plan(x).Ready(); err != nil {
		t.Errorf("it is asked for programs: %v", err)
	}
}
