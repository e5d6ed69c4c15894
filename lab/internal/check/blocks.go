package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// edge is the most by which two slots may seem to overlap, in seconds: the
// times of both are rounded to microseconds.
const edge = 3e-6

// checkBlocks draws each block's order again from the run's seed and compares
// the trials and their slots with it. Trials are listed by block, within a
// block by group in the order drawn, and within a group by condition. Groups
// must follow one another without overlap, and so must the slots of a group.
// The trials of a group that takes no turns must all have started at once.
func (f *file) checkBlocks() error {
	if err := f.checkControl(); err != nil {
		return err
	}
	p := f.Provenance
	if want := p.Blocks * len(f.Conditions); len(f.Trials) != want {
		return fmt.Errorf("/trials: %d, but %d complete blocks of %d conditions have %d", len(f.Trials), p.Blocks,
			len(f.Conditions), want)
	}
	groups := f.Groups()
	clock := &clock{at: p.StartedAt, of: "the run began"}
	next := 0
	for b := 1; b <= p.Blocks; b++ {
		for _, sequence := range experiment.DrawBlock(groups, p.Block.Rounds, p.Seed, b) {
			conditions := experiment.Members(sequence)
			for k, c := range conditions {
				t := f.Trials[next+k]
				if want := f.Conditions[c].ID; t.Block != b || t.Condition != want {
					return fmt.Errorf("/trials/%d: %q in block %d, but the seed draws %q in block %d next", next+k, t.Condition,
						t.Block, want, b)
				}
				if rotates := f.Settings.With(f.Conditions[c].Levels)[setting.Generator] == setting.String(
					setting.HTTPLoad); t.Slots == nil && rotates && t.Valid {
					return fmt.Errorf("/trials/%d/slots: missing; http_load takes turns", next+k)
				} else if t.Slots != nil && !rotates {
					return fmt.Errorf("/trials/%d/slots: only http_load takes turns", next+k)
				} else if first := f.Trials[next]; !rotates && !t.StartedAt.Equal(first.StartedAt) && !t.StartedAt.IsZero() &&
					!first.StartedAt.IsZero() {
					return fmt.Errorf("/trials/%d/started_at: %s, but %q began at %s, and what takes no turns is up together only "+
						"to be measured at once", next+k, t.StartedAt.Format(time.RFC3339Nano), first.Condition,
						first.StartedAt.Format(time.RFC3339Nano))
				}
			}
			if err := clock.group(f, next, len(conditions)); err != nil {
				return err
			}
			// Indexes of the group's trials, in the order of the slots.
			places := strict.Called(sequence, func(c int) int { return next + slices.Index(conditions, c) })
			if err := clock.slots(f, places); err != nil {
				return err
			}
			next += len(conditions)
		}
	}
	if clock.at.After(p.FinishedAt.Add(cutOff)) {
		return fmt.Errorf("/provenance/finished_at: %s is before its last trial ended", p.FinishedAt.Format(time.RFC3339))
	}
	return nil
}

// A clock is the moment up to which a run's trials have been checked.
type clock struct {
	at    time.Time // wall clock
	of    string    // what ended then, for messages
	slotS float64   // end of the last slot, in seconds since the run began
}

// group checks that no trial of a group started before what came before it had
// ended.
func (c *clock) group(f *file, first, n int) error {
	latest, of := c.at, c.of
	for i, t := range f.Trials[first : first+n] {
		if t.StartedAt.IsZero() {
			if t.Valid {
				return fmt.Errorf("/trials/%d/started_at: missing; a trial that counts was started", first+i)
			}
			continue
		}
		if t.StartedAt.Before(c.at) {
			return fmt.Errorf("/trials/%d/started_at: %s is before %s", first+i, t.StartedAt.Format(time.RFC3339Nano), c.of)
		}
		if end := t.StartedAt.Add(t.Took(f.Provenance)); !end.Before(latest) {
			latest, of = end, fmt.Sprintf("the trial of %q before it ended, which ran for %.4g s", t.Condition,
				t.Took(f.Provenance).Seconds())
		}
	}
	c.at, c.of = latest, of
	return nil
}

// slots compares the slots of a group with the order drawn for them. A trial
// that was cut short has fewer slots: whichever are there follow one another as drawn.
func (c *clock) slots(f *file, places []int) error {
	type slot struct{ of, k int }
	var all []slot
	drawn := map[int]int{}
	for _, i := range places {
		if s, k := f.Trials[i].Slots, drawn[i]; s != nil && k < len(s.AtS) {
			all = append(all, slot{i, k})
		}
		drawn[i]++
	}
	for i, n := range drawn {
		if s := f.Trials[i].Slots; s != nil && len(s.AtS) > n {
			return fmt.Errorf("/trials/%d/slots/at_s: %d slots of %d", i, len(s.AtS), n)
		}
	}
	if len(all) < len(places) {
		slices.SortStableFunc(all, func(a, b slot) int {
			return cmp.Compare(f.Trials[a.of].Slots.AtS[a.k], f.Trials[b.of].Slots.AtS[b.k])
		})
	}
	for _, one := range all {
		s, at := f.Trials[one.of].Slots, slices.Index(places, one.of)
		if begun := s.AtS[one.k] - s.FillS[one.k]; at < 0 || begun < c.slotS-edge {
			return fmt.Errorf("/trials/%d/slots/at_s/%d: %v, filled for %v s, but the slot that the seed draws before it "+
				"ended at %.9g", one.of, one.k, s.AtS[one.k], s.FillS[one.k], c.slotS)
		}
		c.slotS = s.AtS[one.k] + s.DurationS[one.k]
		places = places[at+1:]
	}
	return nil
}
