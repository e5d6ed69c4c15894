package verdict

import (
	"maps"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A source is one run, indexed for claims.
type source struct {
	*results.File
	then  *experiment.Experiment
	conds []results.Condition // ordered by their levels
	// control is the A/A control. It is not a level, and no comparison of a claim uses it.
	control *results.Condition
	valid   map[string]map[int]results.Trial // the valid trial, by condition and block
	ids     map[string]string                // of conditions, by the key of their levels
	spans   map[int]results.Span             // the time of each block
}

func newSource(run Run) *source {
	s := &source{File: run.File, then: run.Then, valid: map[string]map[int]results.Trial{}, ids: map[string]string{},
		spans: run.File.Spans()}
	for _, c := range s.Conditions {
		s.valid[c.ID] = map[int]results.Trial{}
		if c.ControlOf == "" {
			s.conds = append(s.conds, c)
			s.ids[c.Levels.Key()] = c.ID
		} else if s.control == nil {
			s.control = &c
		}
	}
	slices.SortStableFunc(s.conds, func(a, b results.Condition) int { return a.Levels.Compare(b.Levels, setting.Names()) })
	for _, t := range s.Trials {
		of := s.valid[t.Condition] // nil for a trial of no condition of the run
		// At most one trial of a condition in a block is valid. Keeping the first makes sure
		// that no later one replaces it.
		if _, ok := of[t.Block]; of != nil && t.Valid && !ok {
			of[t.Block] = t
		}
	}
	return s
}

// at gives a condition's valid trials, by block.
func (s *source) at(levels setting.Levels) map[int]results.Trial { return s.valid[s.ids[levels.Key()]] }

// A block is one block of one run.
type block struct {
	of     *source
	number int
	apart  bool // from all before it, and so it votes
}

// begun lists the blocks of runs that have any trial, valid or not.
func begun(runs []*source) (out []block) {
	var spans []results.Span
	for _, s := range runs {
		for _, n := range slices.Sorted(maps.Keys(s.spans)) {
			out, spans = append(out, block{of: s, number: n}), append(spans, s.spans[n])
		}
	}
	for i, apart := range results.Apart(spans) {
		out[i].apart = apart
	}
	return out
}

// visitsOf counts the blocks that vote.
func visitsOf(blocks []block) int { return strict.Count(blocks, func(b block) bool { return b.apart }) }

// trials gives a block's valid trials under some conditions; false if one has none.
func (b block) trials(conds []setting.Levels) (out []results.Trial, complete bool) {
	for _, levels := range conds {
		if t, ok := b.of.at(levels)[b.number]; ok {
			out = append(out, t)
		}
	}
	return out, len(out) == len(conds)
}

// A record is everything that one claim rests on: the runs of its design, and the conditions that the claim is about.
type record struct {
	runs  []*source           // those with trials, oldest first
	conds []setting.Levels    // those that the claim is about, in their order
	fixed setting.Levels      // settings of every trial
	line  experiment.Topology // of every run
	level float64             // its part of stats.Alpha
}

// record collects the runs for a claim.
func (d *decider) record(c experiment.Claim) *record {
	rec := &record{level: d.level}
	rec.runs = strict.Filter(d.runs, func(s *source) bool { return d.same(s, c) })
	newest := rec.runs[len(rec.runs)-1]
	rec.fixed, rec.line = newest.Settings, newest.Topology
	rec.about(c, strict.Map(newest.conds, func(cond results.Condition) setting.Levels { return cond.Levels }))
	return rec
}

// about keeps those of some conditions that a claim is about.
func (rec *record) about(c experiment.Claim, conds []setting.Levels) {
	rec.conds = strict.Filter(conds, func(levels setting.Levels) bool { return c.Covers(rec.fixed.With(levels)) })
}
