package verdict

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

func TestSharesAreHeldAgainstEveryTrial(t *testing.T) {
	for _, c := range []struct {
		name, claim string
		of          []float64
		want        Verdict
		says        string
	}{
		{"all above", sample.ATenth, []float64{0.2, 0.3, 0.1, 0.4, 0.5, 0.9, 0.35}, Reproduced,
			"median of 35 % of the block profile (10 to 90 %) in 7 trials; the claim is at least 10 %"},
		{"one below", sample.ATenth, []float64{0.2, 0.3, 0.1, 0.4, 0.5, 0.09}, Inconclusive, "(9 to 50 %)"},
		{"all below", sample.ATenth, []float64{0.01, 0, 0.05, 0.09, 0.02, 0.03, 0.03}, Refuted, "(0 to 9 %)"},
		{"at most, all below", sample.AtMost10, []float64{0.01, 0, 0.05, 0.1, 0.02, 0.03, 0.03}, Reproduced,
			"the claim is at most 10 %"},
		{"at most, all above", sample.AtMost10, []float64{0.2, 0.3, 0.4, 0.11, 0.5, 0.6, 0.6}, Refuted, ""},
		{"absent", sample.NoLock, []float64{0, 0, 0, 0, 0, 0}, Reproduced, "no sample of " + sample.Lock +
			" in the block profiles of 6 trials"},
		{"one sample in one trial", sample.NoLock, []float64{0, 0, 0, 1e-6, 0, 0}, Refuted,
			"is in the block profiles of 1 of 6 trials, with up to 0.0001 %"},
		{"a kind of work, at all levels", sample.Writing, []float64{0, 0, 0, 0, 0, 0, 0}, Reproduced,
			"writing has a median of 50 % of the CPU profile (50 to 50 %) in 14 trials"},
	} {
		x := sample.ProfileDesign(t, c.claim)
		got := one(t, x, sample.Shares(x, c.of...), sample.Machine)
		if got.Verdict != c.want || !strings.Contains(got.Reason, c.says) {
			t.Errorf("%s: %s (%s), want %s", c.name, got.Verdict, got.Reason, c.want)
		}
	}
}

// A value is held against its bar in every trial, also where it is what no ratio can have: 0.
func TestValuesAreHeldAgainstEveryTrial(t *testing.T) {
	const atLeast = `{ id = "c", text = "x", why = "y", kind = "value", metric = "processes", at_least = 3 }`
	atMost := strings.Replace(atLeast, "at_least", "at_most", 1)
	for _, c := range []struct {
		claim string
		of    []float64
		want  Verdict
		says  string
	}{
		{atLeast, []float64{3, 4, 5, 3, 9, 3, 3}, Reproduced, "the claim holds in 7 of 7 blocks; the median is 3 (3 to 9)"},
		{atLeast, []float64{3, 4, 5, 3, 9, 2, 3}, Inconclusive, "in 6 of 7 blocks, and in 1 it holds in no trial"},
		{atLeast, []float64{0, 1, 2, 2, 2, 2, 2}, Refuted, "the claim holds in 0 of 7 blocks"},
		{atMost, []float64{0, 0, 3, 2, 1, 0, 0}, Reproduced, "(0 to 3)"},
		{atMost, []float64{4, 4, 4, 4, 5, 6, 4}, Refuted, ""},
		{atMost, []float64{0, 0, 0, 0, 0}, Inconclusive, ""},
	} {
		x := sample.Design(t, "", c.claim)
		r := sample.Run(x, len(c.of), func(_ setting.Levels, b int) sample.Figures {
			return sample.Figures{"processes": c.of[b-1]}
		})
		if got := one(t, x, r, sample.Machine); got.Verdict != c.want || !strings.Contains(got.Reason, c.says) {
			t.Errorf("%v: %s (%s), want %s", c.of, got.Verdict, got.Reason, c.want)
		}
		for i := range r.Trials {
			delete(r.Trials[i].Metrics, "processes")
		}
		if got := one(t, x, r, sample.Machine); got.Verdict == Reproduced || got.Verdict == Refuted {
			t.Errorf("without the figure: %s (%s)", got.Verdict, got.Reason)
		}
	}
}

// Without profiles nothing is known to be gone.
func TestAbsenceNeedsProfiles(t *testing.T) {
	x := sample.ProfileDesign(t, sample.NoLock)
	none := sample.Shares(x, 0, 0, 0, 0, 0, 0)
	for i := range none.Trials {
		none.Trials[i].Profiles = nil
	}
	if got := one(t, x, none,
		sample.Machine); got.Verdict != NotApplicable || got.Reason != "the run has no block profile" {
		t.Errorf("without profiles: %s (%s)", got.Verdict, got.Reason)
	}
	some := sample.Shares(x, 0, 0, 0, 0, 0, 0)
	some.Trials[0].Profiles = nil
	if got := one(t, x, some, sample.Machine); got.Verdict != Inconclusive ||
		!strings.HasPrefix(got.Reason, "only 5 of 6 blocks can tell") {
		t.Errorf("with one missing: %s (%s)", got.Verdict, got.Reason)
	}
	lost := sample.Shares(x, 0, 0, 0, 0, 0, 0)
	sample.Spoil(&lost.Trials[0])
	if got := one(t, x, lost, sample.Machine); got.Verdict != Inconclusive ||
		!strings.Contains(got.Reason, "; 1 of 6 blocks was refused by a gate") {
		t.Errorf("with an invalid trial: %s (%s)", got.Verdict, got.Reason)
	}
	// A frame without a name could belong to any package.
	unnamed := sample.Shares(x, 0, 0, 0, 0, 0, 0)
	for _, t := range unnamed.Trials[:1] {
		p, _ := t.Profile(profile.Block)
		p.Packages["[no symbol]"] = 0.1
	}
	if got := one(t, x, unnamed, sample.Machine); got.Verdict != Inconclusive ||
		!strings.Contains(got.Reason, "1 of 6 block profiles have frames without a symbol") {
		t.Errorf("with a frame without a symbol: %s (%s)", got.Verdict, got.Reason)
	}
	five := sample.Shares(x, 0, 0, 0, 0, 0)
	if got := one(t, x, five, sample.Machine); got.Verdict != Inconclusive {
		t.Errorf("with five blocks: %s (%s)", got.Verdict, got.Reason)
	}
}

// A profile that could not have shown a package does not show that it is gone.
func TestGoneTakesAProfileThatShowsIt(t *testing.T) {
	x := sample.ProfileDesign(t, sample.NoLock)
	r := sample.Shares(x, 0, 0, 0, 0, 0, 0)
	for _, t := range r.Trials {
		if p, _ := t.Profile(profile.Block); t.Condition == "c2" {
			delete(p.Packages, sample.Lock)
		}
	}
	if got := one(t, x, r, sample.Machine); got.Verdict != Inconclusive ||
		!strings.Contains(got.Reason, "no block profile of these runs shows "+sample.Lock) {
		t.Errorf("%s (%s)", got.Verdict, got.Reason)
	}
}

// A share of a very small total is evidence neither for the claim nor against it.
func TestAShareNeedsAWhole(t *testing.T) {
	for claim, of := range map[string]float64{sample.ATenth: 1, sample.AtMost10: 0.01} {
		for _, c := range []struct {
			total float64 // seconds of waiting in a second
			want  Verdict
		}{{0.1, Reproduced}, {0.0999, Inconclusive}, {0.05, Inconclusive}} {
			x := sample.ProfileDesign(t, claim)
			r := sample.Shares(x, of, of, of, of, of, of, of)
			last := &r.Trials[12] // in one block only
			last.Profiles[1].Total = c.total
			if got := one(t, x, r, sample.Machine); got.Verdict != c.want || c.want == Inconclusive &&
				!strings.Contains(got.Reason, "too little to take shares of") {
				t.Errorf("%v of %v s a second: %s (%s), want %s", of, c.total, got.Verdict, got.Reason, c.want)
			}
		}
	}
	for _, c := range []struct {
		p    profile.Profile
		thin bool
	}{
		{profile.Profile{Unit: "s", Total: 0.5, DurationS: 10, Packages: map[string]float64{"a": 1}}, true},
		{profile.Profile{Unit: "s", Total: 1, DurationS: 10, Packages: map[string]float64{"a": 1}}, false},
		{profile.Profile{Unit: "s", DurationS: 10}, true},
		{profile.Profile{Unit: "B", Total: 9e5, Packages: map[string]float64{"a": 1}}, true},
		{profile.Profile{Unit: "B", Total: 1e6, Packages: map[string]float64{"a": 1}}, false},
		{profile.Profile{Unit: "count", Total: 9, Packages: map[string]float64{"a": 1}}, true},
		{profile.Profile{Unit: "count", Total: 10, Packages: map[string]float64{"a": 1}}, false},
		{profile.Profile{Unit: "s", DurationS: 60, Packages: map[string]float64{"a": 0.77}}, false},
		{profile.Profile{Unit: "s", Packages: map[string]float64{"a": 0.77}}, false},
	} {
		if got := nextToNothing(c.p); got != c.thin {
			t.Errorf("%+v: %v", c.p, got)
		}
	}
}

// A client that is the wall does not affect what the server's profile says.
func TestSharesDoNotMeasureTheClient(t *testing.T) {
	x := sample.ProfileDesign(t, sample.ATenth)
	r := sample.Shares(x, 0.2, 0.3, 0.1, 0.4, 0.5, 0.9, 0.9)
	for i := range r.Trials {
		sample.Bound(&r.Trials[i], gate.BoundClientCPU)
	}
	if got := one(t, x, r, sample.Machine); got.Verdict != Reproduced {
		t.Errorf("%s (%s)", got.Verdict, got.Reason)
	}
}

func TestASummaryHasMediansOfProfiles(t *testing.T) {
	x := sample.ProfileDesign(t, sample.ATenth)
	f := Decide(x, sample.Machine, []Run{{sample.Shares(x, 0.2, 0.3, 0, 0, 0, 0), x}})
	i := slices.IndexFunc(f.Conditions, func(s Summary) bool { return s.ID == "c1" })
	var got []profile.Profile
	for _, p := range f.Conditions[i].Profiles {
		got = append(got, p.Profile)
	}
	want := []profile.Profile{
		{Kind: profile.CPU, Unit: "s", Total: 1, DurationS: 1, Work: map[string]float64{"write": 0.5, "http": 0.5},
			Packages: map[string]float64{}},
		// In two trials of six: its median is 0, which does not mean absent.
		{Kind: profile.Block, Unit: "s", Total: 2, DurationS: 1, Work: map[string]float64{},
			Packages: map[string]float64{"runtime": 1, sample.Lock: 0}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
