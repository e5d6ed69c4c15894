package verdict

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

// Five claims divide the half of the error that a question's first design has, so
// each needs an e-value of 200, which nine of nine exceed.
func TestNineGoodVisitsReproduceEveryKind(t *testing.T) {
	for blocks, want := range map[int]Verdict{8: Inconclusive, 9: Reproduced} {
		x, r := sample.Good(t, blocks)
		f := Decide(x, sample.Machine, []Run{{r, x}})
		for _, c := range f.Claims {
			if counted := c.ID == "c-5"; c.Verdict != want && !counted {
				t.Errorf("%d blocks: %s: %s (%s)", blocks, c.ID, c.Verdict, c.Reason)
			}
		}
		if Decided(f) != (blocks == 9) {
			t.Errorf("%d blocks: decided %v", blocks, Decided(f))
		}
	}
}

func TestFiveBlocksAreNeverReproduced(t *testing.T) {
	for blocks := 1; blocks <= 5; blocks++ {
		x, r := sample.Good(t, blocks)
		f := Decide(x, sample.Machine, []Run{{r, x}})
		for _, c := range f.Claims {
			if c.Verdict != Inconclusive || !strings.Contains(c.Reason, "are the least that decide") || !c.Open ||
				c.VisitsNeeded < 6-blocks {
				t.Errorf("%d blocks, %s: %s (%s)", blocks, c.ID, c.Verdict, c.Reason)
			}
			for _, e := range c.Effects {
				if e.Low != 0 || e.High != 0 {
					t.Errorf("%d blocks, %s: interval %v to %v", blocks, c.ID, e.Low, e.High)
				}
			}
		}
		if Decided(f) {
			t.Errorf("%d blocks decide", blocks)
		}
	}
}

// A block whose trial was refused, or is missing, counts for neither side: leaving
// it out would select blocks by what closes a gate.
func TestRefusedBlocksCountForNeitherSide(t *testing.T) {
	const says = "1 of 10 blocks was refused by a gate and counts for neither side"
	x, r := sample.Good(t, 10)
	if whole := Decide(x, sample.Machine, []Run{{r, x}}); !Decided(whole) {
		t.Fatalf("%+v", whole.Claims)
	}
	sample.Spoil(&r.Trials[3])
	for range 2 {
		for _, c := range Decide(x, sample.Machine, []Run{{r, x}}).Claims {
			want := Inconclusive // nine of ten are too few
			if c.ID == "c-5" {
				want = Reproduced // nobody bets on a count
			}
			if c.Verdict != want || c.Blocks != 10 || c.For != 9 || c.Against != 0 || !strings.Contains(c.Reason, says) {
				t.Errorf("%s: %s of %d blocks (%s)", c.ID, c.Verdict, c.Blocks, c.Reason)
			}
		}
		r.Trials = slices.Delete(r.Trials, 3, 4) // missing rather than invalid
	}
	x, r = sample.Good(t, 24)
	for i := range 3 {
		sample.Spoil(&r.Trials[2*i])
	}
	for _, c := range Decide(x, sample.Machine, []Run{{r, x}}).Claims {
		if c.Verdict != Reproduced || c.Blocks != 24 || c.For != 21 ||
			!strings.Contains(c.Reason, "3 of 24 blocks were refused by a gate and count for neither side") {
			t.Errorf("%s: %s (%s)", c.ID, c.Verdict, c.Reason)
		}
	}
	x, r = sample.Good(t, 12)
	for i := range 7 { // more than half of the twelve
		if t := &r.Trials[2*i]; t.Valid {
			sample.Spoil(t)
		}
	}
	for _, c := range Decide(x, sample.Machine, []Run{{r, x}}).Claims {
		if c.Verdict != Invalid || !c.Open || c.VisitsNeeded != 0 ||
			!strings.Contains(c.Reason, "only 5 of 12 blocks are complete: 7 trials invalid (errors 7)") {
			t.Errorf("%s: %s (%s)", c.ID, c.Verdict, c.Reason)
		}
	}
}

func TestAConditionWithoutValidTrialsNeverLetsAClaimPass(t *testing.T) {
	for _, lost := range []string{"c1", "c2"} {
		x, r := sample.Good(t, 6)
		for i := range r.Trials {
			if r.Trials[i].Condition == lost {
				sample.Spoil(&r.Trials[i])
			}
		}
		for _, c := range Decide(x, sample.Machine, []Run{{r, x}}).Claims {
			if c.Verdict != Invalid || !strings.Contains(c.Reason, "6 trials invalid (errors 6)") {
				t.Errorf("without %s, %s: %s (%s)", lost, c.ID, c.Verdict, c.Reason)
			}
		}
	}
	// Losing all conditions, or all figures of one level, gives no verdict either.
	x, r := sample.Good(t, 6)
	for i := range r.Trials {
		sample.Spoil(&r.Trials[i])
	}
	for _, c := range Decide(x, sample.Machine, []Run{{r, x}}).Claims {
		if c.Verdict != Invalid || !strings.Contains(c.Reason, "no valid trial: 12 trials invalid (errors 12)") {
			t.Errorf("without any, %s: %s (%s)", c.ID, c.Verdict, c.Reason)
		}
	}
	// A third condition is lost, and no other can replace it.
	x = sample.Design(t, `{ name = "workers", levels = [1, 2, 4] }`, sample.IsFlat)
	r = sample.Run(x, 6, func(_ setting.Levels, b int) sample.Figures {
		return sample.Figures{sample.Rps: sample.Base(b)}
	})
	for i := range r.Trials {
		if r.Trials[i].Condition == "c3" {
			sample.Spoil(&r.Trials[i])
		}
	}
	if c := one(t, x, r, sample.Machine); c.Verdict != Invalid {
		t.Errorf("two of three levels: %s (%s)", c.Verdict, c.Reason)
	}
}

func TestAnInvalidTrialChangesNothingButItsCount(t *testing.T) {
	x, r := sample.Good(t, 6)
	before := Decide(x, sample.Machine, []Run{{r, x}})
	for b := 1; b <= 6; b++ {
		great := results.Trial{
			Block: b, Condition: "c2", Bound: gate.BoundClientCPU,
			Metrics: sample.Figures{sample.Rps: 1e9, "workers": 64, "latency_p99_s": 1e-6},
			Below:   sample.Figures{"latency_p50_s": 1e-9},
		}
		sample.Spoil(&great)
		great.StartedAt = r.Provenance.StartedAt.Add(time.Duration(b-1) * time.Minute)
		// One invalid trial before the valid trial of its block, and one after it.
		r.Trials = append(append([]results.Trial{great}, r.Trials...), great)
	}
	after := Decide(x, sample.Machine, []Run{{r, x}})
	if after.Trials != 24 || after.InvalidTrials != 12 || after.Conditions[1].Trials != 18 ||
		after.Conditions[1].Invalid != 12 {
		t.Errorf("counts: %d trials, %d invalid; of c2 %d and %d", after.Trials, after.InvalidTrials,
			after.Conditions[1].Trials, after.Conditions[1].Invalid)
	}
	after.Trials, after.InvalidTrials, after.Conditions[1].Trials, after.Conditions[1].Invalid = 12, 0, 6, 0
	if !reflect.DeepEqual(before, after) {
		t.Errorf("before %+v\nafter  %+v", before, after)
	}
}

func TestARepeatedTrialCountsForItsBlock(t *testing.T) {
	x := sample.Design(t, "", sample.IsFlat)
	want := one(t, x, sample.Ratios(x, 1.03, 0.98, 1.01, 1.00, 0.99, 1.02), sample.Machine)
	r := sample.Ratios(x, 1.03, 0.98, 1.01, 1.00, 0.99, 1.02)
	again := r.Trials[5]
	r.Trials[5].Metrics = sample.Figures{sample.Rps: 1}
	sample.Spoil(&r.Trials[5])
	// It ran after the rest of its block, so it is later in the file.
	r.Trials = slices.Insert(r.Trials, 6, again)
	if got := one(t, x, r, sample.Machine); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestTheFirstValidTrialOfABlockStands(t *testing.T) {
	x := sample.Design(t, "", sample.IsFlat)
	r := sample.Ratios(x, 1, 1, 1, 1, 1, 1)
	want := Decide(x, sample.Machine, []Run{{r, x}}).Claims
	better := r.Trials[1]
	better.Metrics = sample.Figures{sample.Rps: 1e6}
	r.Trials = append(r.Trials, better)
	if got := Decide(x, sample.Machine, []Run{{r, x}}).Claims; !reflect.DeepEqual(got, want) {
		t.Errorf("a second valid trial of a block replaced the first: %+v", got)
	}
}

func TestTheOrderOfTrialsDoesNotMatter(t *testing.T) {
	x, r := sample.Good(t, 6)
	want := Decide(x, sample.Machine, []Run{{r, x}})
	rnd := rand.New(rand.NewPCG(3, 3))
	for range 20 {
		rnd.Shuffle(len(r.Trials), func(i, j int) { r.Trials[i], r.Trials[j] = r.Trials[j], r.Trials[i] })
		rnd.Shuffle(len(r.Conditions), func(i, j int) { r.Conditions[i], r.Conditions[j] = r.Conditions[j], r.Conditions[i] })
		if got := Decide(x, sample.Machine, []Run{{r, x}}); !reflect.DeepEqual(got, want) {
			t.Fatalf("another order: %+v\nwant %+v", got, want)
		}
	}
}

// The least that the sentence names is what the bets come to.
func TestTheLeastThatDecideAreSaid(t *testing.T) {
	if says := Inconclusive.Meaning(); stats.LeastVisits != 7 || !strings.Contains(says, "fewer than seven visits") {
		t.Errorf("%d visits: %s", stats.LeastVisits, says)
	}
}
