package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// A Profiled has the profiles of one condition, taken outside of a run.
type Profiled struct {
	Levels setting.Levels
	Before float64 // requests per second just before, without profiling
	During float64 // requests per second while the profiles were taken
	Set    *profile.Set
}

// Profiles loads each condition once and profiles its server. This is not a
// run: one window decides nothing.
func Profiles(ctx context.Context, p Plan, each func(Profiled) error) error {
	p, _ = p.without()
	x := p.Experiment
	if name := x.Unprofiled(); name != "" {
		return fmt.Errorf("the %s server has no profiles", name)
	}
	if why := p.Unreachable(); why != "" {
		return errors.New(why)
	}
	p.Profile, p.clock = true, measure.NewClock()
	link, err := p.up()
	if err != nil {
		return err
	}
	defer link.Down()
	if p.found, err = p.find(); err != nil {
		return err
	}
	f := p.file()
	p.conditions(f, link)
	e := newEngine(p, link, f)
	for i, levels := range x.Conditions() {
		m, err := e.group(ctx, slices.Repeat([]int{i}, x.Block.Rounds))
		switch {
		case err != nil:
		case m.profiles[0] == nil && len(m.trials[0].Reasons) > 0:
			err = errors.New(m.trials[0].Reasons[0].Detail)
		case m.profiles[0] == nil:
			err = errors.New("no profile was taken")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", levels.Key(), err)
		}
		t := m.trials[0]
		done := Profiled{Levels: levels, Set: m.profiles[0], Before: t.Metrics["throughput_rps"]}
		done.During = done.Before * t.Metrics["profiled_throughput_share"]
		if err := each(done); err != nil {
			return err
		}
	}
	return nil
}
