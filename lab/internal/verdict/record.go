package verdict

import (
	"maps"
	"slices"

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
	// control is the A/A control. It is not a level, and no comparison of a claim uses it.
	control *results.Condition
	valid   map[string]map[int]results.Trial // the valid trial, by condition and block
	ids     map[string]string                // of conditions, by the key of their levels
}

func newSource(run Run) *source {
	s := &source{File: run.File, then: run.Then, valid: map[string]map[int]results.Trial{}, ids: map[string]string{}}
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

// levels are those of the conditions, in their order.
func (s *source) levels() []setting.Levels {
	return strict.Map(s.conds, func(c results.Condition) setting.Levels { return c.Levels })
}

// at gives a condition's valid trials, by block.
func (s *source) at(levels setting.Levels) map[int]results.Trial { return s.valid[s.ids[levels.Key()]] }

// A block is one block of one run.
type block struct {
	of     *source
	number int
}

// begun lists the blocks of runs that have any trial, valid or not, and are apart from all before them.
func begun(runs []*source) (out []block) {
	var all []block
	var spans []results.Span
	for _, s := range runs {
		of := s.Spans()
		for _, n := range slices.Sorted(maps.Keys(of)) {
			all, spans = append(all, block{s, n}), append(spans, of[n])
		}
	}
	for i, apart := range results.Apart(spans) {
		if apart {
			out = append(out, all[i])
		}
	}
	return out
}

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
	runs  []*source        // those with trials, oldest first
	conds []setting.Levels // those that the claim is about, in their order
	fixed setting.Levels   // settings of every trial
}

// record collects the runs for a claim.
func (d *decider) record(c experiment.Claim) *record {
	rec := &record{fixed: d.last.Settings}
	rec.runs = strict.Filter(d.runs, func(s *source) bool { return d.same(s, c) })
	rec.about(c, d.last.levels())
	return rec
}

// about keeps those of some conditions that a claim is about.
func (rec *record) about(c experiment.Claim, conds []setting.Levels) {
	rec.conds = strict.Filter(conds, func(levels setting.Levels) bool { return c.Covers(rec.fixed.With(levels)) })
}

// A Question is everything that measured runs have asked under one experiment's name, and so what divides
// stats.Alpha. A design that was changed after its first run is a second try at the question, and a claim that was
// withdrawn could have been decided wrongly all the same: neither leaves the account.
type Question struct{ designs []*experiment.Experiment } // of runs, oldest first

// Asked gathers what runs asked. They are of one experiment, on any hosts, oldest
// first. Runs that measured nothing asked nothing.
func Asked(runs []Run) *Question {
	measured := strict.Filter(runs, func(r Run) bool { return len(r.File.Trials) > 0 })
	return &Question{strict.Map(measured, func(r Run) *experiment.Experiment { return r.Then })}
}

// Part says which design of the question an experiment is, and how many claims divide that design's level on a host
// with so many cores. They are the experiment's own, and those of any measured run of the design. A claim that needs
// more cores cannot get a wrong verdict there and is not counted.
func (q *Question) Part(x *experiment.Experiment, cores int) (nth, claims int) {
	var digests []string
	own, bars := x.Design(), map[string]bool{}
	for _, then := range append(slices.Clone(q.designs), x) {
		digest := then.Design()
		if !slices.Contains(digests, digest) {
			digests = append(digests, digest)
		}
		for _, c := range then.Claims {
			if digest == own && then.Cores(c) <= cores {
				bars[then.Bars(c)] = true
			}
		}
	}
	return 1 + slices.Index(digests, own), len(bars)
}

// Least is how many blocks decide the claims of an experiment on a host with so many cores, if all of them
// agree; 0 without a claim that the host can test.
func Least(x *experiment.Experiment, cores int) (least int) {
	nth, sharing := Asked(nil).Part(x, cores)
	rec := &record{fixed: x.Fixed()}
	for _, c := range x.Claims {
		if rec.about(c, x.Conditions()); x.Cores(c) <= cores {
			all := rec.comparisons(c)
			for _, m := range all {
				least = max(least, stats.Fewest(m.band.side(stats.Level(nth, sharing)/float64(len(all)))))
			}
		}
	}
	return least
}
