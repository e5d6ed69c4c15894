package verdict

import (
	"fmt"
	"math"

	"github.com/line-rate/line-rate/lab/internal/bound"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// walls are those that a trial met, by the rule that is in force now.
func (d *decider) walls(t results.Trial) bound.Walls {
	return bound.Of(t.Metrics, d.r.Topology.LineRateBps).Walls()
}

// tallyBounds counts trials by what bounded them.
func (d *decider) tallyBounds(trials []results.Trial) map[string]int {
	out := map[string]int{}
	for _, t := range trials {
		out[string(d.walls(t).Bound())]++
	}
	return out
}

// count tells of how many trials something holds.
func (d *decider) count(trials []results.Trial, holds func(bound.Walls) bool) int {
	n := 0
	for _, t := range trials {
		if holds(d.walls(t)) {
			n++
		}
	}
	return n
}

// offered tells whether the load of a trial's condition is what bounds its
// throughput: a rate was asked for that is to be met.
func (d *decider) offered(t results.Trial) bool {
	for _, c := range d.r.Conditions {
		if c.ID == t.Condition {
			s := d.r.Settings.With(c.Levels)
			rate, _ := s[setting.Rate].Int()
			events, _ := s[setting.EventRate].Int()
			overload, _ := s[setting.Overload].Bool()
			return rate > 0 && !overload || events > 0
		}
	}
	return false
}

// wireSeen tells whether it is known how full the wire was: over loopback there
// is none, and of a wire whose line rate nobody gave nothing can be said.
func (d *decider) wireSeen(t results.Trial) bool {
	_, read := t.Metrics["line_rate_share"]
	return read || d.r.Topology.Kind == "loopback" || d.r.Topology.LineRateBps > 0
}

// evaluateBound holds the claimed wall against every trial's walls. A trial
// speaks for the claim where that wall alone was met and the others are known
// to have had room, and against it where it was looked at and had room. What
// was not recorded is evidence of neither.
//
// A text seldom records everything: there the wall it shows is enough to agree.
func (d *decider) evaluateBound(c experiment.Claim) finding {
	f := finding{pairs: math.MaxInt}
	claimed := bound.Bound(c.Bound)
	hits, beside, unseen, against, all := 0, 0, 0, 0, 0
	least := math.Inf(1)
	for _, cond := range d.conds {
		n := 0
		for _, t := range d.valid[cond.ID] {
			n++
			w := d.walls(t)
			switch complete := len(w.Unseen) == 0 || d.r.Source == results.Published; {
			case w.Bound() == claimed && complete:
				hits++
			case w.Meets(claimed) && len(w.Met) > 1:
				beside++
			case w.Room(claimed) && (claimed != bound.Wire || d.wireSeen(t)):
				against++
			default:
				unseen++
			}
			if s, ok := t.Metrics["line_rate_share"]; ok {
				least = min(least, s)
			}
		}
		all += n
		f.pairs = min(f.pairs, n)
	}
	f.points, f.unseen = hits == all, against == 0 && unseen > 0
	f.why = fmt.Sprintf("%d of %d trials were bounded by %s", hits, all, c.Bound)
	if beside > 0 {
		f.why += fmt.Sprintf("; in %d more that was saturated beside another wall", beside)
	}
	if unseen > 0 {
		f.why += fmt.Sprintf("; of %d more it was not recorded whether they were", unseen)
	}
	if claimed == bound.Wire && !math.IsInf(least, 1) {
		f.why += fmt.Sprintf("; the least full wire was at %.1f %%", least*100)
	}
	switch {
	case hits == all:
		f.verdict = Reproduced
	case 2*against > all:
		f.verdict = Refuted
	default:
		f.verdict = Inconclusive
	}
	return f
}
