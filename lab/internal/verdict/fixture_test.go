package verdict

import (
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// Decide is Question.Decide where nothing was asked but by these runs.
func Decide(x *experiment.Experiment, h *host.Profile, runs []Run) *File {
	return Asked(runs).Decide(x, h, runs)
}

func claimsOf(x *experiment.Experiment, runs ...Run) []Claim {
	return Decide(x, machine, runs).Claims
}

func one(x *experiment.Experiment, r *results.File) Claim { return claimsOf(x, Run{r, x})[0] }

// expect compares a claim's verdict, and a part of its reason.
func expect(t *testing.T, name string, got Claim, want Verdict, says string) {
	t.Helper()
	if got.Verdict != want || !strings.Contains(got.Reason, says) {
		t.Errorf("%s: %s (%s), want %s (%s)", name, got.Verdict, got.Reason, want, says)
	}
}

// with is a claim in which one part is another.
func with(claim, part, other string) string { return strings.Replace(claim, part, other, 1) }

// times repeats a figure.
func times(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }

func runOf(x *experiment.Experiment, name string, rs ...float64) Run {
	f := ratios(x, rs...)
	f.Run = name
	of := fnv.New32()
	of.Write([]byte(name))
	return Run{onDay(f, int(of.Sum32()%10000)), x}
}

// stay moves the blocks of a run together, so many of them at a time.
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
		again.Condition, again.Metrics = "again", values{}
		for name, v := range of.Metrics {
			again.Metrics[name] = v * by[of.Block-1]
		}
		if by[of.Block-1] == 0 {
			spoil(&again)
		}
		r.Trials = append(r.Trials, again)
	}
	return r
}
