package results

import (
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A visit is one stay of the lab at an experiment: blocks of it on one host that
// follow one another, whichever runs have them. What a neighbour, a clock or a
// cache does for a minute is in all of them alike, so a visit is one piece of
// evidence however many blocks it has, and bets are placed by visits. A block
// belongs to the visit before it if it begins less than VisitGap after that one's
// last trial ended and at most VisitSpan after its first block began.
//
// Ten seconds are longer than the lab itself takes from one block to the next, and
// a minute is what a budget gives an experiment at least. `lab reproduce` goes
// round its experiments block by block and stays away from each for VisitGap or
// more, so there a visit has one block.
const (
	VisitGap  = 10 * time.Second
	VisitSpan = 60 * time.Second
)

// A Stay is the time from the beginning of a block's first trial to the end of its
// last, profiles included.
type Stay struct{ Began, Ended time.Time }

// Stays gives the time of each block that has a trial. A block of which no trial
// was started has the moment at which the one before it ended, so it is never a
// visit of its own by that alone.
func (f *File) Stays() map[int]Stay {
	out := map[int]Stay{}
	p := f.Provenance
	at, profiled := p.StartedAt, p.Block.ProfileS
	for _, t := range f.Trials {
		began := t.StartedAt
		if began.IsZero() {
			began = at
		}
		end := began.Add(t.span(p))
		s, ok := out[t.Block]
		if !ok {
			s = Stay{began, end}
		}
		if began.Before(s.Began) {
			s.Began = began
		}
		if end.After(s.Ended) {
			s.Ended = end
		}
		out[t.Block] = s
		if s.Ended.After(at) {
			at = s.Ended
		}
	}
	for b, s := range out {
		s.Ended = s.Ended.Add(time.Duration(profiled * float64(len(f.Conditions)*int(time.Second))))
		out[b] = s
	}
	return out
}

// Visits gives the visit of each block, by the blocks' times. Visits are numbered
// from 0, oldest first; the blocks may be in any order.
func Visits(blocks []Stay) []int {
	order := make([]int, len(blocks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return blocks[a].Began.Compare(blocks[b].Began) })
	out := make([]int, len(blocks))
	visit := -1
	var first, free time.Time
	for _, i := range order {
		b := blocks[i]
		if visit < 0 || b.Began.Sub(free) >= VisitGap || b.Began.Sub(first) > VisitSpan {
			visit, first = visit+1, b.Began
		}
		if b.Ended.After(free) {
			free = b.Ended
		}
		out[i] = visit
	}
	return out
}

// Groups gives the conditions that are up together within a block, as indexes
// into Conditions. The control is among them.
func (f *File) Groups() [][]int {
	return experiment.Groups(strict.Map(f.Conditions,
		func(c Condition) setting.Levels { return f.Settings.With(c.Levels) }))
}

// Took is the least time that a trial took: its span, or 0 for an invalid one, which
// may have been cut short or have met a clock that was set.
func (t Trial) Took(p *Provenance) time.Duration {
	if !t.Valid {
		return 0
	}
	return t.span(p)
}

// span is the time from a trial's first slot to the end of its last, or its warm-up
// and window.
func (t Trial) span(p *Provenance) time.Duration {
	if n := len(t.Slots); n > 0 {
		last := t.Slots[n-1]
		return time.Duration((last.AtS + last.DurationS - t.Slots[0].AtS) * float64(time.Second))
	}
	return time.Duration((p.Block.WarmupS + t.Metrics["duration_s"]) * float64(time.Second))
}
