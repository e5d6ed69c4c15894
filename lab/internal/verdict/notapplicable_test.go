package verdict

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

func TestAMetricAtOneLevelOnlyIsNotApplicable(t *testing.T) {
	x := sample.Design(t, "", sample.IsFlat)
	r := sample.Ratios(x, 1, 1, 1, 1, 1, 1)
	for _, t := range r.Trials {
		if t.Condition == "c2" {
			delete(t.Metrics, sample.Rps)
		}
	}
	if c := one(t, x, r, sample.Machine); c.Verdict != NotApplicable ||
		!strings.Contains(c.Reason, "at one level of workers only") {
		t.Errorf("%s (%s)", c.Verdict, c.Reason)
	}
	for _, t := range r.Trials {
		delete(t.Metrics, sample.Rps)
	}
	if c := one(t, x, r, sample.Machine); c.Verdict != NotApplicable || c.Reason != "the run did not record throughput" {
		t.Errorf("%s (%s)", c.Verdict, c.Reason)
	}
}

func TestAMetricThatWasNotRecordedIsNotTheTrialsFault(t *testing.T) {
	x := sample.Design(t, "", sample.FlatCost)
	r := sample.Ratios(x, 1, 1, 1, 1, 1, 1)
	for i := range r.Trials {
		delete(r.Trials[i].Metrics, sample.Cost)
	}
	// One trial of twelve is invalid; the eleven valid ones lack the metric.
	sample.Spoil(&r.Trials[0])
	if c := one(t, x, r, sample.Machine); c.Verdict != NotApplicable ||
		c.Reason != "the run did not record server CPU per request" {
		t.Errorf("%s (%s)", c.Verdict, c.Reason)
	}
	// A figure known only to be below a limit is recorded, and its ratio may be
	// anything.
	for i := range r.Trials {
		r.Trials[i].Below = sample.Figures{sample.Cost: 0.001}
		r.Trials[i].Valid, r.Trials[i].Reasons = true, nil
	}
	if c := one(t, x, r, sample.Machine); c.Verdict != Inconclusive || c.Effects[0].Ratio != 0 {
		t.Errorf("below only: %s (%s)", c.Verdict, c.Reason)
	}
}

func TestUnmetNeedsAreNotApplicable(t *testing.T) {
	bad := slices.Repeat([]float64{2}, 10) // would refute the claim
	for _, c := range []struct {
		name, needs string
		set         func(*results.File, *host.Profile)
		want        Verdict
		says        string
	}{
		{"enough cores", "cores = 4", func(*results.File, *host.Profile) {}, Refuted, ""},
		{"too few cores", "cores = 4", func(_ *results.File, h *host.Profile) { h.Cores = 2 }, NotApplicable,
			"the claim needs 4 cores; this machine has 2"},
		{"cores not known", "cores = 4", func(_ *results.File, h *host.Profile) { h.Cores = 0 }, NotApplicable,
			"needs 4 cores"},
		{"a line rate", "line_rate = true", func(r *results.File, _ *host.Profile) {
			r.Topology.LineRateBps = 1e9
			for i := range r.Trials {
				r.Trials[i].Metrics["line_rate_share"] = 0.5
			}
		}, Refuted, ""},
		{"no line rate", "line_rate = true", func(*results.File, *host.Profile) {}, NotApplicable,
			"needs a wire of known line rate; this run went over loopback"},
		{"every trial so bounded", `bound = "wire"`, func(r *results.File, _ *host.Profile) {
			for i := range r.Trials {
				sample.Bound(&r.Trials[i], gate.BoundWire)
			}
		}, Refuted, ""},
		{"six blocks of ten not so bounded, in one trial", `bound = "wire"`, func(r *results.File, _ *host.Profile) {
			for i := range r.Trials {
				if i >= 12 || i%2 == 0 {
					sample.Bound(&r.Trials[i], gate.BoundWire)
				}
			}
		}, NotApplicable, "in 6 of 10 blocks the wire was not seen to be the wall, which the claim needs"},
		{"one block not so bounded, which says nothing", `bound = "wire"`, func(r *results.File, _ *host.Profile) {
			for i := range r.Trials[1:] {
				sample.Bound(&r.Trials[i], gate.BoundWire)
			}
		}, Inconclusive, "0 of 10 blocks lie between 0.9091 and 1.1, 9 outside"},
		// The precondition is checked before the wall.
		{"bounded by the client", `bound = "wire"`, func(r *results.File, _ *host.Profile) {
			for i := range r.Trials {
				sample.Bound(&r.Trials[i], gate.BoundClientCPU)
			}
		}, NotApplicable, "in 10 of 10 blocks the wire was not seen to be the wall"},
	} {
		x := sample.Design(t, "", fmt.Sprintf(sample.FlatNeeds, c.needs))
		r, h := sample.Ratios(x, bad...), *sample.Machine
		c.set(r, &h)
		if got := one(t, x, r, &h); got.Verdict != c.want || !strings.Contains(got.Reason, c.says) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, got.Verdict, got.Reason, c.want, c.says)
		}
	}
}

// A lost condition must not be hidden by the bounds of the others.
func TestNeededBoundWithALostConditionDoesNotPass(t *testing.T) {
	x := sample.Design(t, "", fmt.Sprintf(sample.FlatNeeds, `bound = "wire"`))
	r := sample.Ratios(x, 1, 1, 1, 1, 1, 1)
	for i := range r.Trials {
		if sample.Bound(&r.Trials[i], gate.BoundWire); r.Trials[i].Condition == "c2" {
			sample.Spoil(&r.Trials[i])
		}
	}
	if c := one(t, x, r, sample.Machine); c.Verdict != Invalid {
		t.Errorf("%s (%s)", c.Verdict, c.Reason)
	}
}
