package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/bound"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/stats/statstest"
)

func named(claim, id string) string { return strings.Replace(claim, `"c"`, fmt.Sprintf("%q", id), 1) }

func TestBothWitnessesHaveToAgree(t *testing.T) {
	for _, c := range []struct {
		name, claim string
		ratios      []float64
		says        string
	}{
		// One odd block of six opens the interval; their mean is far inside.
		{"the interval does not", isFlat, []float64{1, 1.01, 0.99, 1, 1.02, 1.12}, "; the t test puts it inside (p 0.0"},
		{"nor outside", isFlat, []float64{1.3, 1.31, 1.29, 1.3, 1.32, 1.09}, "; the t test puts it outside (p 0.0"},
		// Nine blocks bear a far one by their ranks; its square is what the t
		// test sees.
		{"the t test does not", isFlat, []float64{1, 1.01, 0.99, 1, 1.02, 0.98, 1, 1.01, 3}, "; the exact interval lies inside, but the t test does not bear it out (p 0.5"},
		{"nor for a bar", atLeast, []float64{1.6, 1.6, 1.6, 1.6, 1.6, 1.6, 1.6, 1.6, 0.3}, "; the exact interval lies inside, but the t test does not bear it out"},
	} {
		x := design(t, "", c.claim)
		got := one(t, x, ratios(x, c.ratios...), machine)
		if got.Verdict != Inconclusive || !strings.Contains(got.Reason, c.says) || got.P != nil {
			t.Errorf("%s: %s (%s), p %v", c.name, got.Verdict, got.Reason, deref(got.P))
		}
	}
}

func TestAnOpenClaimSaysWhatCouldHaveBeenSeen(t *testing.T) {
	x := design(t, "", isFlat)
	got := one(t, x, ratios(x, 0.99, 1.02, 1.05, 1.08, 1.11, 1.14), machine)
	e := got.Effects[0]
	want := fmt.Sprintf("; the smallest effect these 6 blocks could have seen is a ratio of %.3g, and to decide takes about %d", e.SmallestEffect, e.BlocksNeeded)
	if got.Verdict != Inconclusive || !strings.HasSuffix(got.Reason, want) || e.SmallestEffect < 1.05 || e.SmallestEffect > 1.2 || e.BlocksNeeded <= 6 || e.BlocksOver != 0 {
		t.Errorf("%s (%s), %+v", got.Verdict, got.Reason, e)
	}
	if e.BootLow >= e.Ratio || e.BootHigh <= e.Ratio || deref(e.PInside) == "none" || deref(e.POutside) == "none" {
		t.Errorf("%+v", e)
	}
	if math.Abs(e.BandLow-1/1.1) > 1e-9 || e.BandHigh != 1.1 {
		t.Errorf("band %v to %v", e.BandLow, e.BandHigh)
	}
	if !slices.Equal(got.Warnings, []stats.Warning{stats.FewBlocks}) {
		t.Errorf("warnings %v", got.Warnings)
	}

	x = design(t, "", atLeast) // at the very bar
	got = one(t, x, ratios(x, 1.4, 1.45, 1.4999, 1.5, 1.55, 1.61), machine)
	if e := got.Effects[0]; e.BlocksNeeded != 0 || e.BlocksOver != 1000 || !strings.HasSuffix(got.Reason, "to decide takes more than 1000") || e.BandLow != 1.5 || e.BandHigh != 0 {
		t.Errorf("%s, %+v", got.Reason, e)
	}

	// A decided claim needs no further blocks.
	got = one(t, x, ratios(x, 1.8, 1.85, 1.9, 1.95, 2, 2.05), machine)
	if e := got.Effects[0]; got.Verdict != Reproduced || e.BlocksNeeded != 0 || e.BlocksOver != 0 || e.SmallestEffect == 0 || got.P == nil {
		t.Errorf("%s, %+v", got.Reason, e)
	}
}

// One claim's p is held to the number of claims about ratios that the run
// decides; those that it does not decide, and counts and bounds, do not count.
func TestClaimsOfARunAreCorrectedTogether(t *testing.T) {
	// The least of six ratios is just above the bar: by hand, p about 0.03.
	near := []float64{1.505, 1.51, 1.52, 2.2, 2.4, 2.6}
	alone := design(t, "", atLeast)
	got := one(t, alone, ratios(alone, near...), machine)
	if got.Verdict != Reproduced || *got.P < 0.026 || *got.P > 0.05 {
		t.Fatalf("%s (%s), p %v; the case needs a p between a half of 0.05 and all of it", got.Verdict, got.Reason, deref(got.P))
	}
	p := *got.P
	also := strings.Replace(atLeast, "1.5", "1.499", 1)
	for _, c := range []struct {
		name  string
		other string
		want  Verdict
	}{
		{"another about ratios, no clearer", named(also, "d"), Inconclusive},
		{"one that is open", named(strings.Replace(atLeast, "1.5", "2", 1), "d"), Inconclusive},
		{"a clear one, which Holm's rule sets aside first", named(strings.Replace(atLeast, "1.5", "0.5", 1), "d"), Reproduced},
		{"a count", named(asMany, "d"), Reproduced},
		{"a bound", named(wireWall, "d"), Reproduced},
		{"one that the run cannot judge", named(fmt.Sprintf(flatNeeds, "cores = 64"), "d"), Reproduced},
	} {
		x := design(t, "", atLeast, c.other)
		got := one(t, x, ratios(x, near...), machine)
		if got.Verdict != c.want {
			t.Errorf("beside %s: %s (%s), want %s", c.name, got.Verdict, got.Reason, c.want)
		}
		if c.want == Inconclusive && (!strings.Contains(got.Reason, "after correction for 1 comparison and 2 claims") || got.P == nil || *got.P <= stats.Alpha || *got.P > 2*p+1e-3) {
			t.Errorf("beside %s: p %v after %v (%s)", c.name, deref(got.P), p, got.Reason)
		}
	}
}

// Needing all comparisons asks for no correction, being refuted by any does.
func TestComparisonsOfAClaim(t *testing.T) {
	three := `{ name = "workers", levels = [1, 2, 4] }`
	run := func(x *experiment.Experiment, second, fourth []float64) *results.File {
		return made(x, 6, func(ls setting.Levels, b int) figures {
			n, _ := ls[setting.Workers].Int()
			return figures{rps: base(b) * map[int64]float64{1: 1, 2: second[b-1], 4: fourth[b-1]}[n]}
		})
	}
	flatAt := func(v float64) []float64 { return []float64{v, v * 1.01, v * 0.99, v, v * 1.01, v * 0.99} }

	x := design(t, three, isFlat)
	got := one(t, x, run(x, flatAt(1), []float64{1.09, 1.08, 1.0, 0.98, 0.99, 1.04}), machine)
	var largest float64
	for _, e := range got.Effects {
		largest = max(largest, *e.PInside)
	}
	if got.Verdict != Reproduced || *got.P != largest || largest < 0.001 {
		t.Errorf("%s (%s): p %v, want the largest, %v", got.Verdict, got.Reason, deref(got.P), largest)
	}

	got = one(t, x, run(x, flatAt(1), flatAt(1.2)), machine)
	least := 1.0
	for _, e := range got.Effects {
		least = min(least, *e.POutside)
	}
	if got.Verdict != Refuted || math.Abs(*got.P/(3*least)-1) > 1e-3 {
		t.Errorf("%s (%s): p %v, want three times %v", got.Verdict, got.Reason, deref(got.P), least)
	}
}

// controlled adds an A/A control of the first condition: the same figures times
// those given, a block each; nought leaves the block's trial invalid.
func controlled(r *results.File, by ...float64) *results.File {
	r.Conditions = append(r.Conditions, results.Condition{ID: "again", Levels: r.Conditions[0].Levels, ControlOf: r.Conditions[0].ID})
	for _, of := range slices.Clone(r.Trials) {
		if of.Condition != r.Conditions[0].ID {
			continue
		}
		again := of
		again.Condition, again.Metrics = "again", figures{}
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

var (
	asBefore = []float64{1.01, 0.99, 1, 1.02, 0.98, 1}
	slower   = []float64{1.08, 1.07, 1.09, 1.1, 1.06, 1.08}
)

func TestAControlTakesNoPartInClaims(t *testing.T) {
	x, r := good(t, 6)
	want := Decide(x, machine, []Run{{r, x}})
	if want.Control != nil || !slices.Equal(want.Warnings, []string{"no A/A control in this run"}) {
		t.Fatalf("%+v, %v", want.Control, want.Warnings)
	}
	// Whatever it counted, and whatever bounded it, is no business of a claim.
	controlled(r, 1, 1, 1, 1, 1, 1)
	for i := range r.Trials {
		if r.Trials[i].Condition == "again" {
			r.Trials[i].Bound, r.Trials[i].Metrics["workers"] = bound.Unknown, 7
		}
	}
	got := Decide(x, machine, []Run{{r, x}})
	if !reflect.DeepEqual(got.Claims, want.Claims) || !reflect.DeepEqual(got.Conditions, want.Conditions) || got.Warnings != nil {
		t.Errorf("%+v\nwant %+v", got.Claims, want.Claims)
	}
	c := got.Control
	if c == nil || c.Outcome != Same || c.Of != "c1" || c.Condition.ID != "again" || c.Condition.Trials != 6 || got.Trials != 18 {
		t.Errorf("%+v", c)
	}
	// Nor are its lost trials a claim's.
	spoil(&r.Trials[0])
	spoil(&r.Trials[12])
	if c := Decide(x, machine, []Run{{r, x}}).Claims[0]; !strings.Contains(c.Reason, "1 trial invalid") {
		t.Errorf("%s (%s)", c.Verdict, c.Reason)
	}
}

func TestAControlThatDiffersMakesTheRunSuspect(t *testing.T) {
	for _, c := range []struct {
		name    string
		by      []float64
		outcome Outcome
		says    string
	}{
		{"the same", asBefore, Same, "no difference seen in 2 metrics; server_cpu_per_request_s ratio 1.000, interval 0.980 to 1.020"},
		{"slower", slower, Differs, "its A/A control differed (server_cpu_per_request_s ratio 1.080, interval 1.060 to 1.100)"},
		// One witness: all above, but one so far that the mean says nothing.
		{"all above, one far off", []float64{1.001, 1.001, 1.001, 1.001, 1.001, 3}, Same, ""},
		// The other: far, but for one block.
		{"one block back", []float64{1.08, 1.07, 1.09, 1.1, 1.06, 0.999}, Same, ""},
		{"too little left", []float64{1, 1, 1, 1, 1, 0}, Undecided, "only 5 blocks have its A/A control complete, and 6 are the least"},
		{"nothing left", []float64{0, 0, 0, 0, 0, 0}, Undecided, "only 0 blocks"},
	} {
		x := design(t, "", isFlat, named(atLeast, "d"), named(asMany, "e"))
		r := ratios(x, 1.03, 0.98, 1.01, 1.00, 0.99, 1.02)
		f := Decide(x, x, controlled(r, c.by...), machine)
		if f.Control == nil || f.Control.Outcome != c.outcome || !strings.Contains(f.Control.Reason, c.says) {
			t.Errorf("%s: %+v", c.name, f.Control)
			continue
		}
		want := []Verdict{Reproduced, Refuted, Refuted}
		if c.outcome != Same {
			want[0], want[1] = Inconclusive, Inconclusive
		}
		for i, v := range want {
			if got := f.Claims[i]; got.Verdict != v || v == Inconclusive && !strings.HasPrefix(got.Reason, "the run is suspect: "+f.Control.Reason) {
				t.Errorf("%s: claim %s is %s (%s), want %s", c.name, got.ID, got.Verdict, got.Reason, v)
			}
		}
	}
}

func TestAClientAtItsLimitComesBeforeASuspectRun(t *testing.T) {
	x := design(t, "", isFlat)
	r := ratios(x, 1, 1, 1, 1, 1, 1)
	for i := range r.Trials {
		bounded(&r.Trials[i], bound.ClientCPU)
	}
	if c := one(t, x, controlled(r, slower...), machine); c.Verdict != Invalid {
		t.Errorf("%s (%s)", c.Verdict, c.Reason)
	}
}

// simulated is a run over one noise: one worker, two at a true ratio of all
// figures, and a control of the first. Throughput and cost are of the same
// trials, so they meet the same machine; the count of threads has a noise of
// its own.
func simulated(x *experiment.Experiment, noise statstest.Noise, blocks int, ratio float64, r *rand.Rand) *results.File {
	machine := func() (one, two, again []float64) {
		one, two = noise.Draw(r, blocks)
		a, b := noise.Draw(r, blocks)
		for i := range a {
			again = append(again, one[i]*a[i]/b[i])
		}
		return one, two, again
	}
	one, two, again := machine()
	threads, more, same := machine()
	f := made(x, blocks, func(ls setting.Levels, b int) figures {
		jitter := math.Exp(0.005 * r.NormFloat64())
		if n, _ := ls[setting.Workers].Int(); n == 2 {
			return figures{cost: ratio * two[b-1], rps: ratio / two[b-1] * jitter, "threads_per_worker": ratio * more[b-1]}
		}
		return figures{cost: one[b-1], rps: jitter / one[b-1], "threads_per_worker": threads[b-1]}
	})
	controlled(f, slices.Repeat([]float64{1}, blocks)...)
	for i := range f.Trials {
		if t := &f.Trials[i]; t.Condition == "again" {
			t.Metrics = figures{cost: again[t.Block-1], rps: math.Exp(0.005*r.NormFloat64()) / again[t.Block-1], "threads_per_worker": same[t.Block-1]}
		}
	}
	return f
}

// The rates that the method page states, at the noise of these machines: no
// claim that is false by a hair is called reproduced, and none that is true by
// a hair refuted, in more than a twentieth of runs, over three claims together;
// and a server that is measured against itself does not make its run suspect.
func TestStatedErrorRatesOfVerdicts(t *testing.T) {
	const runs = simulatedRuns
	worst := map[string]float64{}
	over := func(name, metric, rest string) string {
		return fmt.Sprintf(`{ id = %q, text = "t", metric = %q, over = "workers", %s }`, name, metric, rest)
	}
	// At a true ratio of 1.1 all three are as near to false as to true.
	x := design(t, "",
		over("flat", rps, `kind = "flat", margin = 0.1`),
		over("least", cost, `kind = "ratio", at_least = 1.1`),
		over("most", "threads_per_worker", `kind = "ratio", at_most = 1.1`))
	for _, noise := range statstest.Noises {
		for _, blocks := range []int{6, 12} {
			r := rand.New(rand.NewPCG(uint64(blocks), 5))
			held, refuted := map[string]float64{}, map[string]float64{}
			differs := 0.0
			for range runs {
				d := newDecider(x, simulated(x, noise, blocks, 1.1, r), machine)
				if d.evaluateControl(false).Outcome == Differs {
					differs++
				}
				for _, c := range d.claims(nil, false) {
					count := map[Verdict]map[string]float64{Reproduced: held, Refuted: refuted}[c.Verdict]
					if count != nil {
						count[c.ID]++
						count["this run"] = 1
					}
				}
				held["any"], refuted["any"] = held["any"]+held["this run"], refuted["any"]+refuted["this run"]
				delete(held, "this run")
				delete(refuted, "this run")
			}
			t.Logf("%-12s %2d blocks, true ratio at the edge: flat %.3f held, at least %.3f, at most %.3f, any %.3f; any refuted %.3f; control differs %.3f",
				noise.Name, blocks, held["flat"]/runs, held["least"]/runs, held["most"]/runs, held["any"]/runs, refuted["any"]/runs, differs/runs)
			for what, rate := range map[string]float64{"held": held["any"] / runs, "refuted": refuted["any"] / runs, "control": differs / runs} {
				worst[what] = max(worst[what], rate)
			}
			if held["any"]/runs > stats.Alpha || refuted["any"]/runs > stats.Alpha || differs/runs > 0.05 {
				t.Errorf("%s, %d blocks: a rate is above a twentieth", noise.Name, blocks)
			}
		}
	}
	// The method page prints these. Processors that fuse multiplications may
	// differ in a run or two.
	for what, said := range map[string]float64{"held": simulatedHeld, "refuted": simulatedRefuted, "control": simulatedControl} {
		if math.Abs(worst[what]-said) > 0.002 {
			t.Errorf("%s: the worst rate is %.3f, and the method page says %.3f", what, worst[what], said)
		}
	}
}

// What the rule can still see: a server five percent slower, at the full size,
// where trials scatter by two percent.
func TestASlowerServerIsSeenAtFullSize(t *testing.T) {
	const runs = 300
	x := design(t, "", `{ id = "c", kind = "ratio", text = "t", metric = "server_cpu_per_request_s", over = "workers", at_most = 1.0 }`)
	r := rand.New(rand.NewPCG(6, 6))
	seen := 0
	for range runs {
		f := made(x, 12, func(ls setting.Levels, b int) figures {
			n, _ := ls[setting.Workers].Int()
			return figures{cost: base(b) * (1 + 0.05*float64(n-1)) * math.Exp(0.02*r.NormFloat64())}
		})
		if newDecider(x, f, machine).claims(nil, false)[0].Verdict == Refuted {
			seen++
		}
	}
	if share := float64(seen) / runs; share < 0.95 {
		t.Errorf("seen in %.3f of runs", share)
	}
}
