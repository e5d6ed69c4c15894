package run

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
)

const (
	fastCore = time.Microsecond
	slowCore = 2 * time.Microsecond
)

// speeds has calibrations take these times, the last of them for ever.
func (m *madeUp) speeds(all ...time.Duration) *madeUp {
	m.loop = func([]int) (time.Duration, error) {
		v := all[0]
		if len(all) > 1 {
			all = all[1:]
		}
		return v, nil
	}
	return m
}

func times(n int, v time.Duration) (all []time.Duration) { return slices.Repeat([]time.Duration{v}, n) }

func TestASlowCoreIsWaitedFor(t *testing.T) {
	m := newMadeUp(t, Plan{MaxBlocks: 1}, always(good(1))).speeds(slowCore, slowCore, fastCore)
	for _, got := range m.all(t).Trials {
		if !got.Valid || got.Metrics["calibration_before_s"] != fastCore.Seconds() || got.Metrics["calibration_after_s"] != fastCore.Seconds() {
			t.Errorf("%+v", got)
		}
	}
	if m.spare != loopsSpare-2 {
		t.Errorf("%d loops are left for waiting, want %d", m.spare, loopsSpare-2)
	}
}

// A turn on a core that is slow before it, or after it, is made and counts for
// nothing, in all its trials. One that flickers shows its full speed soon.
func TestATurnOnASlowCoreIsInvalid(t *testing.T) {
	for _, c := range []struct {
		name   string
		speeds []time.Duration
		valid  bool
	}{
		{"slow throughout", []time.Duration{slowCore}, false},
		{"slow before", append(times(loopsBefore, slowCore), fastCore), false},
		{"slow after", append(append([]time.Duration{fastCore}, times(loopsAfter, slowCore)...), fastCore), false},
		{"flickering", []time.Duration{fastCore, slowCore, slowCore, slowCore, fastCore}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newMadeUp(t, Plan{MaxBlocks: 1}, always(good(1))).speeds(c.speeds...).all(t)
			for _, got := range f.Trials {
				if got.Valid != c.valid || !c.valid && !slices.Contains(gatesOf(got), gate.SlowCore) {
					t.Errorf("%+v, want valid %v", got, c.valid)
				}
			}
			if f.Provenance.CalibrationS != fastCore.Seconds() {
				t.Errorf("the run's fastest calibration is %v", f.Provenance.CalibrationS)
			}
		})
	}
}

// Waiting is bounded for the run as well as for a turn.
func TestWaitingForACoreIsBounded(t *testing.T) {
	loops := 0
	m := newMadeUp(t, Plan{}, always(good(1)))
	m.loop = func([]int) (time.Duration, error) { loops++; return slowCore, nil }
	for range loopsSpare {
		if seen, err := m.speed(t.Context(), loopsBefore); err != nil || seen != slowCore {
			t.Fatalf("%v, %v", seen, err)
		}
	}
	if m.spare != 0 || loops != 2*loopsSpare {
		t.Errorf("%d loops, and %d left for waiting", loops, m.spare)
	}
}

func TestWaitingForACoreCanBeInterrupted(t *testing.T) {
	why := errors.New("a signal came")
	ctx, cancel := context.WithCancelCause(t.Context())
	m := newMadeUp(t, Plan{}, always(good(1)))
	m.pause = time.Hour
	m.loop = func([]int) (time.Duration, error) { cancel(why); return slowCore, nil }
	if _, err := m.blocks(ctx, &m.watching); !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
}

// The core's full speed may show only later: earlier trials are then held against
// that too, and one that is invalid already gets no second reason.
func TestAFasterPassHoldsBackwards(t *testing.T) {
	outcome := func(block, cond int) results.Trial {
		if block == 1 && cond == 0 {
			return bad(gate.Steal)
		}
		return good(1)
	}
	m := newMadeUp(t, Plan{MaxBlocks: 3}, outcome)
	m.reference = slowCore
	f := m.speeds(append(times(2, slowCore), fastCore)...).all(t)
	for _, got := range f.Trials {
		want := []string(nil)
		switch {
		case got.Block == 1 && got.Condition == "c1":
			want = []string{gate.Steal}
		case got.Block == 1:
			want = []string{gate.SlowCore, gate.SlowCore} // before and after
		}
		if got.Valid != (want == nil) || !slices.Equal(gatesOf(got), want) {
			t.Errorf("block %d, %s: valid %v, %v; want %v", got.Block, got.Condition, got.Valid, gatesOf(got), want)
		}
	}
	if f.Provenance.CalibrationS != fastCore.Seconds() {
		t.Errorf("the run's fastest calibration is %v", f.Provenance.CalibrationS)
	}
	// What was kept after the first block did not know yet.
	if !m.kept[0].Trials[1].Valid || m.kept[1].Trials[1].Valid {
		t.Error("a trial is held against a calibration that came after it was kept, or never")
	}
}

func TestTheReferenceIsTheFastestPass(t *testing.T) {
	m := newMadeUp(t, Plan{}, always(good(1))).speeds(5, 3, 4, 9, 9, 9, 9, 9, 9, 7)
	m.reference = 0
	if err := m.calibrate(); err != nil || m.reference != 3 {
		t.Errorf("%v, %v", m.reference, err)
	}
	m.loop = func([]int) (time.Duration, error) { return 0, errors.New("no such core") }
	if err := m.calibrate(); err == nil || err.Error() != "the calibration loop: no such core" {
		t.Errorf("%v", err)
	}
	if _, err := m.blocks(t.Context(), &m.watching); err == nil {
		t.Error("a run goes on without its calibration")
	}
}
