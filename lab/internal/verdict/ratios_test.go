package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

// By hand, for the single claim of a question's first design: one edge is decided at
// an e-value of 40, which seven of seven visits (69.5) reach and six (36.6) do not.
// Two edges are refuted if the mean of their e-values is 40: seven beyond one of
// them give 34.8, eight 66.5. Ten of eleven have 34. The interval needs 80 on each
// side, eight of eight (132.9).
func TestRatiosAgainstTheClaim(t *testing.T) {
	for _, c := range []struct {
		name, claim string
		ratios      []float64 // by block
		want        Verdict
		// The first effect: the median, and the smallest and largest ratio, which are
		// the interval for eight to eleven blocks.
		ratio, low, high float64
		says             string
	}{
		{"flat", sample.IsFlat, []float64{1.03, 0.98, 1.01, 1.00, 0.99, 1.02, 1.00, 1}, Reproduced, 1, 0.98, 1.03,
			"throughput with 2 workers is 1.000 times that with 1 (0.980 to 1.030); 8 of 8 blocks lie between 0.9091 and 1.1"},
		{"flat, of seven, which have no interval yet", sample.IsFlat, []float64{1.03, 0.98, 1.01, 1.00, 0.99, 1.02, 1.005},
			Reproduced, 1.005, 0, 0,
			"is 1.005 times that with 1 (blocks from 0.980 to 1.030); 7 of 7 blocks lie between 0.9091 and 1.1"},
		{"flat, refuted above", sample.IsFlat, []float64{1.22, 1.21, 1.24, 1.23, 1.26, 1.25, 1.24, 1.24}, Refuted, 1.24,
			1.21, 1.26,
			"is 1.240 times that with 1 (1.210 to 1.260); 8 of 8 blocks lie outside 0.9091 to 1.1"},
		{"flat, refuted below", sample.IsFlat, []float64{0.55, 0.54, 0.53, 0.52, 0.51, 0.50, 0.54, 0.53}, Refuted, 0.53,
			0.50, 0.55,
			""},
		{"flat, seven above: either edge could have refuted it", sample.IsFlat, []float64{1.22, 1.21, 1.24, 1.23, 1.26, 1.25,
			1.235},
			Inconclusive, 1.235, 0, 0, "about 1 more visit would decide it"},
		{"flat, crossing the upper margin", sample.IsFlat, []float64{1.05, 1.06, 1.07, 1.08, 1.09, 1.09, 1.20, 1.08},
			Inconclusive,
			1.08, 1.05, 1.20, "is 1.080 times that with 1 (1.050 to 1.200); 7 of 8 blocks lie between 0.9091 and 1.1, 1 " +
				"outside; about "},
		{"flat, crossing the lower margin", sample.IsFlat, []float64{0.80, 0.95, 0.96, 0.97, 0.98, 0.99, 0.99, 0.97},
			Inconclusive,
			0.97, 0.80, 0.99, ""},
		{"flat, wider than the margin on both sides", sample.IsFlat, []float64{0.5, 0.9, 1, 1, 1, 1.1, 2, 1}, Inconclusive,
			1, 0.5,
			2, ""},
		{"flat, at its very margins", sample.FlatWide, []float64{0.8, 0.8, 0.8, 1, 1.25, 1.25, 1.25, 1}, Reproduced, 1, 0.8,
			1.25,
			""},
		// At each edge, eleven of twelve are inside.
		{"twelve blocks bear one that is off on each side", sample.IsFlat,
			[]float64{1.02, 0.2, 0.96, 0.97, 5, 0.98, 0.99, 1.00, 1.01, 1, 1, 1}, Reproduced, 1, 0.2, 5,
			"10 of 12 blocks lie between"},
		{"but not two on one side", sample.IsFlat, []float64{1.02, 5, 0.96, 0.97, 5, 0.98, 0.99, 1.00, 1.01, 1, 1, 1},
			Inconclusive,
			1, 0.96, 5, ""},

		{"at least", sample.AtLeast, []float64{1.5, 1.6, 1.7, 1.8, 1.9, 2, 2, 1.8}, Reproduced, 1.8, 1.5, 2,
			"is 1.80 times that with 1 (1.50 to 2.00); 8 of 8 blocks lie at 1.5 or above"},
		{"at least, refuted", sample.AtLeast, []float64{1, 1.1, 1.2, 1.3, 1.4, 1.45, 1.49, 1.3}, Refuted, 1.3, 1, 1.49,
			"8 of 8 blocks lie below 1.5"},
		{"at least, open", sample.AtLeast, []float64{1.4, 1.6, 1.7, 1.8, 1.9, 2, 2, 1.8}, Inconclusive, 1.8, 1.4, 2,
			"7 of 8 blocks lie at 1.5 or above, 1 below"},
		{"at most", sample.AtMost, []float64{0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.5, 0.4}, Reproduced, 0.4, 0.1, 0.5,
			"8 of 8 blocks lie at 0.5 or below"},
		{"at most, refuted", sample.AtMost, []float64{0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 0.9}, Refuted, 0.9, 0.6, 1.2,
			"8 of 8 blocks lie above 0.5"},
		{"at most, open", sample.AtMost, []float64{0.1, 0.2, 0.3, 0.4, 0.45, 0.45, 0.6, 0.4}, Inconclusive, 0.4, 0.1, 0.6,
			""},

		// With two levels the single step is also the whole: as a step it may fall by
		// the margin, but as the whole it may not fall at all.
		{"rises", sample.Rises, []float64{1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.5, 1.3}, Reproduced, 1.3, 1, 1.5,
			"all 2 comparisons hold"},
		{"rises, a little lower all through", sample.Rises, []float64{0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.99, 0.98},
			Refuted,
			0.98, 0.95, 0.99, "8 of 8 blocks lie below 1"},
		{"rises, by nothing that can be seen", sample.Rises, []float64{0.98, 0.99, 1, 1.01, 1.02, 1.03, 1, 1}, Inconclusive,
			1, 0.98,
			1.03, "6 of 8 blocks lie at 1 or above, 2 below"},
	} {
		x := sample.Design(t, "", c.claim)
		got := one(t, x, sample.Ratios(x, c.ratios...), sample.Machine)
		if got.Verdict != c.want || !strings.Contains(got.Reason, c.says) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, got.Verdict, got.Reason, c.want, c.says)
			continue
		}
		e := got.Effects[0]
		if e.Ratio != c.ratio || e.Low != c.low || e.High != c.high || e.Pairs != len(c.ratios) || e.Metric != sample.Rps {
			t.Errorf("%s: effect %+v, want %v, %v to %v over %d pairs", c.name, e, c.ratio, c.low, c.high, len(c.ratios))
		}
		if e.A.Key() != "workers=2" || e.B.Key() != "workers=1" || e.At != nil {
			t.Errorf("%s: %v over %v at %v", c.name, e.A, e.B, e.At)
		}
		if open := got.Verdict == Inconclusive; got.Open != open || got.VisitsNeeded > 0 && !open ||
			got.Blocks != len(c.ratios) || got.Runs != 1 {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestEveryComparisonHasToAgree(t *testing.T) {
	three := `{ name = "workers", levels = [1, 2, 4] }`
	by := func(v1, v2, v4 float64) func(setting.Levels, int) sample.Figures {
		return func(ls setting.Levels, b int) sample.Figures {
			n, _ := ls[setting.Workers].Int()
			return sample.Figures{sample.Rps: sample.Base(b) * map[int64]float64{1: v1, 2: v2, 4: v4}[n]}
		}
	}
	for _, c := range []struct {
		name, claim string
		v1, v2, v4  float64
		want        Verdict
		effects     int
		says        string
	}{
		{"flat: each pair of three levels", sample.IsFlat, 1, 1.04, 1.08, Reproduced, 3, "all 3 comparisons hold"},
		// Each step is within the margin; the ends are not.
		{"flat: the ends drift apart", sample.IsFlat, 1, 1.08, 1.17, Refuted, 3, "throughput with 4 workers is "},
		{"flat: the middle stands out", sample.IsFlat, 1, 1.5, 1.02, Refuted, 3,
			"throughput with 2 workers is 1.50 times that with 1 (1.50 to 1.50); 10 of 10 blocks lie outside 0.9091 to 1.1"},
		{"rises at each step", sample.Rises, 1, 1.5, 3, Reproduced, 3, "all 3 comparisons hold"},
		{"rises, with a step down within the margin", sample.Rises, 1, 0.95, 3, Reproduced, 3, "all 3"},
		{"rises, but for one step", sample.Rises, 1, 0.8, 3, Refuted, 3, "throughput with 2 workers is "},
		{"falls in the end", sample.Rises, 1, 3, 2, Refuted, 3, "throughput with 4 workers is "},
		// A ratio compares the last level with the first; levels between are ignored.
		{"ratio of the ends only", sample.AtLeast, 1, 0.1, 2, Reproduced, 1, "throughput with 4 workers is "},
	} {
		x := sample.Design(t, three, c.claim)
		got := one(t, x, sample.Run(x, 10, by(c.v1, c.v2, c.v4)), sample.Machine)
		if got.Verdict != c.want || len(got.Effects) != c.effects || !strings.Contains(got.Reason, c.says) {
			t.Errorf("%s: %s (%s) of %d effects, want %s (%s) of %d", c.name, got.Verdict, got.Reason, len(got.Effects), c.want,
				c.says, c.effects)
		}
	}
}

func TestLevelsAreComparedWithinEachLevelOfTheOtherFactors(t *testing.T) {
	two := `{ name = "workers", levels = [1, 2] }, { name = "pipelining", levels = [1, 10] }`
	run := func(x *experiment.Experiment, gainDeep float64) *results.File {
		return sample.Run(x, 10, func(ls setting.Levels, b int) sample.Figures {
			v := sample.Base(b)
			workers, _ := ls[setting.Workers].Int()
			depth, _ := ls[setting.Pipelining].Int()
			if depth == 10 {
				v *= 8 // the other factor's own effect must not matter
			}
			if workers == 2 && depth == 10 {
				v *= gainDeep
			}
			return sample.Figures{sample.Rps: v}
		})
	}
	x := sample.Design(t, two, sample.IsFlat)
	got := one(t, x, run(x, 1), sample.Machine)
	if got.Verdict != Reproduced || len(got.Effects) != 2 {
		t.Fatalf("%s (%s), %d effects", got.Verdict, got.Reason, len(got.Effects))
	}
	if got.Effects[0].At.Key() != "pipelining=1" || got.Effects[1].At.Key() != "pipelining=10" {
		t.Errorf("compared at %v and %v", got.Effects[0].At, got.Effects[1].At)
	}
	if got := one(t, x, run(x, 2), sample.Machine); got.Verdict != Refuted {
		t.Errorf("twofold at one depth only: %s (%s)", got.Verdict, got.Reason)
	}
}

// A claim limited to some levels and the other conditions do not affect each
// other.
func TestAClaimKeptToLevelsLooksAtThoseOnly(t *testing.T) {
	const factors = `{ name = "workers", levels = [1, 2] }, { name = "pipelining", levels = [1, 10] }`
	run := func(claim string) Claim {
		x := sample.Design(t, factors, claim)
		return one(t, x, sample.Run(x, 8, func(ls setting.Levels, b int) sample.Figures {
			v := sample.Base(b) * (1 + float64(b)/1000)
			workers, _ := ls[setting.Workers].Int()
			if deep, _ := ls[setting.Pipelining].Int(); deep == 10 && workers == 2 {
				v *= 2
			}
			return sample.Figures{sample.Rps: v, "client_thread_busy_max": 0.95}
		}), sample.Machine)
	}
	const about = `{ id = "c", kind = "flat", text = "t", why = "Made up.", metric = "throughput_rps", over = "workers", margin = 0.1, at = { pipelining = %d } }`
	if c := run(fmt.Sprintf(about, 1)); c.Verdict != Reproduced || len(c.Effects) != 1 {
		t.Errorf("where it is flat: %s (%s), %d comparisons", c.Verdict, c.Reason, len(c.Effects))
	}
	if c := run(fmt.Sprintf(about, 10)); c.Verdict != Refuted {
		t.Errorf("where it doubles: %s (%s)", c.Verdict, c.Reason)
	}
	x := sample.Design(t, factors,
		`{ id = "c", kind = "bound", text = "t", why = "Made up.", bound = "client-cpu", at = { pipelining = 1 } }`)
	r := sample.Run(x, 8, func(setting.Levels, int) sample.Figures { return sample.Figures{} })
	for i := range r.Trials {
		if r.Trials[i].Condition == "c1" || r.Trials[i].Condition == "c3" { // without pipelining
			sample.Bound(&r.Trials[i], gate.BoundClientCPU)
		}
	}
	if c := one(t, x, r, sample.Machine); c.Verdict != Reproduced || c.Bounds["client-cpu"] != 16 {
		t.Errorf("bound: %s (%s), %v", c.Verdict, c.Reason, c.Bounds)
	}
	r.Conditions, r.Trials = r.Conditions[:0], r.Trials[:0]
	if c := one(t, x, r, sample.Machine); c.Verdict != NotApplicable {
		t.Errorf("without such a condition: %s (%s)", c.Verdict, c.Reason)
	}
}

func TestAFigureWithoutARatioSaysNothing(t *testing.T) {
	x := sample.Design(t, "", sample.IsFlat)
	r := sample.Ratios(x, slices.Repeat([]float64{1}, 12)...)
	r.Trials[4].Metrics[sample.Rps] = 0
	if c := one(t, x, r, sample.Machine); c.Verdict != Reproduced || c.For != 11 ||
		!strings.Contains(c.Reason, "in 1 of 12 blocks a figure is zero, so there is no ratio") {
		t.Errorf("%s (%s)", c.Verdict, c.Reason)
	}
	for i := range 14 {
		r.Trials[i].Metrics[sample.Rps] = 0
	}
	if c := one(t, x, r, sample.Machine); c.Verdict != Invalid ||
		!strings.HasPrefix(c.Reason, "in 7 of 12 blocks a figure is zero") {
		t.Errorf("%s (%s)", c.Verdict, c.Reason)
	}
}

// The names of blocks, and the machine's speed, must not affect a claim about a
// ratio.
func TestVerdictsDoNotDependOnNamesOfBlocksOrOnSpeed(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 7))
	var claims []string
	for i, c := range []string{sample.IsFlat, sample.AtLeast, sample.AtMost, sample.Rises} {
		claims = append(claims, strings.Replace(c, `"c"`, fmt.Sprintf(`"c-%d"`, i), 1))
	}
	x := sample.Design(t, `{ name = "workers", levels = [1, 2, 4] }`, claims...)
	seen := map[Verdict]int{}
	for round := range 120 {
		blocks := 6 + r.IntN(12)
		gain := 0.3 + 2*r.Float64()
		spread := 0.3 * r.Float64()
		f := sample.Run(x, blocks, func(ls setting.Levels, b int) sample.Figures {
			n, _ := ls[setting.Workers].Int()
			return sample.Figures{sample.Rps: sample.Base(b) * math.Pow(gain, float64(n-1)) * math.Exp(spread*r.NormFloat64())}
		})
		for i := range f.Trials {
			if r.IntN(60) == 0 {
				sample.Spoil(&f.Trials[i])
			}
		}
		want := Decide(x, sample.Machine, []Run{{f, x}}).Claims
		for _, c := range want {
			seen[c.Verdict]++
		}

		names := r.Perm(blocks)
		for i := range f.Trials {
			f.Trials[i].Block = 1 + names[f.Trials[i].Block-1]
		}
		if got := Decide(x, sample.Machine, []Run{{f, x}}).Claims; !reflect.DeepEqual(got, want) {
			t.Fatalf("round %d: with other names of blocks %+v\nwant %+v", round, got, want)
		}

		// Multiplying by a power of two leaves each ratio exactly as it is.
		for i := range f.Trials {
			f.Trials[i].Metrics[sample.Rps] *= 1024
		}
		if got := Decide(x, sample.Machine, []Run{{f, x}}).Claims; !reflect.DeepEqual(got, want) {
			t.Fatalf("round %d: on a faster machine %+v\nwant %+v", round, got, want)
		}
		// Other factors round, but the verdicts must be the same.
		for i := range f.Trials {
			f.Trials[i].Metrics[sample.Rps] /= 3
		}
		for i, got := range Decide(x, sample.Machine, []Run{{f, x}}).Claims {
			if got.Verdict != want[i].Verdict {
				t.Fatalf("round %d: on a slower machine %+v, want %+v", round, got, want[i])
			}
		}
	}
	for _, v := range []Verdict{Reproduced, Refuted, Inconclusive} {
		if seen[v] < 20 {
			t.Errorf("only %d were %s; the rounds show too little", seen[v], v)
		}
	}
}

// Two equal conditions: "flat" is refuted only if the interval misses 1, so in
// at most one run of twenty, whatever the noise.
func TestIdenticalConditionsAreSeldomRefuted(t *testing.T) {
	const runs = 500
	x := sample.Design(t, "", sample.IsFlat)
	for _, noise := range []struct {
		name string
		draw func(*rand.Rand) float64
		// The least share of runs that must be reproduced.
		reproduced float64
	}{
		// Ratios have a standard deviation of 1.4 %, far below the margin of a tenth.
		{"quiet", func(r *rand.Rand) float64 { return math.Exp(0.01 * r.NormFloat64()) }, 0.99},
		{"skewed", func(r *rand.Rand) float64 { return math.Exp(0.3 * r.ExpFloat64()) }, 0},
		{"a neighbour half of the time", func(r *rand.Rand) float64 {
			if r.IntN(2) == 0 {
				return 1.6 * math.Exp(0.01*r.NormFloat64())
			}
			return math.Exp(0.01 * r.NormFloat64())
		}, 0},
	} {
		for _, blocks := range []int{7, 12} {
			r := rand.New(rand.NewPCG(uint64(blocks), 99))
			seen := map[Verdict]int{}
			for range runs {
				f := sample.Run(x, blocks, func(_ setting.Levels, b int) sample.Figures {
					return sample.Figures{sample.Rps: sample.Base(b) * noise.draw(r)}
				})
				seen[one(t, x, f, sample.Machine).Verdict]++
			}
			if seen[Reproduced]+seen[Inconclusive]+seen[Refuted] != runs {
				t.Errorf("%s, %d blocks: %v", noise.name, blocks, seen)
			}
			if share := float64(seen[Refuted]) / runs; share > 0.05 {
				t.Errorf("%s, %d blocks: %.3f of runs refute what is true", noise.name, blocks, share)
			}
			if share := float64(seen[Reproduced]) / runs; share < noise.reproduced {
				t.Errorf("%s, %d blocks: only %.3f of runs reproduce it", noise.name, blocks, share)
			}
		}
	}
}
