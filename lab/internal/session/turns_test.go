package session

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
)

// Blocks of two runs take turns, one run at a time, and each run has one file. Whatever
// ends the call, all of them keep their complete blocks.
func TestRunsOfACallAreMeasuredInTurns(t *testing.T) {
	for _, c := range []struct {
		name string
		fail int // after so many blocks of the first
		stop bool
		want []int
		ends results.Ended
	}{
		{"to the end", 0, false, []int{6, 6}, results.Decided},
		{"interrupted", 3, true, []int{3, 3}, results.Interrupted},
		{"failed", 3, false, []int{3, 3}, results.Interrupted},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorkshop(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if w.fail = c.fail; c.stop {
				w.cancel = cancel
			}
			b := w.session(Options{Budget: 10 * time.Minute})
			var order []string
			at := 0
			b.do = func(ctx context.Context, p run.Plan, watch run.Watcher) (*run.Made, error) {
				keep, turn := p.Keep, p.Turn
				if at++; at > 1 {
					t.Errorf("%s begins within another's turn", p.Experiment.Name)
				}
				p.Keep = func(m *run.Made) error {
					order = append(order, p.Experiment.Entry)
					return keep(m)
				}
				p.Turn = func() results.Ended {
					at--
					defer func() { at++ }()
					return turn()
				}
				defer func() { at-- }()
				return w.do(ctx, p, watch)
			}
			_, err := b.Reproduce(ctx, b.j.Experiments, io.Discard)
			if (err != nil) != (c.fail > 0) {
				t.Error(err)
			}
			runs := w.inOrder()
			if !slices.Equal(blocks(runs), c.want) ||
				!slices.Equal(order, slices.Repeat([]string{"97", "98"}, 6)[:c.want[0]+c.want[1]]) {
				t.Errorf("blocks %v in the order %v", blocks(runs), order)
			}
			for _, f := range runs {
				if f.Provenance.Ended != c.ends {
					t.Errorf("%s ended: %s", f.Experiment, f.Provenance.Ended)
				}
			}
			if said := w.said(); strings.Contains(said,
				"kept 3 blocks of a run of 98-other that was cut short") != (c.fail > 0) ||
				!strings.Contains(said, "  round 1, 98-other block 1: ") {
				t.Error(said)
			}
		})
	}
}

func TestAFailedExperimentEndsReproduce(t *testing.T) {
	for _, goOn := range []bool{false, true} {
		w := newWorkshop(t)
		b := w.session(Options{Budget: 10 * time.Minute, KeepGoing: goOn})
		b.do = func(ctx context.Context, p run.Plan, watch run.Watcher) (*run.Made, error) {
			if p.Experiment.Name == counted {
				return nil, errBroken
			}
			return w.do(ctx, p, watch)
		}
		_, err := b.Reproduce(context.Background(), b.j.Experiments, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "97-counted: a cable was pulled") {
			t.Error(err)
		}
		if want := map[bool]int{true: 1}[goOn]; len(w.inOrder()) != want {
			t.Errorf("going on %v: %d runs", goOn, len(w.inOrder()))
		}
	}
}
