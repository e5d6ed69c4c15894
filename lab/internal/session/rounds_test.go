package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/terminal"
)

// Blocks of two runs take turns, ten seconds at least between two of one, and each run has one file.
// Whatever ends the call, all of them keep their complete blocks.
func TestRunsOfACallAreMeasuredInTurns(t *testing.T) {
	for _, c := range []struct {
		name string
		fail int // with this block of the first
		stop bool
		want []int
		ends results.Ended
	}{
		{"to the end", 0, false, []int{6, 6}, results.Decided},
		{"interrupted", 4, true, []int{3, 3}, results.Interrupted},
		{"failed", 4, false, []int{3, 3}, results.Interrupted},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorkshop(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if w.fail = c.fail; c.stop {
				w.cancel = cancel
			}
			_, _, err := w.reproduce(ctx, Options{Budget: 10 * time.Minute})
			if (err != nil) != (c.fail > 0) {
				t.Error(err)
			}
			runs := w.inOrder()
			if !slices.Equal(blocks(runs), c.want) ||
				!slices.Equal(w.order, slices.Repeat([]string{"97", "98"}, 6)[:c.want[0]+c.want[1]]) {
				t.Errorf("blocks %v in the order %v", blocks(runs), w.order)
			}
			for _, f := range runs {
				if f.Provenance.Ended != c.ends {
					t.Errorf("%s ended: %s", f.Experiment, f.Provenance.Ended)
				}
				var stays []results.Stay
				for _, stay := range f.Stays() {
					stays = append(stays, stay)
				}
				if got := slices.Max(results.Visits(stays)) + 1; got != f.Provenance.Blocks {
					t.Errorf("%s: %d blocks count apart, of %d", f.Experiment, got, f.Provenance.Blocks)
				}
			}
			if said := w.said(); strings.Contains(said,
				"kept 3 blocks of a run of 98-other that was cut short") != (c.fail > 0) ||
				!strings.Contains(said, "97-counted block 1: 4 s, at most 9 min 56 s left, 0 of 2 claims decided\n") {
				t.Error(said)
			}
		})
	}
}

func TestAFailedExperimentEndsReproduce(t *testing.T) {
	for _, goOn := range []bool{false, true} {
		w := newWorkshop(t)
		w.bad = counted
		_, _, err := w.reproduce(t.Context(), Options{Budget: 10 * time.Minute, KeepGoing: goOn})
		if err == nil || !strings.Contains(err.Error(), "97-counted: a cable was pulled") {
			t.Error(err)
		}
		if want := map[bool]int{true: 1}[goOn]; len(w.inOrder()) != want {
			t.Errorf("going on %v: %d runs", goOn, len(w.inOrder()))
		}
	}
}

// A schedule of made-up blocks, each experiment of which is decided by its last block.
func TestTheBudgetDecidesWhatItCan(t *testing.T) {
	second := time.Second
	type part struct {
		block  time.Duration
		needs  int
		blocks int // that decide it; 0: none ever does
	}
	for _, c := range []struct {
		name   string
		budget time.Duration
		parts  []part
		want   []int // blocks of each
		first  []int // that are measured
	}{
		{"time for all", time.Hour, []part{{3 * second, 8, 8}, {3 * second, 7, 7}, {9 * second, 6, 6}}, []int{8, 7, 6},
			[]int{0, 1, 2, 0, 1, 2}},
		// Another is begun while those begun have to wait, and no sooner.
		{"five", time.Hour, slices.Repeat([]part{{6 * second, 6, 6}}, 5), []int{6, 6, 6, 6, 6}, []int{0, 1, 2, 0, 1, 2}},
		{"time for two", 80 * second, []part{{3 * second, 6, 6}, {3 * second, 6, 6}, {9 * second, 7, 7}}, []int{6, 6, 1},
			[]int{0, 1, 0, 1}},
		// A claim on its limit takes no time from those that can be decided, once it had its chance.
		{"in vain", 3 * time.Minute, []part{{4 * second, 6, 0}, {11 * second, 7, 7}}, []int{10, 7}, []int{0, 1, 0, 1}},
		// Four fill the gaps: a fifth only has the time that is left.
		{"a fifth", 80 * second, slices.Repeat([]part{{3 * second, 6, 6}}, 5), []int{6, 6, 6, 6, 1}, []int{0, 1, 2, 3, 0, 1, 2, 3}},
	} {
		at := time.Unix(0, 0)
		s := &Session{until: at.Add(c.budget), Line: &terminal.Line{Now: func() time.Time { return at }}}
		var order []*Outcome
		for _, p := range c.parts {
			order = append(order, &Outcome{block: p.block, needs: p.needs})
		}
		var made []int
		for {
			o, wait := s.next(order)
			if o == nil {
				break
			}
			if at = at.Add(wait); wait > 0 {
				continue
			}
			if o.blocks > 0 && at.Sub(o.left) < results.VisitGap {
				t.Errorf("%s: a block after %v", c.name, at.Sub(o.left))
			}
			i := slices.Index(order, o)
			made = append(made, i)
			at = at.Add(o.block)
			o.blocks, o.left = o.blocks+1, at
			o.over = o.blocks == c.parts[i].blocks
		}
		var got []int
		for _, o := range order {
			got = append(got, o.blocks)
		}
		if !slices.Equal(got, c.want) || !slices.Equal(made[:len(c.first)], c.first) || at.After(s.until) {
			t.Errorf("%s: blocks %v in the order %v, want %v, in %v", c.name, got, made, c.want, at.Sub(time.Unix(0, 0)))
		}
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
