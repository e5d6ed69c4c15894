package check

import (
	"errors"
	"fmt"

	"github.com/line-rate/line-rate/lab/internal/experiment"
)

// checkBlocks draws each block's order again from the run's seed and compares the trials
// with it. Trials are listed by block, within a block by group in the order drawn, and
// within a group by condition.
func (f *file) checkBlocks() error {
	if err := f.checkControl(); err != nil {
		return err
	}
	p := f.Provenance
	if want := p.Blocks * len(f.Conditions); len(f.Trials) != want {
		return fmt.Errorf("/trials: %d, but %d complete blocks of %d conditions have %d", len(f.Trials), p.Blocks,
			len(f.Conditions), want)
	}
	groups := f.Groups()
	next := 0
	for b := 1; b <= p.Blocks; b++ {
		for _, sequence := range experiment.DrawBlock(groups, p.Block.Rounds, p.Seed, b) {
			for _, c := range experiment.Members(sequence) {
				t := f.Trials[next]
				if want := f.Conditions[c].ID; t.Block != b || t.Condition != want {
					return fmt.Errorf("/trials/%d: %q in block %d, but the seed draws %q in block %d next", next, t.Condition,
						t.Block, want, b)
				}
				next++
			}
		}
	}
	return nil
}

// checkControl reports an A/A control other than the one that the seed draws.
func (f *file) checkControl() error {
	n := len(f.Conditions)
	if f.controls() != 1 {
		return nil
	}
	own := f.Conditions[:n-1]
	switch drawn := own[experiment.DrawControl(len(own), f.Provenance.Seed)].ID; {
	case f.Conditions[n-1].ControlOf == "":
		return errors.New("/conditions: the A/A control stands last")
	case f.Conditions[n-1].ControlOf != drawn:
		return fmt.Errorf("/conditions/%d/control_of: %q, but the seed draws %q", n-1, f.Conditions[n-1].ControlOf, drawn)
	}
	return nil
}
