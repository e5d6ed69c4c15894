package run

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// sound fails if a run's file could not be kept: it writes the file, reads it again, and checks it against its experiment.
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

// Whole runs of real servers take turns block by block, one of them over a wire, whose slots have the bytes that went
// over it. Between two blocks nothing is up, and both files pass Check after each.
func TestRunsTakeTurns(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	xs := []*experiment.Experiment{design{}.parse(t), design{topology: shaped}.parse(t)}
	var runs []*Run
	for _, x := range xs {
		if err := p.plan(x).Ready(); errors.As(err, new(Unable)) { // where there is no wire
			t.Log(err)
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, p.start(x))
	}
	for n := range 2 {
		for i, r := range runs {
			p.block(r)
			p.nothingRuns(t)
			sound(t, xs[i], r.File)
			pr := r.File.Provenance
			if pr.Blocks != n+1 || len(r.File.Trials) != 3*pr.Blocks || pr.CalibrationS <= 0 || pr.FinishedAt.Before(pr.StartedAt) ||
				len(pr.Commands) != i { // that which made the wire
				t.Errorf("%d trials, %+v", len(r.File.Trials), pr)
			}
		}
	}
	for i, r := range runs {
		for _, name := range []string{"fiber_server", "http_load", "lab"} {
			if r.File.Provenance.Binaries[name].SHA256 == "" {
				t.Errorf("nothing says which %s ran", name)
			}
		}
		for _, one := range r.File.Trials {
			m := one.Metrics
			if len(one.Slots) != 2 || m["requests"] == 0 || m["calibration_before_s"] <= 0 ||
				closed(one, gate.WrongAnswer, gate.Errors, gate.NoRequests, gate.Connections) {
				t.Errorf("%s in block %d: %q, %+v", one.Condition, one.Block, one.Reasons, m)
			}
			if wire := m["line_rate_share"] > 0 && m["wire_tx_packets_per_s"] > 0 && one.Slots[0].RxBytes > 0; wire != (i == 1) {
				t.Errorf("%s in block %d: over a wire %v, %v", one.Condition, one.Block, wire, m)
			}
		}
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
