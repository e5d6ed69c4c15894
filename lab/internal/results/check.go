package results

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Check reports, by JSON pointer, the first place where a file contradicts
// itself or the design that the run was made with.
func (f *File) Check(x *experiment.Experiment) error {
	switch {
	case f.NotApplicable != "" && len(f.Trials) > 0:
		return fmt.Errorf("/not_applicable: there are trials all the same")
	case f.NotApplicable == "" && len(f.Trials) == 0:
		return fmt.Errorf("/trials: empty")
	}
	if err := f.checkEnd(); err != nil {
		return err
	}
	if err := f.checkName(); err != nil {
		return err
	}
	if err := f.Provenance.checkDigests(); err != nil {
		return err
	}
	if err := f.checkFleet(); err != nil {
		return err
	}
	if err := levels("/settings", f.Settings); err != nil {
		return err
	}
	factors := map[string]bool{}
	for _, fac := range x.Factors {
		factors[fac.Name] = true
	}
	conds := map[string]Condition{}
	keys := map[string]string{}
	for i, c := range f.Conditions {
		at := fmt.Sprintf("/conditions/%d", i)
		if err := levels(at+"/levels", c.Levels); err != nil {
			return err
		}
		if _, again := conds[c.ID]; again {
			return fmt.Errorf("%s/id: %q stands twice", at, c.ID)
		}
		other, again := keys[c.Levels.Key()]
		switch {
		case c.ControlOf == "" && again:
			return fmt.Errorf("%s/levels: the same as those of %q", at, other)
		case c.ControlOf != "" && c.ControlOf != other:
			return fmt.Errorf("%s/control_of: %q is no condition before it with the same levels", at, c.ControlOf)
		case c.ControlOf == "":
			keys[c.Levels.Key()] = c.ID
		}
		conds[c.ID] = c
		for name := range c.Levels {
			if !factors[name] {
				return fmt.Errorf("%s/levels/%s: not a factor of %s", at, name, x.Name)
			}
		}
	}
	for i, t := range f.Trials {
		if err := t.check(fmt.Sprintf("/trials/%d", i), f, conds); err != nil {
			return err
		}
	}
	if err := f.checkTimes(); err != nil {
		return err
	}
	if err := f.checkProfiles(x); err != nil {
		return err
	}
	x, err := f.made(x)
	if err != nil {
		return err
	}
	if err := f.follows(x); err != nil {
		return err
	}
	if err := f.checkCommands(); err != nil {
		return err
	}
	if err := f.checkPrograms(x); err != nil {
		return err
	}
	return f.checkGates(x)
}

// checkDigests refuses zeros, which no content has as its digest.
func (p *Provenance) checkDigests() error {
	zeros := func(s string) bool { return s != "" && strings.Trim(s, "0") == "" }
	if zeros(p.Commit) {
		return fmt.Errorf("/provenance/commit: zeros name no commit")
	}
	for _, name := range slices.Sorted(maps.Keys(p.Binaries)) {
		b := p.Binaries[name]
		for _, d := range []struct{ field, v string }{{"sha256", b.SHA256}, {"sources_sha256", b.Sources},
			{"commit", b.Commit}} {
			if zeros(d.v) {
				return fmt.Errorf("/provenance/binaries/%s/%s: zeros are no digest", name, d.field)
			}
		}
	}
	return nil
}

// made is the design without what the run says that it left out. What is left
// must still compare something.
func (f *File) made(x *experiment.Experiment) (*experiment.Experiment, error) {
	left := x
	for i, out := range f.Provenance.LeftOut {
		before := len(left.Conditions())
		if left = left.Without(out.Levels); len(out.Levels) == 0 || len(left.Conditions()) == before {
			return nil, fmt.Errorf("/provenance/left_out/%d/levels: no further condition of %s has these levels", i, x.Name)
		}
		if err := strict.CheckLine(out.Why); err != nil || out.Why == "" {
			return nil, fmt.Errorf("/provenance/left_out/%d/why: give the reason in one line", i)
		}
	}
	if len(f.Provenance.LeftOut) > 0 && len(left.Conditions()) < 2 {
		return nil, fmt.Errorf("/provenance/left_out: what is left of %s compares nothing", x.Name)
	}
	return left, nil
}

// follows checks that a measured run has the experiment's design. A run with
// another route, topology or order must not decide claims about this design.
func (f *File) follows(x *experiment.Experiment) error {
	if want := x.Fixed(); f.Settings.Key() != want.Key() {
		return fmt.Errorf("/settings: %q, but the design of %s that the run was made with has %q", f.Settings.Key(), x.Name,
			want.Key())
	}
	if want := f.joined(x.Topology); f.Topology != want {
		return fmt.Errorf("/topology: %+v, but the design of %s that the run was made with has %+v", f.Topology, x.Name, want)
	}
	if want := (BlockPlan{x.Block.SlotS, x.Block.Rounds, x.Block.WarmupS, x.ProfileS()}); *f.Provenance.Block != want {
		return fmt.Errorf("/provenance/block: %+v, but the design of %s that the run was made with has %+v",
			*f.Provenance.Block, x.Name, want)
	}
	if f.NotApplicable != "" {
		return nil
	}
	want := x.Conditions()
	designed := map[string]bool{}
	for _, levels := range want {
		designed[levels.Key()] = true
	}
	for i, c := range f.Conditions {
		if !designed[c.Levels.Key()] {
			return fmt.Errorf("/conditions/%d/levels: %q is no condition of the design of %s that the run was made with", i,
				c.Levels.Key(), x.Name)
		}
	}
	if n := f.controls(); n > 1 {
		return fmt.Errorf("/conditions: %d A/A controls; a run has one at most", n)
	}
	if n := len(f.Conditions) - f.controls(); n != len(want) {
		return fmt.Errorf("/conditions: %d, but %s has %d", n, x.Name, len(want))
	}
	for i, t := range f.Trials {
		if t.Block > f.Provenance.Blocks {
			return fmt.Errorf("/trials/%d/block: %d of %d", i, t.Block, f.Provenance.Blocks)
		}
	}
	return f.checkBlocks(x)
}

// joined is how client and server are joined in a run of a design: as the design
// says, but that any design can be measured on a fleet, over whose links nobody
// decides.
func (f *File) joined(t experiment.Topology) Topology {
	if f.OnFleet() {
		return Topology{Kind: "fleet", LineRateBps: f.Topology.LineRateBps}
	}
	return Topology(t)
}

// controls counts the conditions that are A/A controls.
func (f *File) controls() int {
	n := 0
	for _, c := range f.Conditions {
		if c.ControlOf != "" {
			n++
		}
	}
	return n
}

// A turn identifies a trial by block and condition.
type turn struct {
	block     int
	condition string
}

func (t Trial) turn() turn { return turn{t.Block, t.Condition} }

// Complete tells whether every condition of a measured run has a valid trial in
// every block. A run that is not complete may still have enough blocks for
// verdicts.
func (f *File) Complete() bool {
	if f.NotApplicable != "" {
		return true
	}
	valid := map[turn]bool{}
	for _, t := range f.Trials {
		if t.Valid {
			valid[t.turn()] = true
		}
	}
	return len(valid) == f.Provenance.Blocks*len(f.Conditions)
}

func levels(at string, ls setting.Levels) error {
	for name, l := range ls {
		if err := setting.Check(name, l); err != nil {
			return fmt.Errorf("%s/%s: %w", at, name, err)
		}
	}
	return nil
}

func (t Trial) check(at string, f *File, conds map[string]Condition) error {
	cond, there := conds[t.Condition]
	if !there {
		return fmt.Errorf("%s/condition: no condition %q", at, t.Condition)
	}
	if t.Slots != nil {
		if err := t.Slots.shape(at + "/slots"); err != nil {
			return err
		}
	}
	for name, v := range t.Metrics {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s/metrics/%s: %v is not a figure", at, name, v)
		}
		if _, ok := t.Below[name]; ok {
			return fmt.Errorf("%s/below/%s: the figure is known as well", at, name)
		}
	}
	if err := t.gates(at); err != nil {
		return err
	}
	return t.figures(at, f, f.Settings.With(cond.Levels))
}
