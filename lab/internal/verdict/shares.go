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

// weighShares holds a share, or the absence of one, against every trial's own
// profile: all have to agree, and all have to disagree before it is refuted. A
// trial is not averaged with others, so that no long window hides a short one.
func (d *decider) weighShares(c experiment.Claim) finding {
	f := finding{points: true, pairs: math.MaxInt}
	var shares []float64
	held, blind := 0, 0
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
			shares = append(shares, v)
			if holdsShare(c, v) {
				held++
			}
		}
		f.pairs = min(f.pairs, n)
	}
	f.points = held == len(shares)
	switch {
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
