package results

import (
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Groups gives the conditions that are up together within a block, as indexes
// into Conditions. The control is among them.
func (f *File) Groups() [][]int {
	var all []setting.Levels
	for _, c := range f.Conditions {
		all = append(all, f.Settings.With(c.Levels))
	}
	return experiment.Groups(all)
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
