package verdict

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/confseq"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

// However many blocks agree, those of one stay are one piece of evidence: a run by
// itself says what it saw, and what the record still needs.
func TestOneStayDecidesNothing(t *testing.T) {
	x := sample.Design(t, "", sample.AtLeast)
	alone := stay(sample.Ratios(x, slices.Repeat([]float64{2}, 18)...), 18)
	c := one(t, x, alone, sample.Machine)
	if c.Verdict != Inconclusive || !c.Open || c.Blocks != 18 || c.Visits != 1 || c.For != 18 || c.VisitsNeeded != 6 {
		t.Errorf("%+v", c)
	}
	const says = "throughput with 2 workers is 2.00 times that with 1 (blocks from 2.000 to 2.000); 18 of 18 blocks " +
		"lie at 1.5 or above; " +
		"that is of 1 visit, and 7 are the least that decide; about 6 more visits would decide it, and lab reproduce " +
		"makes them"
	if c.Reason != says {
		t.Errorf("%q, want %q", c.Reason, says)
	}
	// The same blocks in stays of two, three and six: it is the visits that count.
	for each, want := range map[int]Verdict{1: Reproduced, 2: Reproduced, 3: Inconclusive, 6: Inconclusive} {
		if got := one(t, x, stay(sample.Ratios(x, slices.Repeat([]float64{2}, 18)...), each),
			sample.Machine); got.Verdict != want ||
			got.Visits != 18/each {
			t.Errorf("visits of %d: %s of %d visits (%s)", each, got.Verdict, got.Visits, got.Reason)
		}
	}
}

// Two runs within seconds of each other share a visit.
func TestRunsThatFollowOneAnotherAreOneVisit(t *testing.T) {
	x := sample.Design(t, "", sample.AtLeast)
	a, b := Run{stay(sample.Ratios(x, 2, 2, 2), 3), x}, Run{stay(sample.Ratios(x, 2, 2, 2), 3), x}
	for i := range b.File.Trials {
		b.File.Trials[i].StartedAt = b.File.Trials[i].StartedAt.Add(5e9)
	}
	b.File.Run = "b"
	if c := claimsOf(x, a, b)[0]; c.Blocks != 6 || c.Visits != 1 || c.Runs != 2 {
		t.Errorf("%+v", c)
	}
	sample.Day(b.File, 1)
	if c := claimsOf(x, a, b)[0]; c.Visits != 2 {
		t.Errorf("a day apart: %+v", c)
	}
}

// A claim is refuted by the mean of the e-values over its edges. Two comparisons
// that are off a little each refute it, where neither would alone.
func TestTheMeanOverTheEdgesRefutes(t *testing.T) {
	edges := func(beyond ...int) []votes {
		out := make([]votes, len(beyond))
		for i, k := range beyond {
			for b := range 8 {
				out[i].add(false, b >= k, b < k)
			}
		}
		return out
	}
	level := 1 / (0.6 * math.Exp(confseq.LogE(8, 8))) // between two of four and three of four
	if got := judge(edges(8, 8, 0, 0), level); got != Inconclusive {
		t.Errorf("two of four edges: %s", got)
	}
	if got := judge(edges(8, 8, 8, 0), level); got != Refuted {
		t.Errorf("three of four edges: %s", got)
	}
	// It is never harder than by the greatest over their number.
	for k := range 9 {
		e := edges(k, 8-k, 3)
		_, refute := strength(e)
		for _, edge := range e {
			if most := confseq.LogE(edge.first.beyond, edge.first.all) - math.Log(3); refute < most {
				t.Errorf("%d: the mean %v is below %v", k, refute, most)
			}
		}
	}
}

// A withdrawn claim could have been decided wrongly: it keeps its part of the error,
// on whichever host it was measured.
func TestWithdrawnClaimsKeepTheirPartOfTheError(t *testing.T) {
	then := sample.Design(t, "", sample.AtLeast, sample.Rename(sample.FlatCost, "gone"), sample.Rename(sample.AsMany,
		"count"))
	now := sample.Design(t, "", sample.AtLeast)
	old, seven := runOf(then, "old", 2), runOf(now, "now", slices.Repeat([]float64{2}, 7)...)
	if f := Decide(now, sample.Machine, []Run{seven}); f.Claims[0].Verdict != Reproduced || f.Record.Claims != 1 ||
		f.Record.Asks != 40 {
		t.Fatalf("%+v, %+v", f.Claims[0], f.Record)
	}
	f := Asked([]Run{old}).Decide(now, sample.Machine, []Run{seven})
	if f.Claims[0].Verdict != Inconclusive || f.Record.Claims != 2 || f.Record.Nth != 1 || f.Record.Asks != 80 ||
		f.Claims[0].VisitsNeeded != 1 {
		t.Errorf("%+v, %+v", f.Claims[0], f.Record)
	}
	// A bar that was moved is another claim; the same claim under another name is not.
	moved := sample.Design(t, "", strings.Replace(sample.AtLeast, "1.5", "1.4", 1), sample.Rename(sample.AtLeast, "same"))
	if _, claims := Asked([]Run{runOf(moved, "moved", 2)}).Part(now, 4); claims != 2 {
		t.Errorf("%d claims", claims)
	}
}

// Each further design of a question has less of the error, in the order in which
// they were measured first. Runs that measured nothing ask nothing.
func TestLaterDesignsOfAQuestionHaveLess(t *testing.T) {
	one, two, three := sample.Design(t, "", sample.AtLeast), sample.Design(t, `{ name = "workers", levels = [1, 2, 4] }`,
		sample.AtLeast),
		sample.Design(t, `{ name = "workers", levels = [1, 2, 8] }`, sample.AtLeast)
	none := runOf(three, "none")
	none.File.Trials = nil
	q := Asked([]Run{none, runOf(one, "a", 2), runOf(two, "b", 2), runOf(one, "c", 2)})
	for i, c := range []struct {
		x     string
		nth   int
		asks  float64
		level float64
	}{{"first", 1, 40, 0.025}, {"second", 2, 120, 0.05 / 6}, {"third", 3, 240, 0.05 / 12}} {
		d := [3]Run{runOf(one, "x", 2), runOf(two, "y", 2), runOf(three, "z", 2)}[i]
		f := q.Decide(d.Then, sample.Machine, []Run{d})
		if f.Record.Nth != c.nth || f.Record.Asks != c.asks || math.Abs(stats.Level(q.Part(d.Then, 4))-c.level) > 1e-12 {
			t.Errorf("%s: %+v, level %v", c.x, f.Record, stats.Level(q.Part(d.Then, 4)))
		}
	}
}

// The bet is on the first block of a visit, whichever come after it: otherwise
// whoever stops a visit while it is ahead would choose what he finds.
func TestTheFirstBlockOfAVisitIsBetOn(t *testing.T) {
	x := sample.Design(t, "", sample.AtLeast)
	for _, c := range []struct {
		first, second float64
		want          Verdict
	}{{2, 1, Reproduced}, {1, 2, Refuted}} {
		r := stay(sample.Ratios(x, slices.Repeat([]float64{c.first, c.second}, 8)...), 2)
		got := one(t, x, r, sample.Machine)
		if got.Verdict != c.want || got.Visits != 8 || got.Blocks != 16 || got.For != 8 || got.Against != 8 {
			t.Errorf("%v first: %s of %d visits, %d for, %d against (%s)", c.first, got.Verdict, got.Visits, got.For,
				got.Against, got.Reason)
		}
		slices.Reverse(r.Trials) // as whatever stands first in a file
		if again := one(t, x, r, sample.Machine); again.Verdict != c.want {
			t.Errorf("%v first, in another order: %s", c.first, again.Verdict)
		}
	}
}
