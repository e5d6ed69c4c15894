package verdict

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A share claim wants a package, or a kind of work, to have at least or at most a share of
// each trial's own profile.
type share struct{ profiling }

func (share) criterion(c experiment.Claim) string {
	return fmt.Sprintf("the %s gives %s %s of its %s", docOf(c).Name, subject(c), bars(c, words.Percent),
		docOf(c).Per)
}

func (share) blind(c experiment.Claim, _ *source, t results.Trial) blindness {
	if p, _ := t.Profile(profile.Kind(c.Profile)); nextToNothing(p) {
		return thin
	}
	return none
}

// meets tells whether a figure is on the claim's side of its bar.
func meets(c experiment.Claim, v float64) bool {
	if c.AtMost != nil {
		return v <= *c.AtMost
	}
	return v >= *c.AtLeast
}

// decide compares the share with every trial's own profile.
func (k share) decide(rec *record, c experiment.Claim) (finding, error) {
	f, shares := rec.figures(c, shareOf)
	f.why = f.tellByBar(rec, c, shareOf) + "; " + k.says(c, shares)
	return f, nil
}

// tellByBar decides by a figure of each trial. A block is for the claim if the figure meets its bar in
// all its trials, and against it if in none.
func (f *finding) tellByBar(rec *record, c experiment.Claim,
	figure func(experiment.Claim, results.Trial) float64) (said string) {
	v := f.seen.votes(func(b block) (inside, beyond bool) {
		ts := rec.about(c, b)
		holds := strict.Count(ts, func(t results.Trial) bool { return meets(c, figure(c, t)) })
		return holds == len(ts), holds == 0
	})
	f.tellBy(v, rec.level)
	said = fmt.Sprintf("the claim holds in %d of %s", v.inside, words.Count(v.all, "block"))
	if v.beyond > 0 {
		said += fmt.Sprintf(", and in %d it holds in no trial", v.beyond)
	}
	return said
}

func (share) says(c experiment.Claim, shares []float64) string {
	what := subject(c)
	if len(shares) == 0 {
		return fmt.Sprintf("no complete block has its %s profiles", c.Profile)
	}
	claimed := bars(c, func(v float64) string { return fmt.Sprintf("%.3g %%", 100*v) })
	if len(shares) == 1 {
		return fmt.Sprintf("%s has %.3g %% of the %s; the claim is %s", what, 100*shares[0], docOf(c).Name, claimed)
	}
	return fmt.Sprintf("%s has a median of %.3g %% of the %s (%.3g to %.3g %%) in %d trials; the claim is %s",
		what, 100*stats.Median(shares), docOf(c).Name, 100*slices.Min(shares), 100*slices.Max(shares), len(shares),
		claimed)
}

// docOf has the words of the kind of profile that a claim is about.
func docOf(c experiment.Claim) profile.KindDoc { return profile.Kind(c.Profile).Doc() }

// subject is the package or the kind of work that a claim about a profile is
// about.
func subject(c experiment.Claim) string {
	return cmp.Or(profile.Work(c.Work).Words(), c.Package)
}
