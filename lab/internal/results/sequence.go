package results

import (
	"errors"
	"fmt"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
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

// checkName compares a run's name with its parts: the start of the run and the host.
func (f *File) checkName() error {
	if want := f.Provenance.StartedAt.UTC().Format(stamp) + "-" + f.Hosts.Server; f.Run != want {
		return fmt.Errorf("/run: %q, but by its start and host it is %q", f.Run, want)
	}
	return nil
}

// checkTimes reports a run in the future, and slots that take longer than the run's
// budget. checkBlocks does the rest.
func (f *File) checkTimes() error {
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
			measured += sum(t.Slots.DurationS)
		}
	}
	// A run makes one block, whatever it takes.
	if p.Blocks > 1 && measured > p.BudgetS {
		return fmt.Errorf("/provenance/budget_s: %v, but the trials' slots alone took %.4g s", p.BudgetS, measured)
	}
	return nil
}

// Took is the least time that a trial took: its span, or 0 for an invalid one, which
// may have been cut short or have met a clock that was set.
func (t Trial) Took(p *Provenance) time.Duration {
	if !t.Valid {
		return 0
	}
	return t.span(p)
}

// span is the time from a trial's first slot to the end of its last, or its warm-up
// and window.
func (t Trial) span(p *Provenance) time.Duration {
	if s := t.Slots; s != nil && len(s.AtS) > 0 && len(s.DurationS) == len(s.AtS) {
		last := len(s.AtS) - 1
		return time.Duration((s.AtS[last] + s.DurationS[last] - s.AtS[0]) * float64(time.Second))
	}
	return time.Duration((p.Block.WarmupS + t.Metrics["duration_s"]) * float64(time.Second))
}

// checkControl reports an A/A control other than the one that the seed draws.
func (f *File) checkControl() error {
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

// gates reports a reason with an unknown gate.
func (t Trial) gates(at string) error {
	for i, r := range t.Reasons {
		if _, known := gate.Of(r.Gate); !known {
			return fmt.Errorf("%s/reasons/%d/gate: no gate %q", at, i, r.Gate)
		}
	}
	return nil
}
