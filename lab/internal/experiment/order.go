package experiment

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Groups says which conditions are up together within a block, as indexes into
// conditions, each of which has all its levels. A group's indexes ascend, and
// groups are ordered by their first index.
//
// Only http_load can alternate between servers. Conditions that can be measured
// at once need no slots, and form groups too. All others are alone. If profiles
// are taken, the servers of a group with slots are profiled one after the other
// once all slots are done. A group has one kind of client with one number of
// threads, and one state of the kernel settings, which cannot be changed for a
// single slot.
func Groups(conditions []setting.Levels) [][]int {
	var groups [][]int
	known := map[string]int{}
	for i, levels := range conditions {
		turns := levels[setting.Generator] == setting.String(setting.HTTPLoad)
		if !turns && !AtOnce(levels) {
			groups = append(groups, []int{i})
			continue
		}
		names := []string{setting.Generator, setting.IRQ, setting.IRQBalance, setting.Crond, setting.RPS, setting.RFS,
			setting.ClientWorkers}
		if !turns { // one sampler watches one set of server cores
			names = append(names, setting.ServerCPUs)
		}
		same := setting.Levels{}
		for _, name := range names {
			if l, ok := levels[name]; ok {
				same[name] = l
			}
		}
		g, ok := known[same.Key()]
		if !ok {
			g = len(groups)
			known[same.Key()] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

// AtOnce tells whether a condition, with all its levels, can be measured at the
// same time as others like it, each by a client of its own: a receiver of
// events at a set rate. A few thousand events a second take a few hundredths of
// a core. A receiver that searches for the highest rate takes all there is.
func AtOnce(levels setting.Levels) bool {
	rate, set := levels[setting.EventRate].Int()
	return levels[setting.Generator] == setting.String(setting.Sink) && set && rate > 0
}

// DrawBlock gives the order of one block, numbered from 1: the groups in the
// order drawn, each as the conditions of its slots. Every condition of a group
// has one slot in each round. A group measured at once has one round, whose order
// means nothing. The draw does not depend on other blocks or their number.
func DrawBlock(groups [][]int, rounds int, seed uint64, block int) [][]int {
	r := rand.New(rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "seed %d block %d", seed, block))))
	out := make([][]int, 0, len(groups))
	for _, g := range r.Perm(len(groups)) {
		slots := make([]int, 0, rounds*len(groups[g]))
		for range rounds {
			for _, i := range r.Perm(len(groups[g])) {
				slots = append(slots, groups[g][i])
			}
		}
		out = append(out, slots)
	}
	return out
}

// Members are the conditions that have a slot in a sequence of DrawBlock, each
// once and ascending.
func Members(sequence []int) []int {
	all := slices.Clone(sequence)
	slices.Sort(all)
	return slices.Compact(all)
}

// DrawControl gives the index of the condition that is measured twice.
func DrawControl(conditions int, seed uint64) int {
	return rand.New(rand.NewPCG(seed, 1)).IntN(conditions)
}

// A Block says how the time of one block of a run is divided. The servers of
// its conditions are started afresh, and each condition gets its turns, called
// slots.
type Block struct {
	SlotS   float64 `toml:"slot_s" json:"slot_s"`     // counted seconds of one slot
	Rounds  int     `toml:"rounds" json:"rounds"`     // slots of each condition
	WarmupS float64 `toml:"warmup_s" json:"warmup_s"` // seconds of load on each server before its first slot
}

// A times tells which keys about time a file has, whatever their values.
type times struct {
	BudgetS any `toml:"budget_s"`
	Block   any `toml:"block"`
}

// timed checks all durations of the design.
func (x *Experiment) timed(has times) error {
	switch {
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

// Generator is the load generator for these settings.
func Generator(s setting.Levels) string {
	if g, ok := s[setting.Generator]; ok {
		return g.String()
	}
	return setting.Autocannon // the only one when files had no such setting
}

// ProfileS is how long each server is profiled, in seconds; 0 where it is not.
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
