package main

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// spendAll spends a budget to its end. what makes each chosen run, and says which claims
// are open after it.
func spendAll(t *testing.T, s *spend, what func(n int, c stint) (blocks int, took time.Duration, over bool, needs []int)) (chosen []stint) {
	t.Helper()
	for n := 0; ; n++ {
		c, ok := s.next()
		if !ok {
			return chosen
		}
		if chosen = append(chosen, c); n > 50 {
			t.Fatalf("it never ends: %v", chosen)
		}
		blocks, took, over, needs := what(n, c)
		s.took(c.part, blocks, took)
		p := s.parts[c.part]
		p.over = p.over || over
		p.open(needs)
	}
}

func three() []*part {
	return []*part{
		{block: 10 * time.Second, claims: 1, clear: 6},
		{block: 2 * time.Second, claims: 4, clear: 8},
		{block: 2 * time.Second, claims: 2, clear: 7},
	}
}

func TestEachHasItsClearCaseFirst(t *testing.T) {
	s := &spend{left: time.Hour, parts: three()}
	got := spendAll(t, s, func(_ int, c stint) (int, time.Duration, bool, []int) {
		return c.blocks, time.Duration(c.blocks) * s.parts[c.part].block, true, nil
	})
	// Four claims in 16 s come before two in 14 s, and one in 60 s comes last.
	if want := []stint{{1, 8}, {2, 7}, {0, 6}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if want := time.Hour - 90*time.Second; s.left != want {
		t.Errorf("left %v, want %v", s.left, want)
	}
}

func TestWhatDoesNotFitIsLeftOut(t *testing.T) {
	s := &spend{left: 31 * time.Second, parts: three()}
	got := spendAll(t, s, func(_ int, c stint) (int, time.Duration, bool, []int) {
		return c.blocks, time.Duration(c.blocks) * s.parts[c.part].block, true, nil
	})
	if want := []stint{{1, 8}, {2, 7}}; !reflect.DeepEqual(got, want) || s.parts[0].made != 0 {
		t.Errorf("%v, want %v; of the first %d blocks", got, want, s.parts[0].made)
	}
}

func TestWhatIsNearlyDecidedGoesFirst(t *testing.T) {
	for _, c := range []struct {
		open []int // of the second part, after its clear case
		want []stint
	}{
		// Two claims in 6 s come before two in 14 s. One in 12 s comes before one in 60 s,
		// even though it counts half, since its blocks disagree.
		{[]int{0, 3, 2}, []stint{{1, 8}, {1, 4}, {2, 7}, {2, 9}, {0, 6}}},
		// Two in 10 s count as one for that reason, so two in 14 s come before them.
		{[]int{0, 5, 4}, []stint{{1, 8}, {2, 7}, {1, 7}, {2, 9}, {0, 6}}},
		// One in 40 s counts as one in 80 s.
		{[]int{0, 20}, []stint{{1, 8}, {2, 7}, {2, 9}, {0, 6}, {1, 30}}},
	} {
		s := &spend{left: 240 * time.Second, parts: three()}
		got := spendAll(t, s, func(_ int, chosen stint) (int, time.Duration, bool, []int) {
			p := s.parts[chosen.part]
			length := time.Duration(chosen.blocks) * p.block
			switch {
			case chosen.part == 1 && p.made == 0:
				return chosen.blocks, length, false, c.open
			case chosen.part == 2 && p.made == 0:
				return chosen.blocks, length, false, []int{6}
			}
			return chosen.blocks, length, true, nil
		})
		// Half as much again as was estimated.
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %v, want %v", c.open, got, c.want)
		}
	}
}

// A claim that lies exactly on its limit always seems to need one more block.
func TestWhatIsForetoldInVainComesLater(t *testing.T) {
	s := &spend{left: 240 * time.Second, parts: three()}
	got := spendAll(t, s, func(n int, c stint) (int, time.Duration, bool, []int) {
		length := time.Duration(c.blocks) * s.parts[c.part].block
		if c.part == 1 {
			return c.blocks, length, false, []int{1}
		}
		return c.blocks, length, true, nil
	})
	// One block in 2 s counts half after each further run that was in vain: after the
	// second, two claims in 14 s come first, and after the fifth, one in 60 s.
	want := []stint{{1, 8}, {1, 3}, {1, 3}, {2, 7}, {1, 3}, {1, 3}, {1, 3}, {0, 6}, {1, 3}}
	if len(got) < len(want) || !reflect.DeepEqual(got[:len(want)], want) {
		t.Errorf("%v, want %v first", got, want)
	}
}

func TestNothingIsMeasuredThatCannotDecide(t *testing.T) {
	s := &spend{left: time.Hour, parts: three()}
	got := spendAll(t, s, func(n int, c stint) (int, time.Duration, bool, []int) {
		return c.blocks, time.Duration(c.blocks) * s.parts[c.part].block, false, []int{0, 10000}
	})
	if len(got) != 3 {
		t.Errorf("%v: more than one run each, where no budget decides them", got)
	}
}

func TestBlocksThatTakeLongerAreReckonedSo(t *testing.T) {
	s := &spend{left: 100 * time.Second, parts: three()[1:]}
	got := spendAll(t, s, func(n int, c stint) (int, time.Duration, bool, []int) {
		return c.blocks, time.Duration(c.blocks) * 5 * time.Second, false, []int{6}
	})
	// 75 s are gone after the first pass, and six blocks of 5 s do not fit.
	if want := []stint{{0, 8}, {1, 7}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestAFailedOneIsPassedOver(t *testing.T) {
	s := &spend{left: time.Hour, parts: three()}
	got := spendAll(t, s, func(n int, c stint) (int, time.Duration, bool, []int) {
		if c.part == 1 {
			return 0, time.Second, false, nil
		}
		return c.blocks, time.Second, true, nil
	})
	if len(got) != 3 || !s.parts[1].over {
		t.Errorf("%v", got)
	}
}

// No other experiment could use the time.
func TestAnExperimentAloneHasTheWholeBudget(t *testing.T) {
	for _, c := range []struct {
		most  int
		files []int // blocks of each run
		want  []stint
	}{
		{0, []int{12}, []stint{{0, 0}}},
		{0, []int{40, 10}, []stint{{0, 0}, {0, 0}}},
		{50, []int{40, 10}, []stint{{0, 50}, {0, 10}}},
		{1, []int{1}, []stint{{0, 1}}},
	} {
		s := &spend{left: 500 * time.Second, parts: []*part{{block: 10 * time.Second, claims: 1, clear: 6, most: c.most}}}
		got := spendAll(t, s, func(n int, chosen stint) (int, time.Duration, bool, []int) {
			return c.files[n], time.Duration(c.files[n]) * 10 * time.Second, c.most == 0 && n == len(c.files)-1, []int{0}
		})
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
	// It is measured once, however little time there is.
	s := &spend{left: time.Second, parts: []*part{{block: 10 * time.Second, claims: 1, clear: 6}}}
	got := spendAll(t, s, func(int, stint) (int, time.Duration, bool, []int) { return 1, 10 * time.Second, false, []int{5} })
	if len(got) != 1 {
		t.Errorf("%v", got)
	}
}

func TestAPartKnowsWhatIsOpen(t *testing.T) {
	file := &results.File{Provenance: &results.Provenance{Ended: results.Blocks}}
	says := &verdict.File{Claims: []verdict.Claim{{Verdict: verdict.Reproduced}, {Open: true, VisitsNeeded: 3}, {Open: true}}}
	p := &part{}
	if p.say(says, file); p.over || !reflect.DeepEqual(p.needs, []int{3, 0}) {
		t.Errorf("%+v", p)
	}
	says.Claims = says.Claims[:1]
	if p.say(says, file); !p.over {
		t.Error("all is decided, and it goes on")
	}
	p = &part{}
	file.Provenance.Ended = results.Failing
	if p.say(&verdict.File{Claims: []verdict.Claim{{Open: true, VisitsNeeded: 3}}}, file); !p.over {
		t.Error("its trials fail, and it goes on")
	}
}

func TestBudgets(t *testing.T) {
	xs := func(n int) (out []*experiment.Experiment) {
		for range n {
			out = append(out, &experiment.Experiment{BudgetS: 60})
		}
		return out
	}
	for _, c := range []struct {
		n       int
		entries string
		all     bool
		want    time.Duration
	}{
		{2, "", false, 2 * time.Minute}, {9, "", false, 225 * time.Second},
		{9, "01", false, 9 * time.Minute}, {9, "", true, 9 * time.Minute}, {90, "", true, 24 * time.Minute},
	} {
		if got := budgetOf(xs(c.n), strings.Fields(c.entries), c.all); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestAClearCaseTakesMoreBlocksForMoreClaims(t *testing.T) {
	var got []string
	for _, claims := range []int{0, 1, 3, 9} {
		x := &experiment.Experiment{Claims: []experiment.Claim{{Kind: experiment.Count}, {Kind: experiment.Flat, Needs: experiment.Needs{Cores: 4}}}}
		for i := range claims {
			x.Claims = append(x.Claims, experiment.Claim{Kind: experiment.Flat, Metric: fmt.Sprint(i)})
		}
		got = append(got, fmt.Sprint(clearCase(x, 2)))
	}
	if want := "6 7 8 10"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}
