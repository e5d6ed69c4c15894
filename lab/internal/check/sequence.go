package check

import (
	"errors"
	"fmt"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// now is the time at which a file is read; tests replace it.
var now = time.Now

const (
	// ahead is how far a machine's clock may run ahead of this one: it may not
	// know its time zone.
	ahead = 24 * time.Hour
	// cutOff is the unit to which a run's first and last moment are cut.
	cutOff = time.Second
	// stamp is the layout of a run's start in its name.
	stamp = "20060102t150405z"
)

// checkEnd reports what a file says of its run's end that no such run has.
func (f *file) checkEnd() error {
	p := f.Provenance
	switch ran := f.NotApplicable == ""; {
	case !ran && len(f.Trials) > 0:
		return fmt.Errorf("/not_applicable: there are trials all the same")
	case ran && len(f.Trials) == 0:
		return fmt.Errorf("/trials: empty")
	case ran && p.Ended == "":
		return fmt.Errorf("/provenance/ended: missing")
	case !ran && p.Ended != "":
		return fmt.Errorf("/provenance/ended: %q, but the run could not be made", p.Ended)
	case ran != (p.Blocks > 0):
		return fmt.Errorf("/provenance/blocks: %d; a run has at least one, and one that could not be made has none", p.Blocks)
	case p.StoppedEarly != "" && p.Ended != results.Failing && p.Ended != results.Interrupted:
		return fmt.Errorf("/provenance/stopped_early: the run ended by itself, %q", p.Ended)
	}
	return nil
}

// checkName compares a run's name with its parts: the start of the run and the host.
func (f *file) checkName() error {
	if want := f.Provenance.StartedAt.UTC().Format(stamp) + "-" + f.Hosts.Server; f.Run != want {
		return fmt.Errorf("/run: %q, but by its start and host it is %q", f.Run, want)
	}
	return nil
}

// checkTimes reports a run in the future, and slots that take longer than the run's
// budget. checkBlocks does the rest.
func (f *file) checkTimes() error {
	p := f.Provenance
	switch {
	case p.FinishedAt.After(now().Add(ahead)), p.StartedAt.After(now().Add(ahead)):
		return fmt.Errorf("/provenance/finished_at: %s is in the future; set this machine's clock, or that of the one "+
			"that measured", p.FinishedAt.Format(time.RFC3339))
	case p.FinishedAt.Before(p.StartedAt):
		return fmt.Errorf("/provenance/finished_at: %s is before the run began", p.FinishedAt.Format(time.RFC3339))
	}
	measured := 0.0
	for _, t := range f.Trials {
		if t.Slots != nil {
			measured += t.Metrics["duration_s"]
		}
	}
	// A run makes one block, whatever it takes.
	if p.Blocks > 1 && measured > p.BudgetS {
		return fmt.Errorf("/provenance/budget_s: %v, but the trials' slots alone took %.4g s", p.BudgetS, measured)
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
