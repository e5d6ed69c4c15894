package verdict

import (
	"fmt"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

// Of the levels 1, 2, 4 and 8, one request costs 1, 2, 4 and 3. Claims that name levels
// compare those alone, in the order in which they name them.
func TestClaimsCompareTheLevelsTheyName(t *testing.T) {
	costs := map[int64]float64{1: 1, 2: 2, 4: 4, 8: 3}
	claim := func(rest string) string {
		return `{ id = "c", text = "t", why = "Made up.", metric = "server_cpu_per_request_s", over = "workers", ` + rest +
			` }`
	}
	for _, c := range []struct {
		rest    string
		verdict Verdict
		pairs   int
		a, b    int64   // of the last comparison
		ratio   float64 // of a over b
	}{
		{`kind = "ratio", levels = [2, 4], at_least = 1.9`, Reproduced, 1, 4, 2, 2},
		{`kind = "ratio", levels = [4, 2], at_most = 0.6`, Reproduced, 1, 2, 4, 0.5},
		{`kind = "ratio", levels = [4, 8], at_least = 1`, Refuted, 1, 8, 4, 0.75},
		{`kind = "ratio", at_least = 2.9`, Reproduced, 1, 8, 1, 3},
		{`kind = "monotonic", levels = [1, 2, 8, 4], margin = 0`, Reproduced, 4, 4, 1, 4},
		{`kind = "monotonic", margin = 0`, Refuted, 4, 8, 1, 3},
		{`kind = "flat", levels = [8, 4], margin = 0.4`, Reproduced, 1, 4, 8, 1.33333333},
		{`kind = "flat", margin = 0.4`, Refuted, 6, 8, 4, 0.75},
	} {
		x := sample.Design(t, `{ name = "workers", levels = [1, 2, 4, 8] }`, claim(c.rest))
		r := sample.Run(x, enough, func(ls setting.Levels, b int) sample.Figures {
			n, _ := ls[setting.Workers].Int()
			return sample.Figures{sample.Cost: sample.Base(b) * costs[n], sample.Rps: 1}
		})
		got := Decide(x, sample.Machine, []Run{{r, x}}).Claims[0]
		if got.Verdict != c.verdict || len(got.Effects) != c.pairs {
			t.Errorf("%s: %s of %d comparisons, want %s of %d: %s", c.rest, got.Verdict, len(got.Effects), c.verdict, c.pairs,
				got.Reason)
			continue
		}
		e := got.Effects[c.pairs-1]
		a, _ := e.A["workers"].Int()
		b, _ := e.B["workers"].Int()
		if a != c.a || b != c.b || e.Ratio != c.ratio {
			t.Errorf("%s: %d over %d is %v, want %d over %d is %v", c.rest, a, b, e.Ratio, c.a, c.b, c.ratio)
		}
	}
}

// What bounded the other levels, or that they gave nothing, is no matter of a claim that
// names two.
func TestLevelsThatAClaimLeavesOutDoNotMatterToIt(t *testing.T) {
	x := sample.Design(t, `{ name = "workers", levels = [1, 2, 4] }`,
		`{ id = "c", kind = "ratio", text = "t", why = "Made up.", metric = "server_cpu_per_request_s", over = "workers", levels = [1, 4], at_least = 1.5 }`)
	r := sample.Run(x, enough, func(ls setting.Levels, b int) sample.Figures {
		n, _ := ls[setting.Workers].Int()
		return sample.Figures{sample.Cost: sample.Base(b) * float64(n)}
	})
	for i := range r.Trials {
		if r.Trials[i].Condition == "c2" {
			r.Trials[i].Valid = false
		}
	}
	got := Decide(x, sample.Machine, []Run{{r, x}}).Claims[0]
	if got.Verdict != Reproduced || got.Blocks != enough || got.Bounds["server-cpu"] != 2*enough {
		t.Errorf("%s of %d blocks, %v: %s", got.Verdict, got.Blocks, got.Bounds, got.Reason)
	}
}

func TestACriterionNamesItsLevels(t *testing.T) {
	for rest, says := range map[string]string{
		`kind = "ratio", levels = [4, 1], at_most = 1.2`: "throughput where workers is 1, over that where it is 4, " +
			"is at most 1.2",
		`kind = "flat", levels = [1, 4], margin = 0.05`: "between any two of the levels 1 and 4 of workers, " +
			"throughput at the one is at most 5\u00a0% above that at the other",
		`kind = "monotonic", levels = [2, 1, 4], margin = 0.05`: "at no step of workers from 2 to 1 to 4 was throughput " +
			"more than 5\u00a0% higher on the level before, and the last is above the first",
	} {
		x := sample.Design(t, `{ name = "workers", levels = [1, 2, 4] }`,
			`{ id = "c", text = "t", why = "Made up.", metric = "throughput_rps", over = "workers", `+rest+` }`)
		if got := Criterion(x.Claims[0]); got != says {
			t.Errorf("%q, want %q", got, says)
		}
	}
	var none experiment.Claim
	if none.Compared() != nil {
		t.Error("a claim without levels names some")
	}
}

// A run that left out one of three levels decides what is claimed of the others. What is
// claimed of all three, or of the one, does not apply to it; an earlier run that had all
// still decides that.
func TestWhatARunLeftOutDoesNotApply(t *testing.T) {
	claim := func(id, rest string) string {
		return fmt.Sprintf(`{ id = %q, text = "t", why = "Made up.", metric = "server_cpu_per_request_s", over = "workers", kind = "flat", margin = 0.1%s }`, id, rest)
	}
	x := sample.Design(t, `{ name = "workers", levels = [1, 2, 4] }`, claim("all", ""), claim("two", ", levels = [1, 4]"),
		claim("gone", ", levels = [1, 2]"))
	same := func(setting.Levels, int) sample.Figures {
		return sample.Figures{sample.Cost: 1, sample.Rps: 1}
	}
	out := setting.Levels{setting.Workers: setting.Int(2)}
	whole, less := sample.Run(x, enough, same), sample.Run(x.Without(out), enough, same)
	whole.Run = "earlier"
	less.Provenance.LeftOut = []results.LeftOut{{Levels: out, Why: "cargo is not there"}}

	for _, c := range []struct {
		runs []Run
		want []Verdict
		of   []int // blocks
	}{
		{[]Run{{less, x}}, []Verdict{NotApplicable, Reproduced, NotApplicable}, []int{0, enough, 0}},
		{[]Run{{whole, x}, {less, x}}, []Verdict{Reproduced, Reproduced, Reproduced}, []int{enough, 2 * enough, enough}},
	} {
		for i, got := range Decide(x, sample.Machine, c.runs).Claims {
			if got.Verdict != c.want[i] || got.Blocks != c.of[i] {
				t.Errorf("%s after %d runs: %s of %d blocks, want %s of %d: %s", got.ID, len(c.runs), got.Verdict, got.Blocks,
					c.want[i], c.of[i], got.Reason)
			}
			if says := "the run measured nothing where workers is 2: cargo is not there"; got.Verdict == NotApplicable &&
				got.Reason != says {
				t.Errorf("%s: %q, want %q", got.ID, got.Reason, says)
			}
		}
	}
}
