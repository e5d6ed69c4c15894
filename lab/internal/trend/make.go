package trend

import (
	"errors"
	"fmt"
	"time"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// Control is the experiment whose runs a week rests on.
const Control = "aa-control"

// New makes a week of the week's runs of the A/A control, oldest first, of what they
// say together, and of the verdicts of the smoke benchmark.
func New(h *host.Profile, runs []*results.File, control *verdict.File, smoke []*verdict.File) (*Week, error) {
	newest := runs[len(runs)-1]
	w := &Week{
		SchemaVersion: version,
		Date:          newest.Provenance.StartedAt.UTC().Format(time.DateOnly),
		Commit:        newest.Provenance.Commit,
		CPU:           h.CPU,
		Cores:         h.Cores,
		Control:       map[string]Range{},
		Figures:       map[string]Range{},
		Claims:        map[verdict.Verdict]int{},
	}
	for _, f := range runs {
		if f.Provenance.Dirty {
			return nil, errors.New("it was measured with files in lab/ that are not as committed")
		}
		for _, t := range f.Trials {
			w.Trials++
			if !t.Valid {
				w.InvalidTrials++
			}
		}
	}
	for _, c := range control.Claims {
		for _, e := range c.Effects {
			if e.Low <= 0 || e.High <= 0 {
				return nil, fmt.Errorf("%d blocks of %s are too few for an interval, which takes %d", e.Blocks, Control, stats.MinSamples)
			}
			w.Blocks = e.Blocks
			w.Control[e.Metric] = Range{e.Ratio, e.Low, e.High}
		}
	}
	if len(control.Conditions) == 0 {
		return nil, fmt.Errorf("no trial of %s is valid", Control)
	}
	for _, name := range Metrics {
		f := control.Conditions[0].Metrics[name]
		if f.Median == nil || f.Low == nil || f.High == nil {
			return nil, fmt.Errorf("the newest run of %s has too few blocks for an interval of its %s", Control, name)
		}
		w.Figures[name] = Range{*f.Median, *f.Low, *f.High}
	}
	for _, f := range smoke {
		for _, c := range f.Claims {
			w.Claims[c.Verdict]++
		}
	}
	return w, w.check()
}
