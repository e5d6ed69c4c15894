package experiment

import (
	"errors"
	"fmt"
	"math"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

// A Block says how the time of one block of a run is divided. The servers of
// its conditions are started afresh, and each condition gets its turns, called
// slots.
type Block struct {
	SlotS   float64 `toml:"slot_s" json:"slot_s"`     // counted seconds of one slot
	Rounds  int     `toml:"rounds" json:"rounds"`     // slots of each condition
	WarmupS float64 `toml:"warmup_s" json:"warmup_s"` // seconds of load on each server before its first slot
}

// A Size says how much of a version 1 design a run measured.
type Size struct {
	Blocks    int     `toml:"blocks"`
	WarmupS   float64 `toml:"warmup_s"`
	DurationS float64 `toml:"duration_s"`
	Repeats   int     `toml:"repeats"` // how many invalid trials a run may repeat
}

// The sizes of a version 1 design.
const (
	Smoke = "smoke"
	Full  = "full"
)

// A times tells which keys about time a file has, whatever their values.
type times struct {
	BudgetS any `toml:"budget_s"`
	Block   any `toml:"block"`
	Sizes   any `toml:"sizes"`
}

// timed checks all durations of the design.
func (x *Experiment) timed(has times) error {
	switch now := has.BudgetS != nil || has.Block != nil; {
	case has.Sizes != nil && now:
		return errors.New("sizes: budget_s and [block] have taken its place; leave [sizes] out")
	case x.Earlier:
		return x.sized()
	case has.BudgetS == nil:
		return errors.New("budget_s is missing: say how many seconds a run may go on while a claim is undecided")
	case has.Block == nil:
		return errors.New("block is missing: write a table [block] with slot_s, rounds and warmup_s")
	}
	b := x.Block
	switch {
	case !(x.BudgetS > 0 && x.BudgetS <= 86400):
		return fmt.Errorf("budget_s = %v: above 0 and up to 86400 seconds, which is a day", x.BudgetS)
	case !(b.SlotS > 0 && b.SlotS <= 60):
		return fmt.Errorf("block.slot_s = %v: above 0 and up to 60 seconds", b.SlotS)
	case b.Rounds < 1 || b.Rounds > 100:
		return fmt.Errorf("block.rounds = %d: 1 to 100", b.Rounds)
	case !(b.WarmupS >= 0 && b.WarmupS <= 60):
		return fmt.Errorf("block.warmup_s = %v: 0 to 60 seconds", b.WarmupS)
	}
	// net/http/pprof takes whole seconds only.
	if p := x.Profile; p != nil && (!(p.Seconds >= 1 && p.Seconds <= 60) || p.Seconds != math.Trunc(p.Seconds)) {
		return fmt.Errorf("profile.seconds = %v: say for how long a profile is taken, 1 to 60 whole seconds", p.Seconds)
	}
	if b.Rounds > 1 {
		for _, levels := range x.Conditions() {
			if g := Generator(x.fixed.With(levels)); g != setting.HTTPLoad {
				return fmt.Errorf("block.rounds = %d: %s measures in one piece; write rounds = 1", b.Rounds, g)
			}
		}
	}
	return nil
}

// sized checks the sizes of a version 1 design.
func (x *Experiment) sized() error {
	for _, s := range []string{Smoke, Full} {
		size, ok := x.Sizes[s]
		if !ok {
			return fmt.Errorf("sizes.%s is missing", s)
		}
		if size.Blocks < 1 || size.Blocks > 1000 || !(size.DurationS > 0 && size.DurationS <= 3600) ||
			!(size.WarmupS >= 0 && size.WarmupS <= 3600) || size.Repeats < 0 {
			return fmt.Errorf("sizes.%s: blocks (1 to 1000) and duration_s (up to 3600) must be positive, warmup_s and repeats not negative", s)
		}
	}
	if len(x.Sizes) != 2 {
		return errors.New("sizes: only smoke and full exist")
	}
	if x.ProfileS() != 0 {
		return errors.New("profile.seconds: with [sizes] a profile is as long as the trial; leave it out")
	}
	return nil
}

// Generator is the load generator for these settings.
func Generator(s setting.Levels) string {
	if g, ok := s[setting.Generator]; ok {
		return g.String()
	}
	return setting.Autocannon // the only one when files had no such setting
}

// ProfileS is how long each server is profiled, in seconds; 0 where it is not,
// and in a version 1 design, whose profiles were as long as its trials.
func (x *Experiment) ProfileS() float64 {
	if x.Profile == nil {
		return 0
	}
	return x.Profile.Seconds
}

// Groups gives the conditions whose servers are up at once, as indexes into
// Conditions.
func (x *Experiment) Groups() [][]int {
	var all []setting.Levels
	for _, levels := range x.Conditions() {
		all = append(all, x.fixed.With(levels))
	}
	return Groups(all)
}
