package verdict

import (
	"maps"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A source is one run, indexed for claims.
type source struct {
	*results.File
	then  *experiment.Experiment
	conds []results.Condition // ordered by their levels
	// control is the A/A control. It is not a level, and no comparison, count or
	// bound of a claim uses it.
	control *results.Condition
	valid   map[string]map[int]results.Trial // the valid trial, by condition and block
	ids     map[string]string                // of conditions, by the key of their levels
	fastest map[int]float64                  // fastest calibration of each block
	stays   map[int]results.Stay             // the time of each block
}

func newSource(run Run) *source {
	s := &source{File: run.File, then: run.Then, valid: map[string]map[int]results.Trial{}, ids: map[string]string{},
		fastest: run.File.Calibrations(), stays: run.File.Stays()}
	for _, c := range s.Conditions {
		if c.ControlOf == "" {
			s.conds = append(s.conds, c)
			s.ids[c.Levels.Key()] = c.ID
		} else if s.control == nil {
			s.control = &c
		}
	}
	slices.SortStableFunc(s.conds, func(a, b results.Condition) int { return a.Levels.Compare(b.Levels, setting.Names()) })
	for _, t := range s.Trials {
		if !t.Valid {
			continue
		}
		if s.valid[t.Condition] == nil {
			s.valid[t.Condition] = map[int]results.Trial{}
		}
		// At most one trial of a condition in a block is valid, since only an invalid
		// one is repeated. Keeping the first makes sure that no later one replaces
		// it.
		if _, ok := s.valid[t.Condition][t.Block]; !ok {
			s.valid[t.Condition][t.Block] = t
		}
	}
	return s
}

// at gives a condition's valid trials, by block.
func (s *source) at(levels setting.Levels) map[int]results.Trial { return s.valid[s.ids[levels.Key()]] }

// begun lists the blocks that have any trial of a level, valid or not.
func (s *source) begun() []int {
	seen := map[int]bool{}
	for _, t := range s.Trials {
		if s.control == nil || t.Condition != s.control.ID {
			seen[t.Block] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// slow tells whether the server's core was slow during a whole block. A block
// without calibrations is not slow.
func (s *source) slow(block int) bool {
	seen, ok := s.fastest[block]
	return ok && seen > cores.SlowBy*s.Provenance.CalibrationS
}

// A record is everything that one claim rests on: the runs of its design, and
// the conditions that the claim is about.
type record struct {
	runs  []*source        // those with trials, oldest first
	conds []setting.Levels // those that the claim is about, in their order
	all   []setting.Levels // all conditions of the design
	fixed setting.Levels   // settings of every trial
	line  results.Topology // of every run
	level float64          // the claim's part of stats.Alpha
}

// record collects the runs for a claim; nil if each left out a part of it.
func (d *decider) record(c experiment.Claim) *record {
	rec := &record{level: stats.Level(d.nth, d.sharing)}
	rec.runs = strict.Filter(d.runs, func(s *source) bool {
		_, left := s.leftOut(c)
		return d.same(s.then, c) && !left
	})
	if len(rec.runs) == 0 {
		return nil
	}
	newest := rec.runs[len(rec.runs)-1]
	rec.fixed, rec.line = newest.Settings, newest.Topology
	for _, cond := range newest.conds {
		rec.all = append(rec.all, cond.Levels)
		if c.Covers(rec.fixed.With(cond.Levels)) {
			rec.conds = append(rec.conds, cond.Levels)
		}
	}
	return rec
}

// leftOut is what a run left out of the conditions that a claim is about; false
// if it has them all.
func (s *source) leftOut(c experiment.Claim) (results.LeftOut, bool) {
	return strict.Find(s.Provenance.LeftOut, func(out results.LeftOut) bool { return s.then.About(c, out.Levels) })
}

// same tells whether another experiment has the same claim as the last run's.
func (d *decider) same(then *experiment.Experiment, c experiment.Claim) bool {
	if then == d.last.then {
		return true
	}
	for _, x := range []*experiment.Experiment{then, d.last.then} {
		if d.locks[x] == nil {
			d.locks[x] = map[string]string{}
			for _, c := range x.Claims {
				d.locks[x][c.ID] = x.Lock(c)
			}
		}
	}
	return d.locks[then][c.ID] != "" && d.locks[then][c.ID] == d.locks[d.last.then][c.ID]
}

// A block is one block of one run, with its valid trials under the conditions
// asked for, in their order.
type block struct {
	of     *source
	number int
	visit  int
	later  bool // whether it is not the first of its visit
	trials []results.Trial
	// refused says that a condition has no valid trial.
	refused bool
}

// begun lists the blocks that have any trial, each with its visit and its valid
// trials under the conditions. A block of which a gate refused a trial is among
// them: a gate may close more often under one condition, and leaving out what it
// closes would select blocks by what they measured.
func (rec *record) begun(conds []setting.Levels) []block {
	var out []block
	for _, s := range rec.runs {
		for _, n := range s.begun() {
			b := block{of: s, number: n}
			for _, levels := range conds {
				if t, ok := s.at(levels)[n]; ok {
					b.trials = append(b.trials, t)
				}
			}
			b.refused = len(b.trials) < len(conds) || len(conds) == 0
			out = append(out, b)
		}
	}
	return visited(out)
}

// visited sets the visit of each block, and which is the first of its visit.
func visited(blocks []block) []block {
	stays := strict.Map(blocks, func(b block) results.Stay { return b.of.stays[b.number] })
	first := map[int]int{}
	for i, visit := range results.Visits(stays) {
		blocks[i].visit, blocks[i].later = visit, true
		if at, ok := first[visit]; !ok || stays[i].Began.Before(stays[at].Began) {
			first[visit] = i
		}
	}
	for _, i := range first {
		blocks[i].later = false
	}
	return blocks
}

// complete lists the blocks with a valid trial under each of the conditions.
func (rec *record) complete(conds []setting.Levels) []block {
	return slices.DeleteFunc(rec.begun(conds), func(b block) bool { return b.refused })
}

// about lists a block's valid trials that a claim rests on, including those of
// conditions between the compared ones.
func (rec *record) about(c experiment.Claim, b block) (out []results.Trial) {
	for _, levels := range rec.conds {
		if t, ok := b.of.at(levels)[b.number]; ok && kinds[c.Kind].recorded(c, t) {
			out = append(out, t)
		}
	}
	return out
}

// each visits all valid trials under the claim's conditions, in complete and
// other blocks.
func (rec *record) each(visit func(s *source, t results.Trial)) {
	for _, s := range rec.runs {
		for _, levels := range rec.conds {
			valid := s.at(levels)
			for _, n := range slices.Sorted(maps.Keys(valid)) {
				visit(s, valid[n])
			}
		}
	}
}

// holds tells whether any trial of a condition has what a claim is about, or
// gates refused all of its trials. In the second case the condition must still
// be compared: the claim must not pass without it.
func (rec *record) holds(levels setting.Levels, c experiment.Claim) bool {
	lost := true
	for _, s := range rec.runs {
		for _, t := range s.at(levels) {
			if kinds[c.Kind].recorded(c, t) {
				return true
			}
			lost = false
		}
	}
	return lost
}

// holding lists the claim's conditions that have what it is about.
func (rec *record) holding(c experiment.Claim) []setting.Levels {
	return slices.DeleteFunc(slices.Clone(rec.conds), func(levels setting.Levels) bool { return !rec.holds(levels, c) })
}

// invalid lists the invalid trials of the conditions, without the control's.
func (rec *record) invalid() (ts []results.Trial) {
	for _, s := range rec.runs {
		ts = append(ts, strict.Filter(s.Trials, func(t results.Trial) bool {
			return !t.Valid && (s.control == nil || t.Condition != s.control.ID)
		})...)
	}
	return ts
}

// tallyBounds counts by bound the valid trials that a claim rests on.
func (rec *record) tallyBounds(c experiment.Claim) map[string]int {
	out := map[string]int{}
	rec.each(func(s *source, t results.Trial) {
		if kinds[c.Kind].recorded(c, t) {
			out[string(s.Walls(t).Bound())]++
		}
	})
	return out
}

// has tells whether a trial has a metric, or at least an upper limit for it.
func has(t results.Trial, name string) bool {
	_, known := t.Metrics[name]
	_, below := t.Below[name]
	return known || below
}
