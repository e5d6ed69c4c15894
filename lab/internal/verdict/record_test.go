package verdict

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

func claimsOf(x *experiment.Experiment, runs ...Run) []Claim {
	return Decide(x, sample.Machine, runs).Claims
}

func TestBlocksOfSeveralRunsCountTogether(t *testing.T) {
	x := sample.Design(t, "", sample.IsFlat)
	a, b := runOf(x, "a", 1.01, 0.99, 1, 1), runOf(x, "b", 1.02, 0.98, 1, 1)
	for _, r := range []Run{a, b} {
		if c := claimsOf(x, r)[0]; c.Verdict != Inconclusive || c.Runs != 1 {
			t.Errorf("%s alone: %+v", r.File.Run, c)
		}
	}
	f := Decide(x, sample.Machine, []Run{a, b})
	if c := f.Claims[0]; c.Verdict != Reproduced || c.Blocks != 8 || c.Visits != 8 || c.Runs != 2 || c.For != 8 ||
		c.Effects[0].Low != 0.98 || c.Effects[0].High != 1.02 {
		t.Errorf("together: %+v", c)
	}
	if f.Record == nil || !slices.Equal(f.Record.Runs, []string{"a", "b"}) || f.Record.Blocks != 8 ||
		f.Record.Visits != 8 || f.Record.Nth != 1 || f.Record.Claims != 1 {
		t.Errorf("record %+v", f.Record)
	}
	// Figures of the run alone are not pooled.
	if f.Run != "b" || f.Blocks != 4 || f.Trials != 8 || f.Conditions[0].Trials != 4 {
		t.Errorf("%s: %d blocks, %d trials, %d of c1", f.Run, f.Blocks, f.Trials, f.Conditions[0].Trials)
	}
}

// Seven visits are too few if two claims divide the error, and enough for one; a
// claim that needs more cores than the host has takes no part of the error.
func TestAClaimOfMoreCoresHasNoPartOfTheLevel(t *testing.T) {
	for cores, want := range map[int]Verdict{4: Inconclusive, 8: Inconclusive, 2: Reproduced} {
		x := sample.Design(t, "", sample.IsFlat, strings.Replace(fmt.Sprintf(sample.FlatNeeds, "cores = 4"), `"c"`, `"d"`, 1))
		f := Decide(x, &host.Profile{ID: "h", Cores: cores}, []Run{{sample.Ratios(x, 1, 1, 1, 1, 1, 1, 1), x}})
		if got := f.Claims[0].Verdict; got != want ||
			f.Record.Claims != map[Verdict]int{Inconclusive: 2, Reproduced: 1}[want] {
			t.Errorf("%d cores: %s, of %d claims, want %s", cores, got, f.Record.Claims, want)
		}
	}
}

func TestRunsAreJoinedByLevelsAndNotByNames(t *testing.T) {
	x := sample.Design(t, "", sample.AtLeast)
	a, b := runOf(x, "a", 2, 2, 2), runOf(x, "b", 2, 2, 2, 2)
	want := claimsOf(x, a, b)[0]
	if want.Verdict != Reproduced {
		t.Fatalf("%+v", want)
	}
	names := map[string]string{"c1": "c2", "c2": "c1"}
	for i := range b.File.Conditions {
		b.File.Conditions[i].ID = names[b.File.Conditions[i].ID]
	}
	for i := range b.File.Trials {
		b.File.Trials[i].Condition = names[b.File.Trials[i].Condition]
	}
	if got := claimsOf(x, a, b)[0]; got.Verdict != Reproduced || got.Effects[0].Ratio != 2 || got.Blocks != 7 {
		t.Errorf("%s (%s)", got.Verdict, got.Reason)
	}
}

func TestOnlyRunsOfTheSameClaimCount(t *testing.T) {
	x := sample.Design(t, "", sample.AtLeast, sample.Rename(sample.FlatCost, "cost"))
	// One claim has another bar; the other claim is the same.
	other := sample.Design(t, "", strings.Replace(sample.AtLeast, "1.5", "1.4", 1), sample.Rename(sample.FlatCost, "cost"))
	// Another level makes another design for both claims.
	third := sample.Design(t, `{ name = "workers", levels = [1, 2, 4] }`, sample.AtLeast, sample.Rename(sample.FlatCost,
		"cost"))
	six := slices.Repeat([]float64{2}, 6)
	now := runOf(x, "now", six...)
	was, more := runOf(other, "was", six...), runOf(third, "more", six...)
	f := Decide(x, sample.Machine, []Run{was, more, now})
	if c := f.Claims[0]; c.Blocks != 6 || c.Runs != 1 {
		t.Errorf("the claim that was changed: %+v", c)
	}
	if c := f.Claims[1]; c.Blocks != 12 || c.Runs != 2 {
		t.Errorf("the claim that was not: %+v", c)
	}
	if !slices.Equal(f.Record.Runs, []string{"was", "now"}) {
		t.Errorf("record %v", f.Record.Runs)
	}
}

// A decided claim may become open again: the present figure counts.
func TestADecidedClaimMayBecomeOpenAgain(t *testing.T) {
	x := sample.Design(t, "", sample.AtLeast)
	a, b := runOf(x, "a", slices.Repeat([]float64{2}, 7)...), runOf(x, "b", 1, 1, 1)
	if c := claimsOf(x, a)[0]; c.Verdict != Reproduced || c.Open {
		t.Fatalf("%+v", c)
	}
	if c := claimsOf(x, a, b)[0]; c.Verdict != Inconclusive || !c.Open || c.For != 7 || c.Against != 3 {
		t.Errorf("%+v", c)
	}
}

// Kernel, memory and tools belong to a run: blocks are added up over them, and the
// page says that they changed.
func TestWhatChangedOnTheMachineBetweenRunsIsSaid(t *testing.T) {
	x := sample.Design(t, "", sample.AtLeast)
	on := func(name, kernel, governor string, gib int64, v float64) Run {
		r := runOf(x, name, slices.Repeat([]float64{v}, 6)...)
		p := *r.File.Provenance
		p.Kernel, p.MemoryBytes, p.Tools = map[string]string{"osrelease": kernel}, gib<<30,
			map[string]string{"go": "1.26.8", "http_load": name}
		if governor != "" {
			p.Kernel["scaling_governor"] = governor
		}
		r.File.Provenance = &p
		return r
	}
	known := *sample.Machine
	known.Mark = "0123456789abcdef" // else runs of two kernels would not count together
	const warning = "the machine changed between the runs of this record: "
	for _, c := range []struct {
		name string
		runs []Run
		says string // the warning; empty if none
	}{
		{"nothing", []Run{on("a", "6.1", "", 8, 2), on("b", "6.1", "", 8, 2)}, ""},
		{"what only one recorded", []Run{on("a", "6.1", "", 0, 2), on("b", "6.1", "powersave", 8, 2)}, ""},
		{"all", []Run{on("a", "6.1", "powersave", 8, 2), on("b", "6.9", "performance", 16, 2),
			on("c", "6.1", "performance", 16, 2)},
			"kernel 6.1 and 6.9; memory 8 GiB and 16 GiB; scaling_governor powersave and performance"},
	} {
		f := Decide(x, &known, c.runs)
		if f.Claims[0].Verdict != Reproduced || f.Claims[0].Blocks != 6*len(c.runs) {
			t.Errorf("%s: %+v", c.name, f.Claims[0])
		}
		i := slices.IndexFunc(f.Warnings, func(s string) bool { return strings.HasPrefix(s, warning) })
		if (i >= 0) != (c.says != "") || i >= 0 && f.Warnings[i] != warning+c.says {
			t.Errorf("%s: %q, want %q", c.name, f.Warnings, c.says)
		}
	}
}

// The controls of all runs are pooled, whichever conditions they repeated.
func TestControlsOfSeveralRunsCountTogether(t *testing.T) {
	x := sample.Design(t, "", sample.Rename(sample.AsMany, "d"))
	a := Run{addControl(sample.Ratios(x, slices.Repeat([]float64{1}, 5)...), 1.08, 1.07, 1.09, 1.1, 1.06), x}
	b := Run{sample.Day(addControl(sample.Ratios(x, slices.Repeat([]float64{1}, 5)...), 1.08, 1.07, 1.09, 1.1,
		1.06), 1), x}
	if c := Decide(x, sample.Machine, []Run{a}).Control; c.Outcome != Undecided {
		t.Errorf("one: %+v", c)
	}
	if c := Decide(x, sample.Machine, []Run{a, b}).Control; c.Outcome != Differs || c.Effects[0].Blocks != 10 ||
		c.Condition.Trials != 5 {
		t.Errorf("both: %+v", c)
	}
}

// Whatever a run has lost, each claim has a verdict with a reason.
func TestRunsThatLostAnythingHaveVerdicts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 8))
	x := sample.ProfileDesign(t, sample.ATenth, sample.Rename(sample.NoLock, "gone"), sample.Rename(sample.Writing,
		"writing"),
		sample.Rename(strings.ReplaceAll(sample.IsFlat, "workers", "index"), "flat"),
		sample.Rename(sample.WireWall, "wall"),
		`{ id = "count", kind = "count", text = "t", why = "Made up.", metric = "workers", equals = "connections" }`)
	lose := []func(*results.Trial){
		func(t *results.Trial) { sample.Spoil(t) },
		func(t *results.Trial) { t.Profiles = nil },
		func(t *results.Trial) { delete(t.Metrics, sample.Rps) },
		func(t *results.Trial) { t.Metrics[sample.Rps] = 0 },
		func(t *results.Trial) {
			t.Metrics, t.Below = sample.Figures{}, sample.Figures{sample.Rps: 1}
		},
		func(t *results.Trial) { t.Metrics["workers"] = 100 },
	}
	for range 300 {
		var runs []Run
		for range 1 + rnd.IntN(3) {
			f := sample.Shares(x, make([]float64, 1+rnd.IntN(8))...)
			for i := range f.Trials {
				for k, how := range lose {
					if rnd.IntN(6) < k%3 {
						how(&f.Trials[i])
					}
				}
			}
			f.Trials = slices.DeleteFunc(f.Trials, func(results.Trial) bool { return rnd.IntN(5) == 0 })
			if rnd.IntN(5) == 0 {
				for i := range f.Trials { // all of one kind
					lose[rnd.IntN(2)](&f.Trials[i])
				}
			}
			runs = append(runs, Run{f, x})
		}
		f := Decide(x, sample.Machine, runs)
		for _, c := range f.Claims {
			if c.Reason == "" || c.Verdict.Meaning() == "" || c.For+c.Against > c.Blocks && c.Blocks > 0 {
				t.Fatalf("%+v", c)
			}
		}
		if _, err := results.Encode(f); err != nil {
			t.Fatal(err)
		}
	}
}

// The confidence sequence is never narrower than the rule that decides.
func TestAnIntervalBeyondAnEdgeIsDecided(t *testing.T) {
	x := sample.Design(t, "", sample.AtLeast, sample.Rename(sample.IsFlat, "d"))
	for n := 6; n < 40; n += 3 {
		for odd := range n / 2 {
			rs := slices.Repeat([]float64{2}, n-odd)
			c := claimsOf(x, runOf(x, "a", append(rs, slices.Repeat([]float64{1}, odd)...)...))[0]
			if e := c.Effects[0]; e.Low > 1.5 && c.Verdict != Reproduced {
				t.Errorf("%d of %d: %v to %v, and %s", n-odd, n, e.Low, e.High, c.Verdict)
			}
		}
	}
}
