package verdict

import (
	"maps"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// A Stay is one run judged alone. It bets block by block, as if each were a visit: what it
// says is of this stay alone.
type Stay struct {
	Control  *Control  // nil without one
	Relative *Relative // nil if the design asks for none
	// Conditions are the levels' summaries, in the order of the levels.
	Conditions []Summary
	Begun      int // blocks that have any trial
	run        *source
}

// StayOf judges a run on the host h.
func StayOf(h *host.Profile, r Run) *Stay {
	d := newDecider(Asked(nil), h, []Run{r})
	d.oneStay = true
	return &Stay{d.evaluateControl(), d.relative(), d.last.summaries(), len(d.last.begun()), d.last}
}

// Ratios gives a metric of condition a over that of condition b, numbered as Conditions, as
// the least and the most that it may be in each block in which both have a valid trial. A
// block that cannot tell, for want of the figure or with one of 0, may have any ratio: it
// counts, and so makes every answer harder to reach.
func (s *Stay) Ratios(a, b int, metric string) (least, most []float64) {
	return s.ratios(a, b, s.Conditions[a].ID, s.Conditions[b].ID, metric)
}

// Again gives the ratios of the same blocks with the run's A/A control in place of the one of the two
// that it repeats. Where the control has no valid trial, they are from 0 to infinity; nil if
// it repeats neither.
func (s *Stay) Again(a, b int, metric string) (least, most []float64) {
	over, under := s.Conditions[a].ID, s.Conditions[b].ID
	switch c := s.run.control; {
	case c == nil:
		return nil, nil
	case c.ControlOf == over:
		over = c.ID
	case c.ControlOf == under:
		under = c.ID
	default:
		return nil, nil
	}
	return s.ratios(a, b, over, under, metric)
}

// ratios are those of two conditions' figures, in the blocks in which a and b have both a valid trial.
func (s *Stay) ratios(a, b int, over, under, metric string) (least, most []float64) {
	valid := s.run.valid
	for _, n := range slices.Sorted(maps.Keys(valid[s.Conditions[a].ID])) {
		if _, ok := valid[s.Conditions[b].ID][n]; !ok {
			continue
		}
		at := anywhere(false)
		x, _ := s.run.Reading(valid[over][n], metric) // of a trial that is missing there is none
		if y, _ := s.run.Reading(valid[under][n], metric); x.High > 0 && y.High > 0 {
			at = ratioOf(x, y)
		}
		least, most = append(least, at.least), append(most, at.most)
	}
	return least, most
}

// ratioOf is the ratio of two readings, each of which may stand for a range.
func ratioOf(a, b results.Reading) span { return span{least: a.Low / b.High, most: a.High / b.Low} }
