package verdict

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/bound"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
)

// Decide derives the verdict file of a run. All must belong together: the
// experiment as it is now, its design as it was when the run was made (the same
// for a published run, which no design was written for), the run, and the
// profile of its server's host.
//
// A run decides the claims of its own design, and no others: what was claimed
// after it was made could have been read off it. Those that the experiment no
// longer has, or has with other bars, are kept apart as withdrawn.
func Decide(x, then *experiment.Experiment, r *results.File, h *host.Profile) *File {
	d := newDecider(then, r, h)
	f := &File{
		SchemaVersion: Version, Experiment: x.Name, Entry: x.Entry, Run: r.Run, Source: string(r.Source),
		Host: r.Hosts.Server, ClientHost: r.Hosts.Client,
		Topology: r.Topology.Kind, LineRateBps: r.Topology.LineRateBps,
		Trials: len(r.Trials), Conditions: d.summaries(), Control: d.evaluateControl(true),
	}
	if p := r.Provenance; p != nil {
		f.Started = p.StartedAt.UTC().Format("2006-01-02T15:04:05Z")
		f.Date, f.Size, f.Blocks, f.Design = f.Started[:10], p.Size, p.Blocks, p.ExperimentSHA256
	} else if r.Text != nil {
		f.Date, f.Started = r.Text.Date, r.Text.Date
	}
	for _, t := range r.Trials {
		if !t.Valid {
			f.InvalidTrials++
		}
	}
	if r.Source == results.Measured && len(r.Trials) > 0 && f.Control == nil {
		f.Warnings = append(f.Warnings, "no A/A control in this run")
	}
	f.Claims = []Claim{}
	for _, c := range d.claims(f.Control, true) {
		was, _ := then.Claim(c.ID)
		if x.Holds(then, was) {
			f.Claims = append(f.Claims, c)
		} else {
			f.Withdrawn = append(f.Withdrawn, c)
		}
	}
	f.BoundsNow = d.boundsNow()
	return f
}

// boundsNow gives the bounds of trials that the file names by an earlier rule.
func (d *decider) boundsNow() map[int]bound.Bound {
	var now map[int]bound.Bound
	for _, t := range d.r.Trials {
		if b := d.walls(t).Bound(); b != t.Bound {
			if now == nil {
				now = map[int]bound.Bound{}
			}
			now[t.Seq] = b
		}
	}
	return now
}

// A decider holds one run in the order in which claims ask for it.
type decider struct {
	x     *experiment.Experiment
	r     *results.File
	h     *host.Profile
	conds []results.Condition
	// control is the A/A control, which is no level: it stands in no
	// comparison, count or bound of a claim.
	control *results.Condition
	valid   map[string]map[int]results.Trial // condition, block: the valid trial
}

func newDecider(x *experiment.Experiment, r *results.File, h *host.Profile) *decider {
	d := &decider{x: x, r: r, h: h, valid: map[string]map[int]results.Trial{}}
	for _, c := range r.Conditions {
		if c.ControlOf == "" {
			d.conds = append(d.conds, c)
		} else if d.control == nil {
			d.control = &c
		}
	}
	sort.SliceStable(d.conds, func(i, j int) bool { return less(d.conds[i].Levels, d.conds[j].Levels) })
	for _, t := range r.Trials {
		if !t.Valid {
			continue
		}
		if d.valid[t.Condition] == nil {
			d.valid[t.Condition] = map[int]results.Trial{}
		}
		// At most one trial of a block is valid: only an invalid one is
		// repeated. The first stands, so that no later one can replace it.
		if _, ok := d.valid[t.Condition][t.Block]; !ok {
			d.valid[t.Condition][t.Block] = t
		}
	}
	return d
}

func less(a, b setting.Levels) bool {
	for _, name := range setting.Names() {
		x, xok := a[name]
		y, yok := b[name]
		if xok != yok {
			return !xok
		}
		if xok && x != y {
			return x.Less(y)
		}
	}
	return false
}

// claims decides all claims of the run. Those about ratios are corrected
// together, so each waits for the others. In full it also works out what
// decides nothing: the plans and the bootstrap, which simulations do without.
func (d *decider) claims(control *Control, full bool) []Claim {
	var out []Claim
	var open []*finding // of the claims about ratios, in their order
	var at []int
	for _, c := range d.x.Claims {
		said, found := d.precheck(c)
		if out = append(out, said); found != nil {
			open, at = append(open, found), append(at, len(out)-1)
		}
	}
	ps := make([]float64, len(open))
	for i, f := range open {
		ps[i] = f.p()
	}
	for i, corrected := range stats.Holm(ps) {
		c := &out[at[i]]
		if full {
			open[i].prepare(len(open), corrected)
		}
		c.Verdict, c.Reason, c.P = open[i].conclude(corrected, len(open))
		if (c.Verdict == Reproduced || c.Verdict == Refuted) && control != nil && control.Outcome != Same {
			c.Verdict, c.Reason = Inconclusive, fmt.Sprintf("the run is suspect: %s; else %s, by %s", control.Reason, c.Verdict, c.Reason)
		}
	}
	for i, f := range open {
		out[at[i]].Effects, out[at[i]].Warnings = f.effects(full)
	}
	return out
}

// at keeps to the conditions with these levels.
func (d *decider) at(where setting.Levels) *decider {
	kept := *d
	kept.conds = nil
	for _, cond := range d.conds {
		if all := d.r.Settings.With(cond.Levels); all.With(where).Key() == all.Key() {
			kept.conds = append(kept.conds, cond)
		}
	}
	return &kept
}

// holdsSubject tells whether a trial holds what a claim is about: its metric, its kind
// of profile or, for a claim about bounds, anything.
func holdsSubject(c experiment.Claim, t results.Trial) bool {
	switch c.Kind {
	case experiment.Bound:
		return true
	case experiment.Share, experiment.Absent:
		_, ok := t.Profile(profiles.Kind(c.Profile))
		return ok
	}
	return has(t, c.Metric)
}

// has tells whether a trial says anything of a metric, if only that it was less
// than something.
func has(t results.Trial, name string) bool {
	_, known := t.Metrics[name]
	_, below := t.Below[name]
	return known || below
}

// validTrials returns the valid trials that a claim rests on.
func (d *decider) validTrials(c experiment.Claim) []results.Trial {
	var ts []results.Trial
	for _, cond := range d.conds {
		for _, b := range blocksOf(d.valid[cond.ID]) {
			t := d.valid[cond.ID][b]
			if holdsSubject(c, t) {
				ts = append(ts, t)
			}
		}
	}
	return ts
}

func (d *decider) anyValid() bool {
	for _, cond := range d.conds {
		if len(d.valid[cond.ID]) > 0 {
			return true
		}
	}
	return false
}

// invalid returns the invalid trials of levels; the control's are its own.
func (d *decider) invalid() []results.Trial {
	var ts []results.Trial
	for _, t := range d.r.Trials {
		if !t.Valid && (d.control == nil || t.Condition != d.control.ID) {
			ts = append(ts, t)
		}
	}
	return ts
}

func blocksOf(m map[int]results.Trial) []int {
	var bs []int
	for b := range m {
		bs = append(bs, b)
	}
	sort.Ints(bs)
	return bs
}

// gates counts the reasons of invalid trials: "3 trials invalid (non-2xx 2, errors 1)".
func gates(ts []results.Trial) string {
	if len(ts) == 0 {
		return "the other trials are missing"
	}
	count := map[string]int{}
	for _, t := range ts {
		for _, r := range t.Reasons {
			count[r.Gate]++
		}
	}
	return fmt.Sprintf("%d %s invalid (%s)", len(ts), plural(len(ts), "trial"), tally(count))
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

func tally(count map[string]int) string {
	var keys []string
	for k := range count {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s %d", k, count[k])
	}
	return strings.Join(keys, ", ")
}

// incomparable says why a run has nothing that a claim could be held against.
type incomparable struct{ why string }

func (i incomparable) Error() string { return i.why }

// A finding is what the figures say, before anything is said of whether there
// are enough of them.
type finding struct {
	verdict     Verdict // of claims that need no interval
	why         string
	comparisons []comparison // of claims about ratios
	pairs       int          // complete blocks, of the comparison that has fewest
	points      bool         // whether the medians alone agree with the claim
	// unseen says that nothing stands against the claim but what was not
	// recorded, or that the figures may stand for either answer.
	unseen bool
}

// strata groups the conditions that hold the claim's metric by the levels of
// all factors but the claim's, each group in the order of that factor's levels.
func (d *decider) strata(c experiment.Claim) [][]results.Condition {
	var order []string
	groups := map[string][]results.Condition{}
	for _, cond := range d.conds {
		if _, ok := cond.Levels[c.Over]; !ok || !d.holds(cond.ID, c.Metric) {
			continue
		}
		key := cond.Levels.Without(c.Over).Key()
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], cond)
	}
	var out [][]results.Condition
	for _, key := range order {
		out = append(out, groups[key])
	}
	return out
}

// holds tells whether a condition has the metric in any trial, or has lost all
// of its trials to gates; a condition that lost them must still be compared,
// so that the claim cannot pass without it.
func (d *decider) holds(id, name string) bool {
	for _, t := range d.valid[id] {
		if has(t, name) {
			return true
		}
	}
	return d.r.Source == results.Measured && len(d.valid[id]) == 0
}

// A pair is two levels by their index; whole marks the comparison of the last
// with the first, which a monotonic claim asks more of.
type pair struct {
	a, b  int
	whole bool
}

func pairsOf(k experiment.Kind, n int) []pair {
	var ps []pair
	switch k {
	case experiment.Flat:
		for b := range n {
			for a := b + 1; a < n; a++ {
				ps = append(ps, pair{a, b, false})
			}
		}
	case experiment.Monotonic:
		for b := 0; b+1 < n; b++ {
			ps = append(ps, pair{b + 1, b, false})
		}
		fallthrough
	case experiment.Ratio:
		if n > 1 {
			ps = append(ps, pair{n - 1, 0, true})
		}
	}
	return ps
}

// band is where a claim wants a ratio to lie.
func band(c experiment.Claim, whole bool) (low, high float64) {
	switch {
	case c.Kind == experiment.Flat:
		return 1 / (1 + *c.Margin), 1 + *c.Margin
	case c.Kind == experiment.Monotonic && whole:
		return 1, math.Inf(1)
	case c.Kind == experiment.Monotonic:
		return 1 / (1 + *c.Margin), math.Inf(1)
	case c.AtMost != nil:
		return 0, *c.AtMost
	}
	return *c.AtLeast, math.Inf(1)
}

// digits rounds to nine significant digits: more than any figure here bears,
// few enough that architectures which fuse multiplications agree.
func digits(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	// By way of text: scaled by powers of ten, small figures overflow.
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', 8, 64), 64)
	return v
}

// rough rounds to four, for what is an estimate of size: a p, a plan.
func rough(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', 3, 64), 64)
	return v
}
