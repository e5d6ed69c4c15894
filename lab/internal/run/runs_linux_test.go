package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// sound fails if a run's file could not be kept as it is: it writes the file, reads it again, and checks it
// against its experiment.
func sound(t *testing.T, x *experiment.Experiment, f *results.File) {
	t.Helper()
	whole, about := *f, *f.Provenance
	whole.Provenance, about.Ended = &about, results.Interrupted
	text, err := results.Encode(&whole)
	if err != nil {
		t.Fatal(err)
	}
	again := &results.File{}
	if err := results.Decode(text, again); err != nil {
		t.Fatalf("%v\n%.2000s", err, text)
	}
	if err := again.Check(x); err != nil {
		t.Errorf("%v", err)
	}
}

// whileLoaded does something as soon as a client is at work here. The channel is closed then.
func (p place) whileLoaded(do func()) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		defer close(done)
		for end := time.Now().Add(time.Minute); len(p.children("http_load")) == 0 && time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond)
		}
		do()
	}()
	return done
}

// Whole runs of real servers take turns block by block, one of them over a wire. While one has its turn,
// nothing of the other is up; both files pass Check after each block, though the blocks of each lie apart.
func TestRunsTakeTurns(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	xs := []*experiment.Experiment{design{}.parse(t), design{topology: shaped}.parse(t)}
	var runs []*Run
	for _, x := range xs {
		if err := p.plan(x).Ready(); errors.As(err, new(Unable)) { // where no wire can be made
			t.Log(err)
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, p.start(x))
	}
	for n := range 3 {
		for i, r := range runs {
			if trials := p.block(r); len(trials) != 3 {
				t.Errorf("%d trials", len(trials))
			}
			p.nothingRuns(t)
			sound(t, xs[i], r.File)
			pr := r.File.Provenance
			if pr.Blocks != n+1 || len(r.File.Trials) != 3*pr.Blocks || pr.CalibrationS <= 0 || pr.FinishedAt.Before(pr.StartedAt) {
				t.Errorf("%d trials, %+v", len(r.File.Trials), pr)
			}
		}
	}
	for _, r := range runs {
		for _, name := range []string{"fiber_server", "http_load", "lab"} {
			if r.File.Provenance.Binaries[name].SHA256 == "" {
				t.Errorf("nothing says which %s ran", name)
			}
		}
		for _, one := range r.File.Trials {
			if len(one.Slots) != 2 || one.Metrics["requests"] == 0 || one.Metrics["calibration_before_s"] <= 0 {
				t.Errorf("%s in block %d: %+v", one.Condition, one.Block, one.Metrics)
			}
		}
	}
}

// A server that stalls has fewer slots, in a file that passes Check, and the servers beside it have all of
// theirs.
func TestARunWhoseServerStalls(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.faulty("half-of-its-length 100 1 /read") // few enough for a server that gets little of a core
	x := design{}.parse(t)
	plan := p.plan(x)
	for experiment.DrawControl(2, plan.Seed) != 1 {
		plan.Seed++ // so that the control repeats the healthy route
	}
	r, err := Start(plan)
	if err != nil {
		t.Fatal(err)
	}
	trials := p.block(r)
	sound(t, x, r.File)
	for _, one := range trials {
		if stalls := one.Condition == "c1"; stalls && (one.Valid || !closed(one, gate.Errors)) || !stalls &&
			(len(one.Slots) != 2 || closed(one, gate.Errors, gate.NoRequests)) {
			t.Errorf("%s: %q, %+v", one.Condition, one.Reasons, one.Slots)
		}
	}
}

// An interrupted run has its complete blocks, in a file that passes Check, and leaves nothing running.
func TestAnInterruptedRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	x := design{}.parse(t)
	why := errors.New("a signal came")
	for blocks := range 2 {
		r := p.start(x)
		for range blocks {
			p.block(r)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		interrupted := p.whileLoaded(func() { cancel(why) })
		if _, err := r.Block(ctx); !errors.Is(err, why) {
			t.Fatalf("%v, want %v", err, why)
		}
		<-interrupted
		if pr := r.File.Provenance; pr.Blocks != blocks || len(r.File.Trials) != 3*blocks {
			t.Errorf("%d trials, %+v", len(r.File.Trials), pr)
		}
		if blocks > 0 {
			sound(t, x, r.File)
		}
		p.nothingRuns(t)
	}
}

// A run of which nothing but failures comes ends.
func TestARunThatFailsIsGivenUp(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.faulty("half")
	r := p.start(design{}.parse(t))
	for n := range giveUp {
		p.block(r)
		if early := r.File.Provenance.StoppedEarly; (early != "") != (n == giveUp-1) || early != "" &&
			!strings.HasPrefix(early, "4 blocks in a row had no valid trial; the last: ") {
			t.Errorf("after block %d: %q", n+1, early)
		}
	}
}

// A design that cannot be carried out here gives no run, and says so.
func TestADesignThatCannotBeCarriedOut(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	pieces := inPieces // only the lab's own generator reads a wire's shapers
	pieces.topology = shaped
	for says, d := range map[string]design{"needs several machines": {topology: `kind = "fleet"`},
		"between the slots of http_load": pieces} {
		if err := p.plan(d.parse(t)).Ready(); !errors.As(err, new(Unable)) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

// A machine that lacks one of three servers measures the two others, in a file that says so.
func TestARunLeavesOutAServerThatIsNotThere(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	more := ""
	for _, name := range []string{"first", "second", "third"} {
		more += fmt.Sprintf("[servers.%s]\ncommand = \"%s {addr} plain\"\nenv = { %s = \"{addr}\" }\n", name, os.Args[0], foreign)
		if name == "second" {
			more += "needs = [\"a-tool-of-nowhere\"]\n"
		}
	}
	x := design{settings: "generator = \"http_load\"\nconnections = 4\nroute = \"/any/path\"", factor: "server",
		levels: `["first", "second", "third"]`, more: more}.parse(t)
	if err := p.plan(x).Ready(); err != nil {
		t.Fatal(err)
	}
	r := p.start(x)
	p.block(r)
	sound(t, x, r.File)
	left := r.File.Provenance.LeftOut
	if len(left) != 1 || left[0].Levels[setting.Server] != setting.String("second") || !strings.Contains(left[0].Why, "a-tool-of-nowhere") {
		t.Errorf("left out: %v", left)
	}
	for i, want := range []string{"first", "third"} {
		if got := r.File.Conditions[i].Levels[setting.Server]; got != setting.String(want) || r.File.Conditions[2].ControlOf == "" {
			t.Errorf("measured %s, want %s", got, want)
		}
	}
}
