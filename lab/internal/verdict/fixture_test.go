package verdict

import (
	"hash/fnv"
	"slices"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

func one(t *testing.T, x *experiment.Experiment, r *results.File, h *host.Profile) Claim {
	t.Helper()
	f := Decide(x, h, []Run{{r, x}})
	if len(f.Claims) != len(x.Claims) {
		t.Fatalf("%d verdicts of %d claims", len(f.Claims), len(x.Claims))
	}
	return f.Claims[0]
}

func runOf(x *experiment.Experiment, name string, rs ...float64) Run {
	f := sample.Ratios(x, rs...)
	f.Run = name
	of := fnv.New32()
	of.Write([]byte(name))
	return Run{sample.Day(f, int(of.Sum32()%10000)), x}
}

// stay moves the blocks of a run together, so that so many of them are one visit.
func stay(r *results.File, each int) *results.File {
	for i, t := range r.Trials {
		at := time.Duration((t.Block-1)/each)*time.Hour + time.Duration((t.Block-1)%each)*time.Second
		r.Trials[i].StartedAt = r.Provenance.StartedAt.Add(at)
	}
	return r
}

// addControl adds an A/A control of the first condition: its figures times the
// given factor of each block; 0 leaves the block's trial invalid.
func addControl(r *results.File, by ...float64) *results.File {
	r.Conditions = append(r.Conditions, results.Condition{ID: "again", Levels: r.Conditions[0].Levels,
		ControlOf: r.Conditions[0].ID})
	for _, of := range slices.Clone(r.Trials) {
		if of.Condition != r.Conditions[0].ID {
			continue
		}
		again := of
		again.Condition, again.Metrics = "again", sample.Figures{}
		for name, v := range of.Metrics {
			again.Metrics[name] = v * by[of.Block-1]
		}
		if by[of.Block-1] == 0 {
			sample.Spoil(&again)
		}
		r.Trials = append(r.Trials, again)
	}
	return r
}
