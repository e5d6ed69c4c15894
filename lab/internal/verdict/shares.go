package verdict

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/symbol"
)

// evaluateShares holds a share, or the absence of one, against every trial's own
// profile: all have to agree, and all have to disagree before it is refuted. A
// trial is not averaged with others, so that no long window hides a short one.
func (d *decider) evaluateShares(c experiment.Claim, whole *decider) finding {
	f := finding{points: true, pairs: math.MaxInt}
	var shares []float64
	held, blind := 0, 0
	thin := "" // the first profile whose whole is next to nothing
	for _, cond := range d.conds {
		n := 0
		for _, b := range blocksOf(d.valid[cond.ID]) {
			p, ok := d.valid[cond.ID][b].Profile(profiles.Kind(c.Profile))
			if !ok {
				continue
			}
			n++
			v := share(c, p)
			if c.Kind == experiment.Absent && p.Packages[symbol.None] > 0 {
				blind++
			}
			if thin == "" && c.Kind == experiment.Share {
				thin = nextToNothing(p)
			}
			shares = append(shares, v)
			if holdsShare(c, v) {
				held++
			}
		}
		f.pairs = min(f.pairs, n)
	}
	f.points = held == len(shares)
	switch {
	case thin != "":
		f.verdict, f.points, f.unseen = Inconclusive, false, true
		f.why = sayShares(c, shares, held) + "; but " + thin
		return f
	case c.Kind == experiment.Absent && held == len(shares) && d.r.Source == results.Measured && !d.couldShow(c, whole):
		f.verdict, f.points = Inconclusive, false
		f.why = fmt.Sprintf("no %s profile of this run shows %s at all, so it cannot be told that it is gone", c.Profile, c.Package)
		return f
	case held == len(shares) && blind > 0:
		f.verdict, f.points = Inconclusive, false
		f.why = fmt.Sprintf("%d of %d %s profiles have frames without a symbol, which could be of %s", blind, len(shares), c.Profile, c.Package)
		return f
	case held == len(shares):
		f.verdict = Reproduced
	case held == 0, c.Kind == experiment.Absent:
		// One sample is enough to say that something is not gone.
		f.verdict = Refuted
	default:
		f.verdict = Inconclusive
	}
	f.why = sayShares(c, shares, held)
	return f
}

// The least that the whole of a profile has to come to before a share of it
// says anything: a tenth of one core, or of one goroutine that waits, through
// the window; a megabyte of heap; ten goroutines. The largest share of less is
// still next to nothing of what the server does.
const (
	leastBusy       = 0.1
	leastBytes      = 1e6
	leastGoroutines = 10
)

// nextToNothing says what is wrong with a whole that is too small; it is empty
// where nothing is, or where a text does not say how much there was.
func nextToNothing(p profiles.Profile) string {
	least, have, of := leastBytes, p.Total, "B"
	switch p.Unit {
	case "s":
		if p.DurationS == 0 {
			return ""
		}
		least, have, of = leastBusy, p.Total/p.DurationS, "s a second"
	case "count":
		least, of = leastGoroutines, "goroutines"
	}
	if have == 0 && len(p.Packages) > 0 || have >= least {
		return ""
	}
	return fmt.Sprintf("the whole %s profile is %.3g %s, and less than %.3g is next to nothing", p.Kind, have, of, least)
}

// couldShow tells whether the run can show what a claim says is gone: another of its
// conditions has it in a profile of the same kind or, where the claim is about
// all conditions, the profiles have samples.
func (d *decider) couldShow(c experiment.Claim, whole *decider) bool {
	about := map[string]bool{}
	for _, cond := range d.conds {
		about[cond.ID] = true
	}
	for _, cond := range whole.conds {
		for _, t := range whole.valid[cond.ID] {
			p, ok := t.Profile(profiles.Kind(c.Profile))
			switch {
			case !ok:
			case len(d.conds) == len(whole.conds):
				if p.Total > 0 || p.Events > 0 {
					return true
				}
			case !about[cond.ID] && p.Packages[c.Package] > 0:
				return true
			}
		}
	}
	return false
}

// share is what a profile gives what the claim looks for. What stands nowhere
// in a profile has none of it: profiles list all that they hold.
func share(c experiment.Claim, p profiles.Profile) float64 {
	if c.Work != "" {
		return p.Work[c.Work]
	}
	return p.Packages[c.Package]
}

func holdsShare(c experiment.Claim, v float64) bool {
	switch {
	case c.Kind == experiment.Absent:
		return v == 0
	case c.AtMost != nil:
		return v <= *c.AtMost
	}
	return v >= *c.AtLeast
}

func sayShares(c experiment.Claim, shares []float64, held int) string {
	what := c.Package + c.Work
	if c.Kind == experiment.Absent {
		if held == len(shares) {
			return fmt.Sprintf("no sample of %s in the %s profiles of %d %s", what, c.Profile, len(shares), plural(len(shares), "trial"))
		}
		return fmt.Sprintf("%s stands in the %s profiles of %d of %d trials, with up to %.3g %%", what, c.Profile, len(shares)-held, len(shares), 100*slices.Max(shares))
	}
	claimed := ""
	if c.AtMost != nil {
		claimed = fmt.Sprintf("at most %.3g %%", 100**c.AtMost)
	} else {
		claimed = fmt.Sprintf("at least %.3g %%", 100**c.AtLeast)
	}
	if len(shares) == 1 {
		return fmt.Sprintf("%s has %.3g %% of the %s profile, claimed %s", what, 100*shares[0], c.Profile, claimed)
	}
	return fmt.Sprintf("%s has a median of %.3g %% of the %s profile (%.3g to %.3g %%) in %d trials, claimed %s",
		what, 100*stats.Median(shares), c.Profile, 100*slices.Min(shares), 100*slices.Max(shares), len(shares), claimed)
}

// profilesOf gives the medians of what a condition's profiles came to, by kind.
func profilesOf(trials []results.Trial) []profiles.Profile {
	var out []profiles.Profile
	for _, kind := range profiles.Kinds() {
		var of []profiles.Profile
		for _, t := range trials {
			if p, ok := t.Profile(kind); ok {
				of = append(of, p)
			}
		}
		if len(of) == 0 {
			continue
		}
		median := func(get func(profiles.Profile) float64) float64 {
			var vs []float64
			for _, p := range of {
				vs = append(vs, get(p))
			}
			return digits(stats.Median(vs))
		}
		m := profiles.Profile{
			Kind: kind, Unit: of[0].Unit,
			Total:     median(func(p profiles.Profile) float64 { return p.Total }),
			Events:    median(func(p profiles.Profile) float64 { return p.Events }),
			Stacks:    int(median(func(p profiles.Profile) float64 { return float64(p.Stacks) })),
			DurationS: median(func(p profiles.Profile) float64 { return p.DurationS }),
			Work:      map[string]float64{}, Packages: map[string]float64{},
		}
		for into, from := range map[*map[string]float64]func(profiles.Profile) map[string]float64{
			&m.Work:     func(p profiles.Profile) map[string]float64 { return p.Work },
			&m.Packages: func(p profiles.Profile) map[string]float64 { return p.Packages },
		} {
			names := map[string]bool{}
			for _, p := range of {
				for name := range from(p) {
					names[name] = true
				}
			}
			for _, name := range slices.Sorted(maps.Keys(names)) {
				(*into)[name] = median(func(p profiles.Profile) float64 { return from(p)[name] })
			}
		}
		out = append(out, m)
	}
	return out
}
