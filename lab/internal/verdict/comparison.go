package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/line-rate/line-rate/lab/confseq"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A band is where a claim wants a ratio or a value, edges included; infinite where it has no edge.
type band struct{ low, high float64 }

// inside tells whether a whole range is in the band, and beyond whether it is past one of the edges.
func (b band) inside(low, high float64) bool { return low >= b.low && high <= b.high }
func (b band) beyond(low, high float64) bool { return high < b.low || low > b.high }

// side is the error of either side of an interval. At a single edge only one of the two answers can
// be wrong, so each side has the whole. Figures are never negative, so 0 is no edge.
func (b band) side(level float64) float64 {
	if low, high := b.low > 0, !math.IsInf(b.high, 1); low != high {
		return level
	}
	return level / 2
}

// A comparison is a ratio of two conditions, a value of one, or whether a resource alone was the bottleneck, which is
// 1 or 0, and the band in which a claim wants it.
//
// A figure is a reading and may be a range. So a block gives a range too, and the verdict
// counts the whole range. It is then right wherever in their ranges the true figures are.
type comparison struct {
	metric    string         // empty for a share of a profile, and for a bottleneck
	a, b      setting.Levels // b is nil for what is no ratio; both are for a bottleneck, which is of all conditions
	over      string         // the factor whose levels a ratio compares; empty for a control
	band      band
	all       []results.Reading // by block that counts
	verdict   Verdict
	side      float64 // the part of the error of either answer
	low, high float64 // the interval
	known     bool    // whether there is one
}

// count counts readings inside of the band and beyond it; the others lie on an edge.
func (m *comparison) count() (yes, no int) {
	yes = strict.Count(m.all, func(r results.Reading) bool { return m.band.inside(r.Low, r.High) })
	return yes, strict.Count(m.all, func(r results.Reading) bool { return m.band.beyond(r.Low, r.High) })
}

// needed estimates how many further blocks decide, if they go on as before; 0 if unknown.
func (m *comparison) needed() int {
	yes, no := m.count()
	all, holds := confseq.Needed(yes, len(m.all), m.side)
	if fall, falls := confseq.Needed(no, len(m.all), m.side); falls && (!holds || fall < all) {
		all, holds = fall, true
	}
	if !holds {
		return 0
	}
	return max(1, all-len(m.all))
}

// ends lists the lower and the upper ends of readings.
func (m *comparison) ends() (low, high []float64) {
	for _, r := range m.all {
		low, high = append(low, r.Low), append(high, r.High)
	}
	return low, high
}

// fine is the relative width up to which a range is shown as a single figure: well
// below the smallest margin of any claim.
const fine = 0.005

// ratioOf is the range of a ratio of two readings.
func ratioOf(a, b results.Reading) results.Reading {
	r := results.Reading{Low: a.Low / b.High, High: a.High / b.Low}
	if a.Nominal != nil && b.Nominal != nil {
		r.Nominal = new(*a.Nominal / *b.Nominal)
	}
	return r
}

// settle finds the interval at the comparison's part of the error, which decides it.
func (m *comparison) settle(level float64) {
	m.verdict, m.side = Open, m.band.side(level)
	low, high := m.ends()
	switch m.low, m.high, m.known = confseq.Median(low, high, 2*m.side); {
	case m.known && m.band.inside(m.low, m.high):
		m.verdict = Confirmed
	case m.known && m.band.beyond(m.low, m.high):
		m.verdict = Refuted
	}
}

// medians are those of the lower and of the upper ends, over the blocks that count.
func (m *comparison) medians() (low, high float64) {
	least, most := m.ends()
	return stats.Median(least), stats.Median(most)
}

// exact tells whether a single figure is known of all blocks, rather than a range.
func (m *comparison) exact() bool {
	low, high := m.medians()
	return high <= (1+fine)*low && !slices.ContainsFunc(m.all, func(r results.Reading) bool { return r.Nominal == nil })
}

// worst is the comparison that decides: one that falls before one that is open, and that before one
// that holds. Of equals it is the one whose medians are nearest to leaving its band, or farthest
// outside, or with fewer blocks inside.
func worst(all []*comparison) *comparison {
	rank := map[Verdict]int{Confirmed: 0, Open: 1, Refuted: 2}
	outside := func(m *comparison) float64 {
		if len(m.all) == 0 {
			return math.Inf(-1)
		}
		low, high := m.medians()
		return max(m.band.low-low, high-m.band.high)
	}
	return slices.MaxFunc(all, func(m, w *comparison) int {
		inside, _ := m.count()
		others, _ := w.count()
		return cmp.Or(rank[m.verdict]-rank[w.verdict], cmp.Compare(outside(m), outside(w)), others-inside)
	})
}

// comparisons are those that a claim makes. A ratio is of levels of one factor at equal levels of all others.
func (rec *record) comparisons(c experiment.Claim) (all []*comparison) {
	low, high := c.Edges()
	switch c.Form() {
	case experiment.BottleneckForm: // that more than half of the blocks say yes, or no, is that the median is 1, or 0
		return []*comparison{{band: band{1, math.Inf(1)}}}
	case experiment.ValueForm:
		for _, levels := range rec.conds {
			within, ok := band{low, high}, true
			if c.Equals != "" {
				n, set := rec.fixed.With(levels)[c.Equals].Int()
				is := float64(n + c.Plus)
				within, ok = band{is, is}, set
			}
			if ok {
				all = append(all, &comparison{metric: c.Metric, a: levels, band: within})
			}
		}
		return all
	}
	for _, s := range rec.strata(c) {
		add := func(a, b int, low, high float64) {
			all = append(all, &comparison{metric: c.Metric, over: c.Over, a: s[a], b: s[b], band: band{low, high}})
		}
		last := len(s) - 1
		switch {
		case last < 1:
		case c.Kind == experiment.Flat:
			for b := range s {
				for a := b + 1; a < len(s); a++ {
					add(a, b, 1/(1+*c.Margin), 1+*c.Margin)
				}
			}
		case c.Kind == experiment.Monotonic:
			for b := range last {
				add(b+1, b, 1/(1+*c.Margin), math.Inf(1))
			}
			add(last, 0, 1, math.Inf(1))
		default:
			add(last, 0, max(low, 0), high)
		}
	}
	return all
}

// strata groups the conditions by the levels of all factors but the claim's. Each group is in the order of
// that factor's levels, or in that of those which the claim names.
func (rec *record) strata(c experiment.Claim) (out [][]setting.Levels) {
	at := map[string]int{}
	for _, levels := range rec.conds {
		key := levels.Without(c.Over).Key()
		if _, ok := at[key]; !ok {
			at[key], out = len(out), append(out, nil)
		}
		out[at[key]] = append(out[at[key]], levels)
	}
	place := func(levels setting.Levels) int { return slices.Index(c.Compared, levels[c.Over]) }
	for _, s := range out { // in which all have the same place, if the claim names none
		slices.SortStableFunc(s, func(a, b setting.Levels) int { return place(a) - place(b) })
	}
	return out
}

// reading is what a block that counts gives.
func (rec *record) reading(c experiment.Claim, m *comparison, b block) results.Reading {
	if m.a == nil {
		trials, _ := b.trials(rec.conds)
		if is, _ := b.of.alone(c, trials); is {
			return results.Reading{Low: 1, High: 1}
		}
		return results.Reading{}
	}
	r, _ := b.of.figure(c, b.of.at(m.a)[b.number])
	if m.b != nil {
		other, _ := b.of.figure(c, b.of.at(m.b)[b.number])
		return ratioOf(r, other)
	}
	return r
}

// follows says that what others ran, the idle servers among them, follows one of two conditions and may explain their
// ratio; empty if it does not.
func (m *comparison) follows(blocks []block) string {
	var more []float64
	for _, b := range blocks {
		x, y := b.of.at(m.a)[b.number].Metrics, b.of.at(m.b)[b.number].Metrics
		_, known := x[gate.Strangers]
		_, both := y[gate.Strangers]
		if known && both {
			more = append(more, x[gate.Strangers]-y[gate.Strangers]+x[gate.Idle]-y[gate.Idle])
		}
	}
	if len(more) == 0 {
		return ""
	}
	low, high := m.medians()
	by, k, n, is := gate.Follows(more, (low+high)/2)
	if !is {
		return ""
	}
	at := m.a[m.over]
	if by < 0 {
		at = m.b[m.over]
	}
	return fmt.Sprintf("others ran more in the slots where %s is %s, in %d of %d blocks: something follows it, as work "+
		"that a server leaves to others", setting.Phrase(m.over), setting.LevelPhrase(at), k, n)
}

// ControlAlpha is the probability that a record's A/A control differs by chance alone, over all metrics and any
// number of blocks. It is smaller than the error of verdicts, because a control that differs takes decisions away.
const ControlAlpha = 0.01

// control compares the A/A controls of a record's runs with the conditions that they repeat, in the two metrics that
// every experiment rests on and in those of the last run's ratio claims. It is nil where no run has a control.
func (d *decider) control() *Control {
	runs := strict.Filter(d.like, func(s *source) bool { return s.control != nil && len(s.Trials) > 0 })
	if len(runs) == 0 {
		return nil
	}
	names := []string{"server_cpu_per_request_s", "throughput_rps"}
	for _, c := range d.last.then.Claims {
		if c.Form() == experiment.RatioForm && c.Metric != "" && !slices.Contains(names, c.Metric) {
			names = append(names, c.Metric)
		}
	}
	var found []*comparison
	for _, name := range names {
		m := &comparison{metric: name, b: setting.Levels{}, band: band{1, 1}}
		for _, b := range begun(runs) {
			again, _ := b.of.Reading(b.of.valid[b.of.control.ID][b.number], name)
			of, _ := b.of.Reading(b.of.valid[b.of.control.ControlOf][b.number], name)
			// Figures of 0 and unrecorded ones have no ratio. They decide no claim.
			if again.High > 0 && of.High > 0 {
				m.all = append(m.all, ratioOf(again, of))
			}
		}
		if len(m.all) > 0 {
			found = append(found, m)
		}
	}
	least, reach, differs := 0, 1.0, ""
	for i, m := range found {
		m.settle(ControlAlpha / float64(len(found)))
		if by := max(m.high, 1/m.low); m.verdict == Refuted && by > reach { // 1 lies outside of its interval
			reach, differs = by, "its A/A control differed in "+m.figures(experiment.Claim{})
		}
		if i == 0 || len(m.all) < least {
			least = len(m.all)
		}
	}
	if differs != "" {
		return &Control{differs, reach}
	}
	if least < stats.MinSamples {
		return &Control{fmt.Sprintf("only %d blocks have its A/A control complete, and %d are the least", least,
			stats.MinSamples), 0}
	}
	return &Control{fmt.Sprintf("no difference seen in %s; %s", words.Count(len(found), "metric"),
		found[0].figures(experiment.Claim{})), 1}
}

// allows tells whether the control leaves a claim decided. One that differs shows how far two conditions may lie
// apart with nothing between them, so each interval that decides has to keep its side if it is that much wider. A
// bottleneck and a count compare no figures of conditions.
func (c *Control) allows(v Verdict, all []*comparison) bool {
	keeps := func(m *comparison) bool {
		switch low, high := m.low/c.Reach, m.high*c.Reach; {
		case m.a == nil, m.band.low == m.band.high:
			return m.verdict == v
		case v == Confirmed:
			return m.band.inside(low, high)
		default:
			return m.band.beyond(low, high)
		}
	}
	switch {
	case c.Reach <= 1:
		return c.Reach == 1
	case v == Confirmed:
		return !slices.ContainsFunc(all, func(m *comparison) bool { return !keeps(m) })
	}
	return slices.ContainsFunc(all, keeps)
}
