package verdict

import (
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// An absent claim says that a package is gone from every trial's own profile.
type absent struct{ profiling }

func (absent) criterion(c experiment.Claim) string {
	return fmt.Sprintf("the %s has no sample of %s", docOf(c).Name, c.Package)
}

func (absent) bets() bool { return false }

func (absent) holds(share float64) bool { return share == 0 }

// decide looks for a package in every trial's own profile. One sample
// is enough to show that it is not gone.
func (k absent) decide(rec *record, c experiment.Claim) (finding, error) {
	f, shares := rec.figures(c, shareOf)
	held, unnamed := strict.Count(shares, k.holds), 0
	v := f.seen.votes(func(b block) (inside, beyond bool) {
		gone := true
		for _, t := range rec.about(c, b) {
			gone = gone && k.holds(shareOf(c, t))
			if p, _ := t.Profile(profile.Kind(c.Profile)); p.Packages[profile.NoSymbol] > 0 {
				unnamed++
			}
		}
		return gone, !gone
	})
	against := ""
	if v.beyond > 0 {
		against = k.says(c, shares, held)
	}
	f.concludeStrictly(v, against, k.says(c, shares, held))
	switch {
	case f.verdict != Reproduced, held < len(shares):
	case !rec.couldShow(c):
		f.verdict = Inconclusive
		f.why = fmt.Sprintf("no %s of these runs shows %s at all, so nothing shows that it is gone", docOf(c).Name, c.Package)
	case unnamed > 0:
		f.verdict = Inconclusive
		f.why = fmt.Sprintf("%d of %d %s profiles have frames without a symbol, which could be of %s", unnamed, len(shares),
			c.Profile, c.Package)
	}
	return f, nil
}

// couldShow tells whether the runs could show what a claim says is gone. If the
// claim is about some conditions, another condition must have it in a profile
// of the same kind. If it is about all conditions, their profiles must have
// samples.
func (rec *record) couldShow(c experiment.Claim) bool {
	about := strict.Collect(rec.conds, setting.Levels.Key)
	for _, s := range rec.runs {
		for _, levels := range rec.all {
			for _, t := range s.at(levels) {
				p, ok := t.Profile(profile.Kind(c.Profile))
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

func (absent) says(c experiment.Claim, shares []float64, held int) string {
	what := subject(c)
	if len(shares) == 0 {
		return fmt.Sprintf("no complete block has its %s profiles", c.Profile)
	}
	if held == len(shares) {
		return fmt.Sprintf("no sample of %s in the %s profiles of %s", what, c.Profile, words.Count(len(shares), "trial"))
	}
	return fmt.Sprintf("%s is in the %s profiles of %d of %d trials, with up to %.3g %%", what, c.Profile,
		len(shares)-held, len(shares), 100*slices.Max(shares))
}
