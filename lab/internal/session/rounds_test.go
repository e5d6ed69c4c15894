package session

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

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
		{"to the end", 0, false, []int{9, 9}, results.Decided},
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
				!slices.Equal(w.order, slices.Repeat([]string{"97", "98"}, 9)[:c.want[0]+c.want[1]]) {
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

// A schedule of made-up blocks. Each experiment is decided by the last block of its clear case.
func TestTheBudgetDecidesWhatItCan(t *testing.T) {
	parts := []struct {
		block         time.Duration
		claims, clear int
	}{{9 * time.Second, 1, 6}, {3 * time.Second, 4, 8}, {3 * time.Second, 2, 7}}
	for budget, want := range map[time.Duration][]int{
		time.Hour:         {6, 8, 7}, // four claims in 24 s come before two in 21 s, and one in 54 s comes last
		130 * time.Second: {6, 8, 7}, // all of it takes 99 s, and 27 s of waiting
		103 * time.Second: {1, 8, 7}, // six blocks of 9 s and five gaps take 104 s: one fills a gap
		93 * time.Second:  {3, 4, 7}, // eight blocks of 3 s and seven gaps take 94 s
		80 * time.Second:  {4, 5, 5}, // seven blocks and six gaps take 81 s
	} {
		at := time.Unix(0, 0)
		s := &Session{until: at.Add(budget), Line: &terminal.Line{Now: func() time.Time { return at }}}
		for _, p := range parts {
			s.outcomes = append(s.outcomes, &outcome{block: p.block, clear: p.clear, needs: slices.Repeat([]int{p.clear}, p.claims)})
		}
		for {
			o, wait := s.next()
			if o == nil {
				break
			}
			if at = at.Add(wait); wait > 0 {
				continue
			}
			if o.blocks > 0 && at.Sub(o.left) < results.VisitGap {
				t.Errorf("%v: a block after %v", budget, at.Sub(o.left))
			}
			at = at.Add(o.block)
			o.blocks, o.left = o.blocks+1, at
			o.over = o.blocks == o.clear
			for i := range o.needs {
				o.needs[i] = o.clear - o.blocks
			}
		}
		var got []int
		for _, o := range s.outcomes {
			got = append(got, o.blocks)
		}
		if !slices.Equal(got, want) || at.After(s.until) {
			t.Errorf("%v: blocks %v, want %v, in %v", budget, got, want, at.Sub(time.Unix(0, 0)))
		}
	}
}
