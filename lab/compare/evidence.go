package compare

import "math"

// Evidence is what the blocks of one comparison say for each answer, as the natural logarithms
// of e-values: a bet on that answer, which gains nothing on average where it is false. Those of
// independent runs add up. An answer is shown where its own reaches that of 2/level; both
// directions of a question share the level.
type Evidence struct {
	// Agreed reports whether the A/A control agreed with itself and gates left enough trials. Else
	// the run decides nothing, and beside others it may only count against an answer.
	Agreed bool `json:"agreed"`

	More     float64  `json:"more"`                // the ratio is above 1
	Less     float64  `json:"less"`                // below 1
	AtMost   float64  `json:"at_most"`             // not above 1 + margin
	AtLeast  float64  `json:"at_least"`            // not below 1 / (1 + margin)
	Above    *float64 `json:"above,omitempty"`     // above --fail-above; absent if that was not asked, as the next is
	NotAbove *float64 `json:"not_above,omitempty"` // not above it
}

// Weigh gives the evidence of a ratio's blocks on a margin and on a bar (0: none). The interval
// of Ratios holds exactly what it does not exclude.
func Weigh(r Ratios, margin, bar float64) *Evidence {
	n, is := len(r.Least), r.count(margin, bar)
	up, down := r.shifts()
	e := &Evidence{
		More:    bet(is.more, n, up, false),
		Less:    bet(is.less, n, down, false),
		AtMost:  bet(is.atMost, n, down, false),
		AtLeast: bet(is.atLeast, n, up, false),
	}
	if bar > 0 {
		e.Above, e.NotAbove = new(bet(is.above, n, up, bar > 1)), new(bet(is.notAbove, n, down, bar < 1))
	}
	return e
}

// Judge is the rule of Ratio.Judge, at a level.
func (e *Evidence) Judge(level float64) Verdict {
	shown := func(log float64) bool { return log >= math.Log(2/level) }
	switch {
	case shown(e.AtMost) && shown(e.AtLeast):
		return Same
	case shown(e.More):
		return Dearer
	case shown(e.Less):
		return Cheaper
	}
	return Undecided
}

// Against says whether the ratio is above the bar: yes, no, or open; empty if that was not asked.
func (e *Evidence) Against(level float64) string {
	switch {
	case e.Above == nil || e.NotAbove == nil:
		return ""
	case *e.Above >= math.Log(2/level):
		return AboveYes
	case *e.NotAbove >= math.Log(2/level):
		return AboveNo
	}
	return AboveOpen
}
