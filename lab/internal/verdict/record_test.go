package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/stats"
)

// Blocks of several runs count together, by their levels and not by their names. Figures of a run alone are not pooled.
func TestBlocksOfSeveralRunsCountTogether(t *testing.T) {
	x := designed(t, "", atLeast)
	a, b := runOf(x, "a", 2, 2, 1.8, 2), runOf(x, "b", 2, 2, 2, 2.1)
	for _, r := range []Run{a, b} {
		if c := claimsOf(x, r)[0]; c.Verdict != Open {
			t.Errorf("%s alone: %+v", r.File.Run, c)
		}
	}
	names := map[string]string{"c1": "c2", "c2": "c1"}
	for i := range b.File.Conditions {
		b.File.Conditions[i].ID = names[b.File.Conditions[i].ID]
	}
	for i := range b.File.Trials {
		b.File.Trials[i].Condition = names[b.File.Trials[i].Condition]
	}
	f := Decide(x, machine, []Run{a, b})
	if c := f.Claims[0]; c.Verdict != Confirmed || c.Blocks != 8 || c.For != 8 ||
		c.Effects[0].Low != 1.8 || c.Effects[0].High != 2.1 {
		t.Errorf("together: %+v", c)
	}
	if f.Run != "b" || f.Blocks != 8 || f.Conditions[0].Trials != 8 {
		t.Errorf("%s: %d blocks, %d trials of c1", f.Run, f.Blocks, f.Conditions[0].Trials)
	}
	// A decided claim may become open again: the present interval counts.
	expect(t, "later", claimsOf(x, a, b, runOf(x, "c", 1, 1, 1))[0], Open, "8 of 11 blocks lie at 1.5 or above, and 3 do")
}

// A run decides the claims that it was made with, in the designs that still have them. Others count apart.
func TestOnlyRunsOfTheSameClaimCount(t *testing.T) {
	cost := rename(flatCost, "cost")
	x := designed(t, "", atLeast, cost)
	other := designed(t, "", with(atLeast, "1.5", "1.4"), cost)                     // another bar
	third := designed(t, `{ name = "workers", levels = [1, 2, 4] }`, atLeast, cost) // another design
	six := times(6, 2)
	was, more, is := runOf(other, "was", six...), runOf(third, "more", six...), runOf(x, "now", six...)
	f := Decide(x, machine, []Run{was, more, is})
	if c := f.Claims[0]; c.Blocks != 6 {
		t.Errorf("the claim that was changed: %+v", c)
	}
	if c := f.Claims[1]; c.Blocks != 12 || f.Blocks != 12 {
		t.Errorf("the claim that was not: %+v, of %d blocks", c, f.Blocks)
	}
	now := designed(t, "", flatCost, rename(atLeast, "new"), cost)
	if got := claimsOf(now, runOf(x, "now", six...)); len(got) != 1 || got[0].ID != "cost" {
		t.Errorf("claims %+v; only the one that is as it was is decided", got)
	}
}

// The verdict on a withdrawn claim may have been wrong: the claim keeps its part of the error on
// every host. A claim that needs more cores than the host has takes no part.
func TestTheClaimsOfADesignDivideTheError(t *testing.T) {
	gone, count := rename(flatCost, "gone"), rename(asMany, "count")
	then := designed(t, "", atLeast, gone, count)
	now := designed(t, "", atLeast)
	old, seven := runOf(then, "old", 2), runOf(now, "now", times(7, 2)...)
	if f := Decide(now, machine, []Run{seven}); f.Claims[0].Verdict != Confirmed {
		t.Fatalf("%+v", f.Claims[0])
	}
	f := Asked([]Run{old}).Decide(now, machine, []Run{seven})
	if c := f.Claims[0]; c.Verdict != Open || c.Needed != 1 {
		t.Errorf("%+v", c)
	}
	// A bar that was moved is another claim; the same claim under another name is not.
	moved := designed(t, "", with(atLeast, "1.5", "1.4"), rename(atLeast, "same"))
	if _, claims := Asked([]Run{runOf(moved, "moved", 2)}).Part(now, 4); claims != 2 {
		t.Errorf("%d claims", claims)
	}
	for cores, want := range map[int]int{2: 1, 4: 2, 8: 2} {
		x := designed(t, "", isFlat, rename(fmt.Sprintf(flatNeeds, "cores = 4"), "d"))
		f := Decide(x, &host.Profile{ID: "h", Cores: cores}, []Run{{ratios(x, times(8, 1)...), x}})
		if got := f.Claims[0].Verdict; (got == Confirmed) != (want == 1) {
			t.Errorf("%d cores: %s", cores, got)
		}
		if least := Least(x, cores); least != 7+want {
			t.Errorf("%d cores: %d blocks are the least", cores, least)
		}
	}
}

// Each further design of a question has less of the error, in the order in which
// they were measured first. Runs that measured nothing ask nothing.
func TestLaterDesignsOfAQuestionHaveLess(t *testing.T) {
	designs := []string{"", `{ name = "workers", levels = [1, 2, 4] }`, `{ name = "workers", levels = [1, 2, 8] }`}
	var runs []Run
	for i, factors := range designs {
		runs = append(runs, runOf(designed(t, factors, atLeast), fmt.Sprint(i), 2))
	}
	none := runOf(runs[2].Then, "none")
	none.File.Trials = nil
	q := Asked([]Run{none, runs[0], runs[1], runOf(runs[0].Then, "again", 2)})
	for i, level := range []float64{0.025, 0.05 / 6, 0.05 / 12} {
		if got := stats.Level(q.Part(runs[i].Then, 4)); math.Abs(got-level) > 1e-12 {
			t.Errorf("design %d: level %v", i, got)
		}
	}
}

// Whatever a run has lost, each claim has a verdict with a reason.
func TestRunsThatLostAnythingHaveVerdicts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 8))
	gone := with(aTenth, "at_least = 0.1", "at_most = 0")
	x := profileDesign(t, aTenth, rename(gone, "gone"),
		rename(strings.ReplaceAll(isFlat, "workers", "index"), "flat"), rename(wireWall, "wall"),
		rename(with(asMany, `equals = "workers"`, `equals = "connections"`), "count"))
	lose := []func(*results.Trial){
		func(t *results.Trial) { spoil(t) },
		func(t *results.Trial) { t.Profiles = nil },
		func(t *results.Trial) { delete(t.Metrics, rps) },
		func(t *results.Trial) { t.Metrics[rps] = 0 },
		func(t *results.Trial) { t.Metrics, t.Below = values{}, values{rps: 1} },
		func(t *results.Trial) { t.Metrics["workers"] = 100 },
	}
	for range 300 {
		var runs []Run
		for range 1 + rnd.IntN(3) {
			f := shares(x, make([]float64, 1+rnd.IntN(8))...)
			for i := range f.Trials {
				for k, how := range lose {
					if rnd.IntN(6) < k%3 {
						how(&f.Trials[i])
					}
				}
			}
			f.Trials = slices.DeleteFunc(f.Trials, func(results.Trial) bool { return rnd.IntN(5) == 0 })
			runs = append(runs, Run{f, x})
		}
		f := Decide(x, machine, runs)
		for _, c := range f.Claims {
			if c.Reason == "" || c.Verdict.Meaning() == "" || c.For+c.Against > c.Blocks {
				t.Fatalf("%+v", c)
			}
		}
	}
}
