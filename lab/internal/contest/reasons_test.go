package contest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/kinds"
)

const write = kinds.Kind("system call: write")

// profile is one server's in one round, of a hundred samples.
func profileOf(us, own, writes, futex, gc, rest int64) profiled {
	return profiled{cost: float64(us) * 1e-6, before: float64(us) * 1e-6, counts: kinds.Counts{All: 100, Of: map[kinds.Kind]int64{
		kinds.Own: own, write: writes, "system call: futex": futex, kinds.Collector: gc, kinds.Profiler: rest}}}
}

var two = []Server{{Name: "one"}, {Name: "two"}}

// The first server costs 10 µs: 6 of own code, 3 of writes, and 1 of what has no row. The other costs
// 14 to 20 µs: half of it writes, so 4 to 7 µs more of them.
func profiledRounds() (all [][]profiled) {
	for us := int64(14); us <= 20; us++ {
		all = append(all, []profiled{profileOf(10, 60, 30, 1, 8, 1), profileOf(us, 40, 50, 1, 8, 1)})
	}
	return all
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-16 }

func TestKindsOfWorkAreSharesOfTheCostAndAddUp(t *testing.T) {
	r := reasons(two, 1, profiledRounds())
	var names []string
	for _, k := range r.Kinds {
		names = append(names, k.Kind)
	}
	// Own code differs by 40 % of 14 to 20 µs less 6 µs, in the median by 0.8; the collector by 8 % of 14 to 20 less 0.8.
	if want := []string{string(write), "own code", "garbage collection", "other system calls", "other"}; !slices.Equal(names, want) {
		t.Fatalf("%v, want %v", names, want)
	}
	w := r.Kinds[0]
	if !near(w.Base, 3e-6) || !near(w.Other, 8.5e-6) || !near(w.Difference, 5.5e-6) || !near(w.Low, 4e-6) || !near(w.High, 7e-6) ||
		math.Abs(w.Share-5.5/7) > 1e-8 {
		t.Errorf("%+v", w)
	}
	if own := r.Kinds[1]; !near(own.Difference, 0.8e-6) || !near(own.Low, -0.4e-6) || !near(own.High, 2e-6) || own.Share != 0 {
		t.Errorf("its interval holds 0: %+v", own)
	}
	if rest := r.Kinds[4]; !near(rest.Difference, 0.07e-6) { // 1 % of 17 µs less 1 % of 10
		t.Errorf("%+v", rest)
	}
	if !near(r.All.Difference, 7e-6) || !near(r.All.Low, 4e-6) || !near(r.All.High, 10e-6) {
		t.Errorf("%+v", r.All)
	}
	adds(t, r)
	// The least of writes is 4 µs, and half of the most of the whole is 5.
	if r.Says != "a part of the difference is system call: write, 5.50 of 7.00 µs (4.00 to 7.00)" {
		t.Error(r.Says)
	}
}

// adds expects that in each round the kinds add up to the whole difference.
func adds(t *testing.T, r compare.Reasons) {
	t.Helper()
	for n, all := range r.All.Each {
		sum := 0.0
		for _, k := range r.Kinds {
			sum += k.Each[n]
		}
		if !near(sum, all) {
			t.Errorf("round %d: the kinds add up to %v of %v", n+1, sum, all)
		}
	}
}

func TestNoSentenceSaysMoreThanItsInterval(t *testing.T) {
	same, most, less := profiledRounds(), profiledRounds(), profiledRounds()
	for n := range same {
		most[n][1] = profileOf(14, 43, 50, 1, 5, 1) // 4 µs more, all of it writes
		less[n][0], less[n][1] = most[n][1], most[n][0]
		if n%2 == 0 {
			same[n][0], same[n][1] = same[n][1], same[n][0]
		}
	}
	for want, of := range map[string][][]profiled{
		"whether they differ at all was not shown in this pass, so no kind of work is the cause": same,
		"most of the difference is system call: write, 4.00 of 4.00 µs (4.00 to 4.00)":           most,
		"most of the difference is system call: write, −4.00 of −4.00 µs (−4.00 to −4.00)":       less,
	} {
		r := reasons(two, 1, of)
		if r.Says != want {
			t.Errorf("%s, want %s", r.Says, want)
		}
		for _, k := range r.Kinds {
			if !r.All.Shown() && k.Share != 0 {
				t.Errorf("a share of what was not shown: %+v", k)
			}
		}
		adds(t, r)
	}
}

func TestWhatProfilingCostsAndWhatHasNoSymbolIsTold(t *testing.T) {
	all := profiledRounds()
	if said := caveats(two, all); len(said) > 0 {
		t.Error(said)
	}
	for n := range all {
		all[n][1].before = all[n][1].cost / 1.25
	}
	all[0][0].counts.Unnamed = 2
	said := strings.Join(caveats(two, all), "; ")
	if said != "profiling raised the CPU a request of two by 25 %; code that is compiled at run time, or stripped, has no "+
		"symbols and counts as own code" {
		t.Error(said)
	}
}
