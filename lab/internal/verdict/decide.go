package verdict

import (
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Run is a candidate for a record, with the experiment as it was when the run
// was made.
type Run struct {
	File *results.File
	Then *experiment.Experiment
}

// Decide derives the verdict file of the last of the runs. All are of one
// experiment and of the same hosts, joined alike, oldest first. x is the
// experiment as it is now, h the profile of the server's host.
//
// Blocks are counted together over all runs that were measured like the last
// one and whose claim has the same lock. A run decides only the claims of its own
// design: a claim made later could have been read off the run. Claims that the
// experiment no longer has, or has with other bars, are not decided.
//
// Nothing else was asked than what these runs asked. Question.Decide is for runs of
// a journal that holds more.
func Decide(x *experiment.Experiment, h *host.Profile, runs []Run) *File {
	return Asked(runs).Decide(x, h, runs)
}

// Decide is Decide for runs of a journal in which more was asked than by these runs.
func (q *Question) Decide(x *experiment.Experiment, h *host.Profile, runs []Run) *File {
	d := newDecider(q, h, runs)
	r := d.last
	f := &File{
		SchemaVersion: Version, Experiment: x.Name, Entry: x.Entry, Run: r.Run,
		Host: r.Hosts.Server, ClientHost: r.Hosts.Client,
		Topology: r.Topology.Kind, LineRateBps: r.Topology.LineRateBps,
		Trials: len(r.Trials), Claims: []Claim{}, Conditions: r.summaries(), Control: d.evaluateControl(),
	}
	p := r.Provenance
	f.Started = p.StartedAt.UTC().Format("2006-01-02T15:04:05Z")
	f.Date, f.Blocks, f.Design = f.Started[:10], p.Blocks, p.ExperimentSHA256
	if !p.Dirty && p.Commit != host.UnknownCommit && f.Trials > 0 {
		f.Written = p.Commit
	}
	f.Record = d.of()
	if like := d.like(); len(r.Trials) > 0 {
		f.Together = r.together(like[:len(like)-1])
	}
	f.InvalidTrials = strict.Count(r.Trials, func(t results.Trial) bool { return !t.Valid })
	if len(r.Trials) > 0 && r.control == nil {
		f.Warnings = append(f.Warnings, "no A/A control in this run")
	}
	if what := changed(d.like()); what != "" {
		f.Warnings = append(f.Warnings, "the machine changed between the runs of this record: "+what)
	}
	for _, c := range r.then.Claims {
		if x.Holds(r.then, c) {
			f.Claims = append(f.Claims, d.decide(c, f.Control))
		}
	}
	if f.Control != nil {
		f.Control.InRun = r.control != nil
	}
	f.Relative = d.relative()
	return f
}

// Decided reports whether further visits could not change any claim of a file:
// each is decided, or cannot be by this design on this host.
func Decided(f *File) bool {
	return !slices.ContainsFunc(f.Claims, func(c Claim) bool { return c.Open })
}

// A decider has the runs that may belong to a record, indexed for claims.
type decider struct {
	h    *host.Profile
	last *source
	// runs that may be counted with the last one, which is the last element
	runs    []*source
	locks   map[*experiment.Experiment]map[string]string // by experiment and claim
	nth     int                                          // of the designs of the question, the last run's
	sharing int                                          // number of claims that divide its part of stats.Alpha
}

func newDecider(q *Question, h *host.Profile, runs []Run) *decider {
	d := &decider{h: h, locks: map[*experiment.Experiment]map[string]string{}}
	last := runs[len(runs)-1]
	for _, r := range slices.Backward(runs) {
		// A run that names few programs counts with others only if those count together.
		other := slices.ContainsFunc(d.runs, func(s *source) bool { return !r.File.CountsWith(s.File, h.Mark != "") })
		if r == last || !other {
			d.runs = append(d.runs, newSource(r))
		}
	}
	slices.Reverse(d.runs)
	d.last = d.runs[len(d.runs)-1]
	d.nth, d.sharing = q.Part(last.Then, h.Cores)
	return d
}

// of describes what the verdicts rest on: the runs that share a claim with the
// last one.
func (d *decider) of() *Record {
	out := &Record{Runs: []string{}, Nth: d.nth, Claims: d.sharing, Asks: rough(1 / stats.Level(d.nth, d.sharing)),
		Programs: d.last.Programs()}
	var all []block
	for _, s := range d.like() {
		out.Runs = append(out.Runs, s.Run)
		rec := record{runs: []*source{s}}
		conds := strict.Map(s.conds, func(c results.Condition) setting.Levels { return c.Levels })
		all = append(all, rec.complete(conds)...)
	}
	out.Blocks, out.Visits = len(all), visitsOf(visited(all))
	return out
}

// like gives the runs of the last run's design: they share at least one claim,
// and a claim's lock covers the whole design.
func (d *decider) like() (out []*source) {
	for _, s := range d.runs {
		if s == d.last || slices.ContainsFunc(d.last.then.Claims,
			func(c experiment.Claim) bool { return d.same(s.then, c) }) {
			out = append(out, s)
		}
	}
	return out
}

// decide gives a claim's verdict, which the A/A control may suspend.
func (d *decider) decide(c experiment.Claim, control *Control) Claim {
	out := d.assess(c)
	if decided := out.Verdict == Reproduced || out.Verdict == Refuted; decided && kinds[c.Kind].bets() && control != nil &&
		control.Outcome != Same {
		out.Reason = fmt.Sprintf("the record is suspect: %s; otherwise the claim would be %s: %s", control.Reason,
			out.Verdict, out.Reason)
		out.Verdict, out.Open, out.VisitsNeeded = Inconclusive, true, 0
		if n := control.least(); control.Outcome == Undecided && n < stats.MinSamples {
			out.VisitsNeeded = stats.MinSamples - n
		}
	}
	return out
}

// assess decides whether a claim applies, whether the blocks can tell, and what
// they tell.
func (d *decider) assess(c experiment.Claim) Claim {
	out := Claim{ID: c.ID}
	say := func(v Verdict, open bool, format string, args ...any) Claim {
		out.Verdict, out.Reason, out.Open = v, fmt.Sprintf(format, args...), open
		return out
	}
	rec := d.record(c)
	if out, left := d.last.leftOut(c); rec == nil && left {
		return say(NotApplicable, false, "the run measured nothing %s: %s", setting.LimitTo(out.Levels), out.Why)
	}
	if why := d.last.then.Needs(c).Lacks(d.h.Cores, experiment.Topology(rec.line)); len(why) > 0 {
		return say(NotApplicable, false, "the claim %s", why[0])
	}
	if len(rec.conds) == 0 {
		return say(NotApplicable, false, "the run has no condition %s", setting.LimitTo(c.Where()))
	}
	out.Bounds = rec.tallyBounds(c)
	few := visitsOf(rec.begun(nil)) < stats.MinSamples
	if len(out.Bounds) == 0 {
		return rec.silent(c, few, say)
	}
	f, err := kinds[c.Kind].decide(rec, c)
	n, visits := len(f.seen.blocks), visitsOf(f.seen.blocks)
	short := max(0, stats.MinSamples-visits)
	if !kinds[c.Kind].bets() { // nobody bets on it
		short = max(0, stats.MinSamples-n)
	}
	out.Blocks, out.Visits, out.Runs, out.For, out.Against = n, visits, runsOf(f.seen.blocks), f.yes, f.no
	if v, why, so := f.seen.tooBlind(rec, c, short > 0); so {
		// What closes a gate may pass, so further visits may still decide the claim.
		_, most := f.seen.cannot()
		if say(v, short > 0 || v == Inconclusive || most == refused, "%s", why); out.Open {
			out.VisitsNeeded = short
		}
		return out
	}
	if err != nil {
		return say(NotApplicable, few, "%v", err)
	}
	out.Effects, out.Warnings = f.effects()
	if short > 0 && kinds[c.Kind].bets() {
		say(Inconclusive, true, "%s%s; that is of %s, and %d are the least that decide",
			f.why, f.seen.blindClause(c), words.Count(visits, "visit"), stats.Fewest(rec.level))
	} else {
		say(f.verdict, f.verdict == Inconclusive, "%s%s", f.why, f.seen.blindClause(c))
	}
	if out.Open {
		out.VisitsNeeded = max(f.needed, short)
	}
	if more := out.VisitsNeeded; more > 0 {
		out.Reason += fmt.Sprintf("; about %s would decide it, and lab reproduce makes them", words.Count(more, "more visit"))
	}
	return out
}

// silent says why no valid trial has what a claim is about.
func (rec *record) silent(c experiment.Claim, few bool, say func(Verdict, bool, string, ...any) Claim) Claim {
	anyValid := false
	rec.each(func(*source, results.Trial) { anyValid = true })
	switch n := rec.invalid(); {
	case len(n) > 0 && !anyValid:
		return say(Invalid, true, "no valid trial: %s", gates(n))
	case c.Profile != "":
		return say(NotApplicable, few, "the run has no %s profile", c.Profile)
	case c.Metric != "":
		return say(NotApplicable, few, "the run did not record %s", metricPhrase(c.Metric))
	}
	return say(NotApplicable, few, "the run has no trial")
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
	return fmt.Sprintf("%s invalid (%s)", words.Count(len(ts), "trial"), words.Tally(count))
}
