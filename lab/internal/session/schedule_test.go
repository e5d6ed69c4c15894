package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// A walk is what a schedule chose by a clock of its own.
type walk struct {
	began time.Time
	order []int
	waits []time.Duration
	ends  time.Duration // since the beginning
}

// walked follows a schedule to its end. block makes each chosen block: how long it takes, and
// the verdicts after it, of which nil says that all is decided.
func walked(t *testing.T, budget time.Duration, s *schedule,
	block func(at, made int) (time.Duration, *verdict.File)) (w walk) {
	t.Helper()
	w.began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now, left := w.began, map[int]time.Time{}
	for s.until = now.Add(budget); ; {
		at, wait, ok := s.next(now)
		if !ok {
			w.ends = now.Sub(w.began)
			return w
		}
		if wait > 0 {
			w.waits = append(w.waits, wait)
			now = now.Add(wait)
			continue
		}
		if was, ok := left[at]; ok && !s.single && now.Sub(was) < results.VisitGap {
			t.Errorf("block %d: part %d was left %v ago", len(w.order), at, now.Sub(was))
		}
		p := s.parts[at]
		length, says := block(at, p.made+1)
		now = now.Add(length)
		if w.order, left[at] = append(w.order, at), now; len(w.order) > 300 {
			t.Fatalf("it never ends: %v", w.order)
		}
		s.add(p, 1, length, now)
		if p.update(says); says == nil {
			p.over = true
		}
	}
}

// stillOpen is a record with claims that need so many further blocks.
func stillOpen(blocks int, needs ...int) *verdict.File {
	f := &verdict.File{}
	for _, n := range needs {
		f.Claims = append(f.Claims, verdict.Claim{Open: true, Blocks: blocks, VisitsNeeded: n})
	}
	return f
}

// clearly decides all claims of a part with the last block of its clear case.
func clearly(s *schedule) func(at, made int) (time.Duration, *verdict.File) {
	return func(at, made int) (time.Duration, *verdict.File) {
		p := s.parts[at]
		if made == p.clear {
			return p.block, nil
		}
		return p.block, stillOpen(made, slices.Repeat([]int{p.clear - made}, p.claims)...)
	}
}

// blocksOf counts the blocks of each of three parts.
func (w walk) blocksOf() (n [3]int) {
	for _, at := range w.order {
		n[at]++
	}
	return n
}

func three() []*part {
	return []*part{
		{block: 9 * time.Second, claims: 1, clear: 6},
		{block: 3 * time.Second, claims: 4, clear: 8},
		{block: 3 * time.Second, claims: 2, clear: 7},
	}
}

func TestItGoesRoundAndWaitsOnlyForTheGap(t *testing.T) {
	s := &schedule{parts: three()}
	w := walked(t, time.Hour, s, clearly(s))
	// Four claims in 24 s come before two in 21 s, and one in 54 s comes last. After six
	// rounds the two others are left, and at last one. Part 0 ends each round, and the two
	// others do not fill its gap.
	want := append(slices.Repeat([]int{1, 2, 0}, 6), 1, 2, 1)
	if !slices.Equal(w.order, want) {
		t.Errorf("%v, want %v", w.order, want)
	}
	if want := append(slices.Repeat([]time.Duration{4 * time.Second}, 5), 7*time.Second); !slices.Equal(w.waits, want) {
		t.Errorf("waits %v, want %v", w.waits, want)
	}
	// An experiment alone is left alone all the same, and no longer than it has to be.
	s = &schedule{parts: three()[2:]}
	w = walked(t, time.Hour, s, clearly(s))
	if want := slices.Repeat([]time.Duration{results.VisitGap}, 6); len(w.order) != 7 || !slices.Equal(w.waits, want) {
		t.Errorf("alone: %d blocks, waits %v", len(w.order), w.waits)
	}
}

// A block of what the budget cannot carry to the end decides nothing now: it only fills
// the gaps of others, or the time when nothing else is left.
func TestWhatCannotBeCarriedToTheEndFillsGaps(t *testing.T) {
	for budget, want := range map[time.Duration][3]int{
		130 * time.Second: {6, 8, 7}, // all of it takes 99 s, and 27 s of waiting
		103 * time.Second: {1, 8, 7}, // six blocks of 9 s and five gaps take 104 s
		93 * time.Second:  {3, 4, 7}, // eight blocks of 3 s and seven gaps take 94 s
		80 * time.Second:  {4, 5, 5}, // seven blocks and six gaps take 81 s
	} {
		s := &schedule{parts: three()}
		w := walked(t, budget, s, clearly(s))
		if got := w.blocksOf(); got != want {
			t.Errorf("%v: blocks %v, want %v", budget, got, want)
		}
		if w.ends > budget {
			t.Errorf("%v: it took %v", budget, w.ends)
		}
	}
}

func TestBlocksThatTakeLongerAreReckonedSo(t *testing.T) {
	s := &schedule{parts: three()}
	slow := three()
	slow[1].block, slow[2].block = 6*time.Second, 6*time.Second
	w := walked(t, 130*time.Second, s, func(at, made int) (time.Duration, *verdict.File) {
		_, says := clearly(s)(at, made)
		return slow[at].block, says
	})
	// After two blocks the one with the least for its time is given up, and the others are
	// decided. No block of it fits into what is left then.
	if got := w.blocksOf(); got != [3]int{0, 8, 7} || w.ends > 130*time.Second {
		t.Errorf("blocks %v in %v", got, w.ends)
	}
}

// Two parts whose blocks take twice as long as planned say the same of the third, which is
// not begun: the budget would not carry all three to the end.
func TestWhatWasNeverMadeTakesLongerToo(t *testing.T) {
	s := &schedule{parts: []*part{
		{block: 3 * time.Second, claims: 4, clear: 8}, {block: 3 * time.Second, claims: 2, clear: 7},
		{block: 3 * time.Second, claims: 1, clear: 7},
	}}
	w := walked(t, 122*time.Second, s, func(at, made int) (time.Duration, *verdict.File) {
		_, says := clearly(s)(at, made)
		return 6 * time.Second, says
	})
	if got := w.blocksOf(); got != [3]int{8, 7, 0} {
		t.Errorf("blocks %v in %v", got, w.ends)
	}
}

// What a call has no time to decide, it prepares for the next of its kind.
func TestTheTimeThatDecidesNothingIsOfUseLater(t *testing.T) {
	parts := three()[1:2]
	w := walked(t, 100*time.Second, &schedule{parts: parts}, func(_, made int) (time.Duration, *verdict.File) {
		if made < 5 {
			return 3 * time.Second, stillOpen(0, 8) // refused
		}
		return 3 * time.Second, stillOpen(made-4, 12-made)
	})
	if len(w.order) != 8 || w.ends > 100*time.Second {
		t.Errorf("%d blocks in %v", len(w.order), w.ends)
	}
}

// A claim that lies exactly on its limit always seems to need one more block. In two
// minutes it takes no time from claims that can be decided.
func TestWhatIsForetoldInVainComesLater(t *testing.T) {
	s := &schedule{parts: three()}
	w := walked(t, 150*time.Second, s, func(at, made int) (time.Duration, *verdict.File) {
		if at == 1 {
			return 3 * time.Second, stillOpen(made, 1)
		}
		return clearly(s)(at, made)
	})
	if got := w.blocksOf(); got[0] != 6 || got[2] != 7 || got[1] < 9 || w.ends > 150*time.Second {
		t.Errorf("blocks %v in %v", got, w.ends)
	}
}

func TestNothingIsMeasuredThatCannotDecide(t *testing.T) {
	s := &schedule{parts: three()}
	w := walked(t, time.Hour, s, func(at, made int) (time.Duration, *verdict.File) {
		return s.parts[at].block, stillOpen(10, 0, 10000)
	})
	if got := w.blocksOf(); got != [3]int{1, 1, 1} {
		t.Errorf("blocks %v, where no budget decides the claims", got)
	}
}

// Blocks that the weather refused count for no claim, and what closed the gates may pass.
func TestWhatTheWeatherRefusedIsMeasuredAgain(t *testing.T) {
	s := &schedule{parts: three()[2:]}
	w := walked(t, time.Hour, s, func(_, made int) (time.Duration, *verdict.File) {
		if made < 5 {
			return 3 * time.Second, &verdict.File{Claims: []verdict.Claim{{Verdict: verdict.Invalid, Open: true}}}
		}
		return map[bool]func() (time.Duration, *verdict.File){
			true:  func() (time.Duration, *verdict.File) { return 3 * time.Second, nil },
			false: func() (time.Duration, *verdict.File) { return 3 * time.Second, stillOpen(made-4, 11-made) },
		}[made == 11]()
	})
	if len(w.order) != 11 {
		t.Errorf("%d blocks", len(w.order))
	}
}

func TestARunThatIsAskedForByNameHasNoBreaks(t *testing.T) {
	for _, c := range []struct {
		most, each, want int
		budget           time.Duration
	}{
		{0, 10, 10, 100 * time.Second}, {50, 40, 50, time.Hour}, {1, 1, 1, time.Hour},
		{0, 10, 1, time.Second}, // once, however little time there is
	} {
		s := &schedule{single: true, parts: []*part{{block: 10 * time.Second, claims: 1, clear: 6, most: c.most}}}
		w := walked(t, c.budget, s, func(int, int) (time.Duration, *verdict.File) {
			return 10 * time.Second,
				stillOpen(1, 0)
		})
		if len(w.order) != c.want || len(w.waits) > 0 {
			t.Errorf("%+v: %d blocks, waits %v", c, len(w.order), w.waits)
		}
	}
}

func TestAPartKnowsWhatIsOpen(t *testing.T) {
	says := &verdict.File{Claims: []verdict.Claim{
		{Verdict: verdict.Reproduced}, {Open: true, Blocks: 4, VisitsNeeded: 3}, {Open: true, Blocks: 7},
		{Open: true, Blocks: 2},
		{Verdict: verdict.Invalid, Open: true, Blocks: 9},
	}}
	p := &part{clear: 6}
	if p.update(says); p.over || !slices.Equal(p.needs, []int{3, 0, 4, 3}) {
		t.Errorf("%+v", p)
	}
	says.Claims = says.Claims[:1]
	if p.update(says); !p.over {
		t.Error("all is decided, and it goes on")
	}
}

func TestAClearCaseTakesMoreBlocksForMoreClaims(t *testing.T) {
	var got []string
	for _, claims := range []int{0, 1, 3, 9} {
		x := &experiment.Experiment{Claims: []experiment.Claim{{Kind: experiment.Count},
			{Kind: experiment.Flat, Needs: experiment.Needs{Cores: 4}}}}
		for i := range claims {
			x.Claims = append(x.Claims, experiment.Claim{Kind: experiment.Flat, Metric: fmt.Sprint(i)})
		}
		got = append(got, fmt.Sprint(clearCase(x, 2)))
	}
	if want := "6 7 8 10"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestADesignHasRoomForWhatItsClaimsTake(t *testing.T) {
	x, err := experiment.Parse(counted, []byte(archivetest.CountedDesign("97", true)+flatClaim))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		budget         float64
		fresh, further bool // whether it is enough for a first run, and for one after others
	}{{60, true, true}, {20, false, true}, {1, false, false}} {
		x.BudgetS = c.budget
		for measured, fits := range map[bool]bool{false: c.fresh, true: c.further} {
			err := Decidable(x, measured)
			if (err == nil) != fits || err != nil &&
				!strings.HasPrefix(err.Error(), fmt.Sprintf("budget_s = %v: it holds ", c.budget)) {
				t.Errorf("%v s, measured %v: %v", c.budget, measured, err)
			}
		}
	}
}

const flatClaim = `[[claims]]
id = "flat"
kind = "flat"
text = "It is flat."
why = "Made up."
metric = "throughput_rps"
over = "workers"
margin = 0.1
`
