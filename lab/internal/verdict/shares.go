package verdict

import (
	"fmt"
	"maps"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// shareOf is the share, in a trial's own profile, of the package or work that a
// claim is about. why says that the whole profile is next to nothing; else it
// is empty.
func (s *source) shareOf(c experiment.Claim, t results.Trial) (share float64, why string) {
	p, _ := t.Profile(profiles.Kind(c.Profile))
	// A profile lists everything that it has, so what is missing has a share of 0.
	if share = p.Packages[c.Package]; c.Work != "" {
		share = p.Work[c.Work]
	}
	return share, nextToNothing(p)
}

// profiled gives the blocks of a claim about profiles, and the shares of all
// trials in them. Trials are not averaged, so that a long window does not hide
// a short one.
func (rec *record) profiled(c experiment.Claim) (f finding, shares []float64, held int) {
	f = finding{seen: rec.look(c, rec.begun(rec.conds))}
	for _, b := range f.seen.blocks {
		if b.refused {
			continue
		}
		for _, t := range rec.about(c, b) {
			v, _ := b.of.shareOf(c, t)
			if shares = append(shares, v); holdsShare(c, v) {
				held++
			}
		}
	}
	return f, shares, held
}

// evaluateShare compares a share with every trial's own profile. A block is for
// the claim if the share holds in all its trials, and against it if it holds in
// none.
func (rec *record) evaluateShare(c experiment.Claim) finding {
	f, shares, held := rec.profiled(c)
	var v votes
	for i, b := range f.seen.blocks {
		if f.seen.blind[i] != none {
			v.add(b.later, false, false)
			continue
		}
		holds, ts := 0, rec.about(c, b)
		for _, t := range ts {
			if share, _ := b.of.shareOf(c, t); holdsShare(c, share) {
				holds++
			}
		}
		v.add(b.later, holds == len(ts), holds == 0)
	}
	f.tellBy(v, rec.level)
	said := fmt.Sprintf("the claim holds in %d of %s", v.inside, words.Count(v.all, "block"))
	if v.beyond > 0 {
		said += fmt.Sprintf(", and in %d it holds in no trial", v.beyond)
	}
	f.why = said + "; " + sayShares(c, shares, held)
	return f
}

// evaluateAbsent looks for a package in every trial's own profile. One sample
// is enough to show that it is not gone.
func (rec *record) evaluateAbsent(c experiment.Claim) finding {
	f, shares, held := rec.profiled(c)
	unnamed := 0
	for i, b := range f.seen.blocks {
		if f.seen.blind[i] != none {
			continue
		}
		gone := true
		for _, t := range rec.about(c, b) {
			share, _ := b.of.shareOf(c, t)
			gone = gone && holdsShare(c, share)
			if p, _ := t.Profile(profiles.Kind(c.Profile)); p.Packages[profiles.NoSymbol] > 0 {
				unnamed++
			}
		}
		f.sayStrictly(gone)
	}
	against := ""
	if f.no > 0 {
		against = sayShares(c, shares, held)
	}
	f.concludeStrictly(against, sayShares(c, shares, held))
	doubt := ""
	switch {
	case held < len(shares):
		return f
	case !rec.couldShow(c):
		doubt = fmt.Sprintf("no %s of these runs shows %s at all, so nothing shows that it is gone", words.Profile(c.Profile), c.Package)
	case unnamed > 0:
		doubt = fmt.Sprintf("%d of %d %s profiles have frames without a symbol, which could be of %s", unnamed, len(shares), c.Profile, c.Package)
	default:
		return f
	}
	if f.verdict == Reproduced {
		f.verdict, f.why = Inconclusive, doubt
	}
	return f
}

// The least total of a profile from which shares are taken: a tenth of a core,
// or of a waiting goroutine, through the window; a megabyte of heap; ten
// goroutines. Even a large share of less is next to nothing of what the server
// does.
const (
	leastBusy       = 0.1
	leastBytes      = 1e6
	leastGoroutines = 10
)

// nextToNothing says that a profile's total is too small; empty where it is not.
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
	return fmt.Sprintf("the whole %s is %.3g %s, and less than %.3g is too little to take shares of", words.Profile(string(p.Kind)), have, of, least)
}

// couldShow tells whether the runs could show what a claim says is gone. If the
// claim is about some conditions, another condition must have it in a profile
// of the same kind. If it is about all conditions, their profiles must have
// samples.
func (rec *record) couldShow(c experiment.Claim) bool {
	about := map[string]bool{}
	for _, levels := range rec.conds {
		about[levels.Key()] = true
	}
	for _, s := range rec.runs {
		for _, levels := range rec.all {
			for _, t := range s.at(levels) {
				p, ok := t.Profile(profiles.Kind(c.Profile))
				switch {
				case !ok:
				case len(rec.conds) == len(rec.all):
					if p.Total > 0 || p.Events > 0 {
						return true
					}
				case !about[levels.Key()] && p.Packages[c.Package] > 0:
					return true
				}
			}
		}
	}
	return false
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
	what := subject(c)
	if len(shares) == 0 {
		return fmt.Sprintf("no complete block has its %s profiles", c.Profile)
	}
	if c.Kind == experiment.Absent {
		if held == len(shares) {
			return fmt.Sprintf("no sample of %s in the %s profiles of %s", what, c.Profile, words.Count(len(shares), "trial"))
		}
		return fmt.Sprintf("%s is in the %s profiles of %d of %d trials, with up to %.3g %%", what, c.Profile, len(shares)-held, len(shares), 100*slices.Max(shares))
	}
	claimed := ""
	if c.AtMost != nil {
		claimed = fmt.Sprintf("at most %.3g %%", 100**c.AtMost)
	} else {
		claimed = fmt.Sprintf("at least %.3g %%", 100**c.AtLeast)
	}
	if len(shares) == 1 {
		return fmt.Sprintf("%s has %.3g %% of the %s; the claim is %s", what, 100*shares[0], words.Profile(c.Profile), claimed)
	}
	return fmt.Sprintf("%s has a median of %.3g %% of the %s (%.3g to %.3g %%) in %d trials; the claim is %s",
		what, 100*stats.Median(shares), words.Profile(c.Profile), 100*slices.Min(shares), 100*slices.Max(shares), len(shares), claimed)
}

// profilesOf gives the medians of a condition's profiles, by kind, with the run's files.
func profilesOf(c results.Condition, trials []results.Trial) []Profiled {
	var out []Profiled
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
			return words.Digits(stats.Median(vs))
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
		p := Profiled{Profile: m}
		if i := slices.IndexFunc(c.Profiles, func(r results.RawProfile) bool { return r.Kind == kind }); i >= 0 {
			p.Raw = &RawFile{File: c.Profiles[i].File, SHA256: c.Profiles[i].SHA256, Trials: c.Profiles[i].Trials}
		}
		out = append(out, p)
	}
	return out
}
