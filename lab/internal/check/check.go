// Package check holds a run's file against the design that the run was made with: its
// references and ranges, its order as the seed draws it, and its faults, judged again.
//
// It catches mistakes. Whoever makes up a whole run passes any check; a second machine
// is the answer to that.
package check

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A file is a run's file with the design that the run was made with.
type file struct {
	*results.File
	design *experiment.Experiment
}

// File reports, by JSON pointer, the first place where a run's file contradicts
// itself or the design that the run was made with. Of an older design than today's, what
// the seed draws and the ranges are checked.
func File(of *results.File, x *experiment.Experiment) error {
	f := &file{of, x}
	checks := []func() error{f.checkEnd, f.checkConditions, f.checkTrials, f.leaveOut, f.checkDesign, f.checkGates}
	if x.Older() {
		checks = []func() error{f.checkEnd, f.checkTrials, f.checkBlocks}
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkConditions reports settings that no lab knows, conditions that differ in
// nothing, and levels of what is no factor of the design.
func (f *file) checkConditions() error {
	if err := levels("/settings", f.Settings); err != nil {
		return err
	}
	ids, keys := map[string]bool{}, map[string]string{}
	for i, c := range f.Conditions {
		at := fmt.Sprintf("/conditions/%d", i)
		if err := levels(at+"/levels", c.Levels); err != nil {
			return err
		}
		other, again := keys[c.Levels.Key()]
		switch {
		case ids[c.ID]:
			return fmt.Errorf("%s/id: %q stands twice", at, c.ID)
		case c.ControlOf == "" && again:
			return fmt.Errorf("%s/levels: the same as those of %q", at, other)
		case c.ControlOf != "" && c.ControlOf != other:
			return fmt.Errorf("%s/control_of: %q is no condition before it with the same levels", at, c.ControlOf)
		case c.ControlOf == "":
			keys[c.Levels.Key()] = c.ID
		}
		ids[c.ID] = true
		for name := range c.Levels {
			if !slices.ContainsFunc(f.design.Factors, func(x experiment.Factor) bool { return x.Name == name }) {
				return fmt.Errorf("%s/levels/%s: not a factor of %s", at, name, f.design.Name)
			}
		}
	}
	return nil
}

// checkEnd reports a run that was not ended.
func (f *file) checkEnd() error {
	p := f.Provenance
	switch {
	case len(f.Trials) == 0:
		return errors.New("/trials: empty")
	case p.Ended == "":
		return fmt.Errorf("/provenance/ended: missing")
	case p.FinishedAt.Before(p.StartedAt):
		return fmt.Errorf("/provenance/finished_at: %s is before the run began", p.FinishedAt.Format(time.RFC3339))
	}
	return nil
}

// leaveOut takes from the design what the run says that it left out. What is left
// must still compare something.
func (f *file) leaveOut() error {
	whole := f.design
	for i, out := range f.Provenance.LeftOut {
		before := len(f.design.Conditions())
		if f.design = f.design.Without(out.Levels); len(out.Levels) == 0 || len(f.design.Conditions()) == before {
			return fmt.Errorf("/provenance/left_out/%d/levels: no further condition of %s has these levels", i, whole.Name)
		}
	}
	if len(f.Provenance.LeftOut) > 0 && len(f.design.Conditions()) < 2 {
		return fmt.Errorf("/provenance/left_out: what is left of %s compares nothing", whole.Name)
	}
	return nil
}

// checkDesign checks that a measured run has its experiment's design. A run with
// another route, topology or order must not decide claims about this design.
func (f *file) checkDesign() error {
	x := f.design
	if want := x.Fixed(); f.Settings.Key() != want.Key() {
		return fmt.Errorf("/settings: %q, but the design of %s that the run was made with has %q", f.Settings.Key(), x.Name,
			want.Key())
	}
	if want := results.Topology(x.Topology); f.Topology != want {
		return fmt.Errorf("/topology: %+v, but the design of %s that the run was made with has %+v", f.Topology, x.Name, want)
	}
	want := results.BlockPlan{SlotS: x.Block.SlotS, Rounds: x.Block.Rounds, WarmupS: x.Block.WarmupS,
		ProfileS: x.ProfileS()}
	if *f.Provenance.Block != want {
		return fmt.Errorf("/provenance/block: %+v, but the design of %s that the run was made with has %+v",
			*f.Provenance.Block, x.Name, want)
	}
	conditions := x.Conditions()
	designed := strict.Collect(conditions, setting.Levels.Key)
	for i, c := range f.Conditions {
		if !designed[c.Levels.Key()] {
			return fmt.Errorf("/conditions/%d/levels: %q is no condition of the design of %s that the run was made with", i,
				c.Levels.Key(), x.Name)
		}
	}
	if n := f.controls(); n > 1 {
		return fmt.Errorf("/conditions: %d A/A controls; a run has one at most", n)
	}
	if n := len(f.Conditions) - f.controls(); n != len(conditions) {
		return fmt.Errorf("/conditions: %d, but %s has %d", n, x.Name, len(conditions))
	}
	return f.checkBlocks()
}

// controls counts the conditions that are A/A controls.
func (f *file) controls() int {
	return strict.Count(f.Conditions, func(c results.Condition) bool { return c.ControlOf != "" })
}

func levels(at string, ls setting.Levels) error {
	for name, l := range ls {
		if err := setting.Check(name, l); err != nil {
			return fmt.Errorf("%s/%s: %w", at, name, err)
		}
	}
	return nil
}

// checkTrials reports a trial of no condition, a reason of no gate, and figures
// that cannot be true.
func (f *file) checkTrials() error {
	for i, t := range f.Trials {
		at := fmt.Sprintf("/trials/%d", i)
		if _, there := strict.Find(f.Conditions, func(c results.Condition) bool { return c.ID == t.Condition }); !there {
			return fmt.Errorf("%s/condition: no condition %q", at, t.Condition)
		}
		if t.Slots != nil && len(t.Slots) == 0 {
			return fmt.Errorf("%s/slots: none; leave it out", at)
		}
		if t.Valid && t.Slots != nil && len(t.Slots) < f.Provenance.Block.Rounds {
			return fmt.Errorf("%s/slots: %d slots of %d, and so the trial is invalid; it is called valid", at, len(t.Slots),
				f.Provenance.Block.Rounds)
		}
		for name, v := range t.Metrics {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s/metrics/%s: %v is not a figure", at, name, v)
			}
			if _, ok := t.Below[name]; ok {
				return fmt.Errorf("%s/below/%s: the figure is known as well", at, name)
			}
		}
		for k, r := range t.Reasons {
			if !gate.Known(r.Gate) {
				return fmt.Errorf("%s/reasons/%d/gate: no gate %q", at, k, r.Gate)
			}
		}
		if err := figures(t); err != nil {
			return fmt.Errorf("%s/%w", at, err)
		}
	}
	return nil
}
