package results

import (
	"fmt"
	"math"

	"github.com/line-rate/line-rate/lab/internal/bound"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Check finds where a file contradicts itself or its experiment, by pointer.
func (f *File) Check(x *experiment.Experiment) error {
	switch {
	case f.Source == Measured && f.Provenance == nil:
		return fmt.Errorf("/provenance: missing in a measured run")
	case f.Source == Published && f.Text == nil:
		return fmt.Errorf("/text: missing in a published run")
	case f.Source == Published && f.Provenance != nil, f.Source == Measured && f.Text != nil:
		return fmt.Errorf("/source: %q takes no such origin as the file gives", f.Source)
	case f.NotApplicable != "" && len(f.Trials) > 0:
		return fmt.Errorf("/not_applicable: there are trials all the same")
	case f.NotApplicable == "" && len(f.Trials) == 0:
		return fmt.Errorf("/trials: empty")
	}
	if err := levels("/settings", f.Settings); err != nil {
		return err
	}
	factors := map[string]bool{}
	for _, fac := range x.Factors {
		factors[fac.Name] = true
	}
	conds := map[string]bool{}
	keys := map[string]string{}
	for i, c := range f.Conditions {
		at := fmt.Sprintf("/conditions/%d", i)
		if err := levels(at+"/levels", c.Levels); err != nil {
			return err
		}
		if conds[c.ID] {
			return fmt.Errorf("%s/id: %q stands twice", at, c.ID)
		}
		if other, ok := keys[c.Levels.Key()]; ok {
			return fmt.Errorf("%s/levels: the same as those of %q", at, other)
		}
		conds[c.ID], keys[c.Levels.Key()] = true, c.ID
		// A published table may vary more than the lab's design does, but a
		// measured run is that design.
		for name := range c.Levels {
			if f.Source == Measured && !factors[name] {
				return fmt.Errorf("%s/levels/%s: not a factor of %s", at, name, x.Name)
			}
		}
	}
	for i, t := range f.Trials {
		if err := t.check(fmt.Sprintf("/trials/%d", i), f, i, conds); err != nil {
			return err
		}
	}
	return nil
}

func levels(at string, ls setting.Levels) error {
	for name, l := range ls {
		if err := setting.Check(name, l); err != nil {
			return fmt.Errorf("%s/%s: %w", at, name, err)
		}
	}
	return nil
}

func (t Trial) check(at string, f *File, i int, conds map[string]bool) error {
	switch {
	case t.Seq != i+1:
		return fmt.Errorf("%s/seq: %d, but it is the trial at place %d; trials stand in the order they ran", at, t.Seq, i+1)
	case !conds[t.Condition]:
		return fmt.Errorf("%s/condition: no condition %q", at, t.Condition)
	case t.Valid && len(t.Reasons) > 0:
		return fmt.Errorf("%s/reasons: a valid trial has none", at)
	case !t.Valid && len(t.Reasons) == 0:
		return fmt.Errorf("%s/reasons: an invalid trial needs at least one", at)
	}
	for name, v := range t.Metrics {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s/metrics/%s: %v is not a figure", at, name, v)
		}
		if _, ok := t.Below[name]; ok {
			return fmt.Errorf("%s/below/%s: the figure is known as well", at, name)
		}
	}
	if f.Source == Published {
		for name := range t.Metrics {
			if t.Printed[name] == "" {
				return fmt.Errorf("%s/printed/%s: missing; a published figure keeps what was printed", at, name)
			}
		}
	}
	for name := range t.Printed {
		_, known := t.Metrics[name]
		_, below := t.Below[name]
		if f.Source == Measured || !known && !below {
			return fmt.Errorf("%s/printed/%s: no published figure of that name", at, name)
		}
	}
	if want, why := bound.Decide(bound.Of(t.Metrics, f.Topology.LineRateBps)); want != t.Bound {
		return fmt.Errorf("%s/bound: %q, but the figures give %q (%s)", at, t.Bound, want, why)
	}
	return nil
}
