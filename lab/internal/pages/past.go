package pages

import (
	"cmp"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Gone is a claim by which runs were judged and that no longer stands, as the
// newest design that has it words it.
type Gone struct {
	ID        string `json:"id"`
	Text      string `json:"text"`
	Withdrawn string `json:"withdrawn,omitempty"` // why
	Judged    string `json:"judged,omitempty"`    // the day of the newest run with it; absent of runs before the record began anew
}

// byStart orders runs by their start, and then by their names.
func byStart(a, b *verdict.File) int {
	return cmp.Or(cmp.Compare(a.Started, b.Started), cmp.Compare(a.Run, b.Run))
}

// oldestFirst sorts a copy of runs by their start.
func oldestFirst(runs []Made) []Made {
	return slices.SortedFunc(slices.Values(runs), func(a, b Made) int { return byStart(a.File, b.File) })
}

// Written says where a claim stood before it first ran: in the experiment's file
// at the commit that its first run recorded.
type Written struct {
	Commit string `json:"commit"`
	Design string `json:"design"` // SHA-256 of that file
	Run    string `json:"run"`    // the first run
}

// written looks at the first of the runs with trials, oldest first, that measured
// a claim: later runs are only counted with it if they have the same one.
func written(runs []Made, id string) *Written {
	for _, r := range runs {
		if _, ok := r.Claim(id); !ok || r.Trials == 0 {
			continue
		}
		if r.Written == "" {
			return nil
		}
		return &Written{r.Written, r.Design, r.Run}
	}
	return nil
}

// own names the run whose record is shown of a claim: that of the machine that the page shows, if
// the claim applies to it. Else it is the one with figures or, without any, to which the claim
// applies, with the most blocks; the newest of several. All files have the claim.
func own(files []*verdict.File, id, shown string) string {
	if len(files) == 0 {
		return ""
	}
	worth := func(f *verdict.File, c verdict.Claim) int {
		switch {
		case c.Verdict == verdict.NotApplicable:
			return 0
		case f.Host == shown:
			return 3
		case len(c.Effects) > 0:
			return 2
		}
		return 1
	}
	return slices.MaxFunc(files, func(a, b *verdict.File) int {
		x, _ := a.Claim(id)
		y, _ := b.Claim(id)
		return cmp.Or(cmp.Compare(worth(a, x), worth(b, y)), cmp.Compare(x.Blocks, y.Blocks), byStart(a, b))
	}).Run
}

// withdrawn lists the claims that the experiment names as withdrawn, in its order.
func withdrawn(x *experiment.Experiment, runs []Made) (out []Gone) {
	for _, w := range x.Withdrawn {
		g := Gone{ID: w.ID, Text: cmp.Or(w.Text, w.ID), Withdrawn: w.Why}
		for _, r := range runs {
			if c, had := r.Then.Claim(w.ID); had {
				g.Text, g.Judged = c.Text, r.Date
			}
		}
		out = append(out, g)
	}
	return out
}

// edgeOf is a claim's margin or bar, as it was written; empty without one.
func edgeOf(c experiment.Claim) string {
	switch at := cmp.Or(c.AtLeast, c.AtMost); {
	case c.Margin != nil:
		return words.Percent(*c.Margin)
	case at == nil:
		return ""
	case c.Kind == experiment.Share:
		return words.Percent(*at)
	default:
		return words.Number(*at)
	}
}
