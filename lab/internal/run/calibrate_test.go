package run

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
)

const (
	fastCore = time.Microsecond
	slowCore = 2 * time.Microsecond
)

// speeds makes calibrations take these times, repeating the last one.
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

// oneByOne is a design whose conditions cannot be up together.
func oneByOne(t *testing.T) Plan {
	return Plan{MaxBlocks: 1, Experiment: design{settings: "generator = \"autocannon\"\nconnections = 4\nprefork = false",
		block: "slot_s = 1\nrounds = 1\nwarmup_s = 0.1"}.parse(t)}
}

// What is compared must be measured at one speed of the core. If the core was
// slower before or after a group's measurement than at its best in the block,
// all trials of that group are invalid. A core that flickers soon shows its
// speed again, and one that is slow during the whole block slows all conditions
// alike.
func TestATurnAtAnotherSpeedIsInvalid(t *testing.T) {
	together := func(*testing.T) Plan { return Plan{MaxBlocks: 1} }
	for _, c := range []struct {
		name   string
		plan   func(*testing.T) Plan
		speeds []time.Duration
		groups string // validity of each group's trials, in order
	}{
		{"slow throughout", together, []time.Duration{slowCore}, "yes"},
		{"slow when it was idle", together, append(times(loopsFirst-1, slowCore), fastCore), "yes"},
		{"slow before", together, append(times(loopsFirst, slowCore), fastCore), "no"},
		{"slow after", together, append(append(times(loopsFirst, fastCore), times(loopsAfter, slowCore)...), fastCore), "no"},
		{"flickering", together, append(times(loopsFirst, fastCore), slowCore, slowCore, slowCore, fastCore), "yes"},
		{"apart, slow throughout", oneByOne, []time.Duration{slowCore}, "yes yes yes"},
		{"apart, slow at first", oneByOne, append(times(loopsFirst+1, slowCore), fastCore), "no yes yes"},
		{"apart, slow at last", oneByOne, append(times(loopsFirst+3, fastCore), slowCore), "yes yes no"},
		{"apart, slow for a while", oneByOne, append(times(loopsFirst+1, fastCore), slowCore, slowCore, fastCore),
			"yes yes yes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMadeUp(t, c.plan(t), always(good(1))).speeds(c.speeds...)
			f := m.all(t)
			var got []string
			for _, g := range m.sequences {
				valid := true
				for _, i := range experiment.Members(g) {
					one := f.Trials[slices.IndexFunc(f.Trials,
						func(t results.Trial) bool { return t.Condition == f.Conditions[i].ID })]
					if valid = valid && one.Valid; !one.Valid && !slices.Contains(gatesOf(one), gate.SlowCore) {
						t.Errorf("%+v", one)
					}
				}
				got = append(got, map[bool]string{true: "yes", false: "no"}[valid])
			}
			if strings.Join(got, " ") != c.groups {
				t.Errorf("valid: %v, want %s", got, c.groups)
			}
			if want := slices.Min(c.speeds); f.Provenance.CalibrationS != want.Seconds() {
				t.Errorf("the run's fastest calibration is %v", f.Provenance.CalibrationS)
			}
		})
	}
}

// Each block is compared with its own best, so that a faster block does not
// invalidate others; the file has the times of each.
func TestBlocksAreHeldToThemselves(t *testing.T) {
	// the third waits for these in vain
	speeds := slices.Concat(times(loopsFirst+1, slowCore), times(2, fastCore), times(loopsFirst, slowCore))
	m := newMadeUp(t, Plan{MaxBlocks: 3}, always(good(1))).speeds(speeds...)
	f := m.all(t)
	for _, got := range f.Trials {
		if want := map[int]time.Duration{1: slowCore, 2: fastCore, 3: slowCore}[got.Block]; !got.Valid ||
			got.Metrics["calibration_before_s"] != want.Seconds() || got.Metrics["calibration_after_s"] != want.Seconds() {
			t.Errorf("%+v", got)
		}
	}
	if m.spare != loopsSpare-2*(loopsFirst-1) {
		t.Errorf("%d loops are left for waiting, want %d", m.spare, loopsSpare-2*(loopsFirst-1))
	}
	if f.Provenance.CalibrationS != fastCore.Seconds() || m.kept[0].Provenance.CalibrationS != slowCore.Seconds() {
		t.Errorf("the run's fastest calibration is %v, and was %v", f.Provenance.CalibrationS,
			m.kept[0].Provenance.CalibrationS)
	}
}

// Waiting is limited for the whole run as well as for a group.
func TestWaitingForACoreIsBounded(t *testing.T) {
	loops := 0
	m := newMadeUp(t, Plan{}, always(good(1)))
	m.loop = func([]int) (time.Duration, error) { loops++; return slowCore, nil }
	for range loopsSpare {
		if seen, err := m.speed(t.Context(), fastCore, loopsBefore); err != nil || seen != slowCore {
			t.Fatalf("%v, %v", seen, err)
		}
	}
	if m.spare != 0 || loops != 2*loopsSpare {
		t.Errorf("%d loops, and %d left for waiting", loops, m.spare)
	}
}

func TestARunNeedsItsCalibration(t *testing.T) {
	m := newMadeUp(t, Plan{}, always(good(1)))
	m.loop = func([]int) (time.Duration, error) { return 0, errors.New("no such core") }
	if _, err := m.blocks(t.Context(), &m.watching); err == nil || err.Error() != "the calibration loop: no such core" {
		t.Errorf("%v", err)
	}
}
