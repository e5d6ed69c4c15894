package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Run is a candidate for a record, with the experiment as it was when the run was made.
type Run struct {
	File *results.File
	Then *experiment.Experiment
}

// Decide says what the last of the runs and those that count with it say. All are of one experiment and of the same
// hosts, joined alike, oldest first. x is the experiment as it is now, h the profile of the server's host.
//
// Blocks count together over all runs that are like the last one and whose claim has the same lock. A run decides
// only the claims of its own design: a claim made later could have been read off the run. Claims that the experiment
// no longer has, or has with other bars, are not decided.
func (q *Question) Decide(x *experiment.Experiment, h *host.Profile, runs []Run) *File {
	d := newDecider(q, h, runs)
	r := d.last
	files := strict.Map(d.like, func(s *source) *results.File { return s.File })
	f := &File{Run: r.Run, Host: r.Hosts.Server, Date: r.Provenance.StartedAt.UTC().Format(time.DateOnly),
		Claims: []Claim{}, Conditions: medians.Of(r.conds, files), Control: d.control()}
	f.Blocks = strict.Count(begun(d.like), func(b block) bool {
		_, complete := b.trials(r.levels())
		return complete
	})
	for _, c := range r.then.Claims {
		if x.Holds(r.then, c) {
			f.Claims = append(f.Claims, d.decide(c, f.Control))
		}
	}
	return f
}

// Decided reports whether no claim of a file is open.
func Decided(f *File) bool {
	return !slices.ContainsFunc(f.Claims, func(c Claim) bool { return c.Verdict == Open })
}

// A decider has the runs that may belong to a record, indexed for claims.
type decider struct {
	h     *host.Profile
	last  *source
	runs  []*source // that may be counted with the last one, which is the last element
	like  []*source // of these, those of the last one's design
	level float64   // each claim's part of stats.Alpha
}

func newDecider(q *Question, h *host.Profile, runs []Run) *decider {
	d := &decider{h: h}
	last := runs[len(runs)-1]
	for _, r := range slices.Backward(runs) {
		// A run that names few programs counts with others only if those count together.
		other := slices.ContainsFunc(d.runs, func(s *source) bool { return !r.File.CountsWith(s.File) })
		if r == last || !other {
			d.runs = append(d.runs, newSource(r))
		}
	}
	slices.Reverse(d.runs)
	d.last = d.runs[len(d.runs)-1]
	d.level = stats.Level(q.Part(last.Then, h.Cores))
	// They share at least one claim, and a claim's lock covers the whole design.
	d.like = strict.Filter(d.runs, func(s *source) bool {
		return s == d.last || slices.ContainsFunc(d.last.then.Claims, func(c experiment.Claim) bool { return d.same(s, c) })
	})
	return d
}

// same tells whether a run was made with the same claim as the last one.
func (d *decider) same(s *source, c experiment.Claim) bool {
	was, had := s.then.Claim(c.ID)
	return s == d.last || had && d.last.then.Holds(s.then, was)
}

// decide tells whether a claim applies, whether the blocks can tell, and what they tell, which the A/A control may
// suspend.
func (d *decider) decide(c experiment.Claim, control *Control) (out Claim) {
	out.ID = c.ID
	say := func(v Verdict, format string, args ...any) Claim {
		out.Verdict, out.Reason = v, fmt.Sprintf(format, args...)
		return out
	}
	rec := d.record(c)
	switch need, link := d.last.then.Cores(c), d.last.Topology; {
	case need > d.h.Cores:
		return say(NotApplicable, "the claim needs %d cores; this machine has %d", need, d.h.Cores)
	case c.Needs.LineRate && link.LineRateBps == 0:
		return say(NotApplicable, "the claim needs a wire of known line rate; this run went over %s", link.Kind)
	}
	all := rec.comparisons(c)
	switch {
	case len(rec.conds) == 0:
		return say(NotApplicable, "the run has no condition %s", setting.LimitTo(c.Where))
	case len(all) == 0:
		return say(NotApplicable, "nothing to compare: the run lacks levels of %s", setting.Phrase(cmp.Or(c.Over, c.Equals)))
	}
	seen := rec.look(c, all)
	lost := seen.begun - len(seen.blocks)
	most := slices.MaxFunc(losses, func(a, b loss) int { return seen.lost[a] - seen.lost[b] })
	out.Blocks, out.Refused = seen.begun, seen.lost[refused]
	// Of fewer blocks, the next ones may be otherwise.
	if unmet := most == sharedCores || most == otherBottleneck || most == missing && lost == seen.begun; unmet &&
		2*lost > seen.begun && seen.begun >= stats.MinSamples {
		return say(NotApplicable, "%s", seen.says())
	}
	for _, m := range all {
		for _, b := range seen.blocks {
			m.all = append(m.all, rec.reading(c, m, b))
		}
		m.settle(d.level / float64(len(all)))
	}
	w := worst(all)
	for _, m := range all {
		if e := m.effect(seen.begun); m.b != nil && e.Pairs > 0 {
			e.Decides = m == w
			out.Effects = append(out.Effects, e)
		}
	}
	out.For, out.Against = w.count()
	v, why := w.verdict, w.says(c, seen.begun)
	if v == Confirmed && len(all) > 1 {
		why = fmt.Sprintf("all %d comparisons hold; closest to the edge: %s", len(all), why)
	}
	for _, m := range all {
		if says := m.follows(seen.blocks); says != "" && v != Open {
			v, why = Open, says
		}
	}
	if float64(lost) > MostLost*float64(seen.begun) && v != Open || 2*lost > seen.begun {
		return say(Open, "too many blocks have no vote: %s; %s", seen.says(), why)
	}
	if lost > 0 {
		why += "; " + seen.says()
	}
	if v == Open {
		out.Needed = w.needed()
		if least := stats.Fewest(w.side); len(seen.blocks) < least {
			why += fmt.Sprintf("; %d are the least that decide", least)
		}
		if n := out.Needed; n > 0 {
			why += fmt.Sprintf("; about %s would decide it, and lab run makes them", words.Count(n, "more block"))
		}
	} else if control != nil && !control.allows(v, all) {
		return say(Open, "the record is suspect: %s; otherwise the claim would be %s: %s", control.Reason, v, why)
	}
	return say(v, "%s", why)
}
