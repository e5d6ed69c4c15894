package experiment

import (
	"slices"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Without is the design without the conditions that have any of these levels,
// as a machine measures it that lacks a server. All else stays: claims keep
// their locks, and what is claimed of a condition that was left out does not
// apply to the run.
func (x *Experiment) Without(levels ...setting.Levels) *Experiment {
	if len(levels) == 0 {
		return x
	}
	y := *x
	y.without = append(append([]setting.Levels{}, x.without...), levels...)
	return &y
}

// About tells whether a claim is about any of the conditions with these levels.
func (x *Experiment) About(c Claim, levels setting.Levels) bool {
	return slices.ContainsFunc(x.Conditions(), func(cond setting.Levels) bool {
		return cond.With(levels).Key() == cond.Key() && c.Covers(x.fixed.With(cond))
	})
}
