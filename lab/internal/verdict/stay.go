package verdict

import (
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
	of, base := s.run.valid[s.Conditions[a].ID], s.run.valid[s.Conditions[b].ID]
	for _, n := range blocksOf(of) {
		under, ok := base[n]
		if !ok {
			continue
		}
		at := anywhere(false)
		x, _ := s.run.Reading(of[n], metric)
		if y, _ := s.run.Reading(under, metric); x.High > 0 && y.High > 0 {
			at = ratioOf(x, y)
		}
		least, most = append(least, at.least), append(most, at.most)
	}
	return least, most
}

// ratioOf is the ratio of two readings, each of which may stand for a range.
func ratioOf(a, b results.Reading) span { return span{least: a.Low / b.High, most: a.High / b.Low} }
