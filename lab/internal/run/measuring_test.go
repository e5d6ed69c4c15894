package run

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/topology"
)

// nobody is told how a run goes on.
type nobody struct{}

func (nobody) Begin(*experiment.Experiment, string, int, time.Duration) {}
func (nobody) Trial(int, int, setting.Levels)                           {}
func (nobody) Result(results.Trial)                                     {}

// script is a measuring whose trials and calibrations are made up: each trial
// takes the next of the outcomes, valid ones with that throughput, and each
// calibration the next of the speeds, the last of which goes on for ever.
func script(t *testing.T, repeats int, outcomes []results.Trial, speeds ...time.Duration) (*measuring, *int) {
	t.Helper()
	x, err := experiment.Parse("x", []byte(strings.Replace(design, "%PREFORK%", "true", 1)))
	if err != nil {
		t.Fatal(err)
	}
	m := &measuring{
		plan: Plan{Experiment: x, Size: "smoke", Port: 1}, link: &topology.Link{Host: "127.0.0.1"}, watcher: nobody{}, repeats: repeats, spare: loopsSpare,
		file: &results.File{Provenance: &results.Provenance{}, Conditions: []results.Condition{{ID: "c1"}, {ID: "c2"}}},
	}
	made := 0
	m.trial = func(load, context.Context) (results.Trial, error) {
		if made == len(outcomes) {
			t.Fatalf("a trial too many: %d", made+1)
		}
		one := outcomes[made]
		one.Metrics = map[string]float64{"throughput_rps": one.Metrics["throughput_rps"]}
		made++
		return one, nil
	}
	m.loop = func([]int) (time.Duration, error) {
		v := speeds[0]
		if len(speeds) > 1 {
			speeds = speeds[1:]
		}
		return v, nil
	}
	return m, &made
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

var four = []slot{{1, 0}, {1, 1}, {2, 0}, {2, 1}}

// Every trial that was made is in the file, in order: the slowest, the
// invalid, and those that were repeated.
func TestNothingDropsTheWorst(t *testing.T) {
	outcomes := []results.Trial{good(1000), good(0.001), bad(gate.Steal), good(2000), bad(gate.LostWorker)}
	m, made := script(t, 5, outcomes, time.Microsecond)
	if err := m.trials(context.Background(), four); err != nil {
		t.Fatal(err)
	}
	if *made != len(outcomes) || len(m.file.Trials) != len(outcomes) {
		t.Fatalf("%d trials made, %d kept, want %d", *made, len(m.file.Trials), len(outcomes))
	}
	for i, got := range m.file.Trials {
		want := outcomes[i]
		if got.Seq != i+1 || got.Valid != want.Valid || len(got.Reasons) != len(want.Reasons) || got.Metrics["throughput_rps"] != want.Metrics["throughput_rps"] {
			t.Errorf("trial %d: %+v, want %+v", i+1, got, want)
		}
	}
	// The stolen trial came again in its block; the lost worker's did not.
	at := ""
	for _, got := range m.file.Trials {
		at += fmt.Sprintf("%d%s ", got.Block, got.Condition)
	}
	if want := "1c1 1c2 2c1 2c2 2c1 "; at != want {
		t.Errorf("order %q, want %q", at, want)
	}
}

func TestRepeatsAreBounded(t *testing.T) {
	m, made := script(t, 2, []results.Trial{bad(gate.Steal), good(1), bad(gate.Steal), bad(gate.Steal), good(1), good(1)}, time.Microsecond)
	if err := m.trials(context.Background(), four); err != nil {
		t.Fatal(err)
	}
	if *made != 6 || m.repeats != 0 {
		t.Errorf("%d trials, %d repeats left", *made, m.repeats)
	}
}

func TestWhatIsBrokenEndsTheRun(t *testing.T) {
	var all []results.Trial
	for range giveUp {
		all = append(all, bad(gate.ServerExited))
	}
	m, _ := script(t, 9, all, time.Microsecond)
	if err := m.trials(context.Background(), append(four, four...)); err != nil {
		t.Fatal(err)
	}
	if m.file.Provenance.StoppedEarly == "" {
		t.Error("nothing says that the run ended early")
	}
}

// A client that cannot run here fails in each trial alike, and a file of such
// trials would say nothing of the server.
func TestAClientThatCannotRunLeavesNoFile(t *testing.T) {
	var all []results.Trial
	for range giveUp {
		all = append(all, bad(gate.ClientFailed))
	}
	m, _ := script(t, 9, all, time.Microsecond)
	if err := m.trials(context.Background(), append(four, four...)); err == nil || !strings.Contains(err.Error(), "in each of the first 4 trials made up") {
		t.Errorf("%v", err)
	}
	// One that answered once is another matter, and so is one that failed otherwise.
	for _, first := range []results.Trial{good(1), bad(gate.ServerExited)} {
		m, _ := script(t, 9, append([]results.Trial{first}, all...), time.Microsecond)
		if err := m.trials(context.Background(), append(four, four...)); err != nil || m.file.Provenance.StoppedEarly == "" {
			t.Errorf("%v, stopped early %q", err, m.file.Provenance.StoppedEarly)
		}
	}
}

func TestASlowCoreIsWaitedFor(t *testing.T) {
	fast, slow := time.Microsecond, 2*time.Microsecond
	m, _ := script(t, 0, []results.Trial{good(1)}, slow, slow, fast)
	m.reference = fast
	if err := m.trials(context.Background(), four[:1]); err != nil {
		t.Fatal(err)
	}
	if got := m.file.Trials[0]; !got.Valid || got.Metrics["calibration_before_s"] != fast.Seconds() || got.Metrics["calibration_after_s"] != fast.Seconds() {
		t.Errorf("%+v", got)
	}
	// Not for ever: a trial on a core that stays slow is made, and counts for nothing.
	m, _ = script(t, 0, []results.Trial{good(1)}, slow)
	m.reference = fast
	if err := m.trials(context.Background(), four[:1]); err != nil || m.file.Trials[0].Valid {
		t.Errorf("%v, %+v", err, m.file.Trials)
	}
}

// One that flickers shows its full speed soon, and the trial stands.
func TestACoreThatFlickersIsNotSlow(t *testing.T) {
	fast, slow := time.Microsecond, 2*time.Microsecond
	m, _ := script(t, 0, []results.Trial{good(1)}, fast, slow, slow, slow, fast)
	m.reference = fast
	if err := m.trials(context.Background(), four[:1]); err != nil || !m.file.Trials[0].Valid {
		t.Errorf("%v, %+v", err, m.file.Trials)
	}
}

// Waiting is bounded for the run as well as for a trial.
func TestWaitingForACoreIsBounded(t *testing.T) {
	fast, slow := time.Microsecond, 2*time.Microsecond
	m, _ := script(t, 0, nil, slow)
	m.reference = fast
	for range loopsSpare {
		if seen, err := m.speed(context.Background(), loopsBefore); err != nil || seen != slow {
			t.Fatalf("%v, %v", seen, err)
		}
	}
	if m.spare != 0 {
		t.Errorf("%d loops left", m.spare)
	}
}

func TestATrialOnASlowCoreIsInvalid(t *testing.T) {
	fast, slow := time.Microsecond, 2*time.Microsecond
	speeds := []time.Duration{fast}
	for range loopsAfter {
		speeds = append(speeds, slow)
	}
	m, made := script(t, 1, []results.Trial{good(9), good(1)}, append(speeds, fast)...)
	m.reference = fast
	if err := m.trials(context.Background(), four[:1]); err != nil {
		t.Fatal(err)
	}
	ts := m.file.Trials
	if *made != 2 || ts[0].Valid || ts[0].Reasons[0].Gate != gate.SlowCore || !ts[1].Valid {
		t.Errorf("%d trials: %+v", *made, ts)
	}
}

// The core's full speed may show only later: earlier trials are then held
// against that too. Their blocks are over by then, and a trial that was made
// again at the end would not be of its block: a whole block is made.
func TestAFasterPassHoldsBackwards(t *testing.T) {
	slow, fast := 2*time.Microsecond, time.Microsecond
	for _, c := range []struct {
		repeats, blocks, left int
	}{{0, 2, 0}, {1, 2, 1}, {2, 3, 0}, {5, 3, 3}} {
		outcomes := []results.Trial{good(1), good(1), good(1), good(1), good(1), good(1)}
		// Slow around the first trial, which nothing shows yet; fast from the second on.
		m, made := script(t, c.repeats, outcomes, slow, slow, fast)
		m.reference, m.file.Provenance.Blocks = slow, 2
		todo := slots(2, 2, 0)
		for rounds := 0; len(todo) > 0; rounds++ {
			if err := m.trials(context.Background(), todo); err != nil {
				t.Fatal(err)
			}
			if rounds > 1 {
				t.Fatal("it goes on and on")
			}
			todo = m.again(m.recheck())
		}
		if m.file.Trials[0].Valid || *made != 2*c.blocks || m.file.Provenance.Blocks != c.blocks || m.repeats != c.left {
			t.Errorf("%d repeats: %d trials, %d blocks, %d repeats left; want %d blocks, %d left", c.repeats, *made, m.file.Provenance.Blocks, m.repeats, c.blocks, c.left)
		}
		// What is of one block was made one after the other, in the order of the seed.
		for i, s := range slots(2, c.blocks, 0) {
			if got := m.file.Trials[i]; got.Block != s.block || got.Condition != m.file.Conditions[s.cond].ID {
				t.Errorf("%d repeats: trial %d is of block %d, condition %s; want %+v", c.repeats, i+1, got.Block, got.Condition, s)
			}
		}
	}
}
