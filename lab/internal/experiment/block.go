package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Block says how the time of one block of a run is divided. The servers of
// its conditions are started afresh, and each condition gets its turns, called
// slots.
type Block struct {
	SlotS   float64 `toml:"slot_s" json:"slot_s"`     // counted seconds of one slot
	Rounds  int     `toml:"rounds" json:"rounds"`     // slots of each condition
	WarmupS float64 `toml:"warmup_s" json:"warmup_s"` // seconds of load on each server before its first slot
}

// timed checks all durations of the design.
func (x *Experiment) timed() error {
	b := x.Block
	switch {
	case x.BudgetS == 0:
		return errors.New("budget_s is missing, or 0: say how many seconds a run may go on while a claim is undecided")
	case b == Block{}:
		return errors.New("block is missing, or empty: write a table [block] with slot_s, rounds and warmup_s")
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

// Generator is the load generator for these settings.
func Generator(s setting.Levels) string {
	if g, ok := s[setting.Generator]; ok {
		return g.String()
	}
	return setting.Autocannon // the only one when files had no such setting
}

// ProfileS is how long each server is profiled, in seconds; 0 where it is not.
func (x *Experiment) ProfileS() float64 {
	return cmp.Or(x.Profile, &Profile{}).Seconds
}

// Groups gives the conditions whose servers are up at once, as indexes into
// Conditions.
func (x *Experiment) Groups() [][]int {
	return Groups(strict.Map(x.Conditions(), x.fixed.With))
}
