package experiment

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Groups says which conditions are up together within a block, by their places
// among those given, each with all its levels. A group's places rise, and groups
// stand in the order of their first ones.
//
// Only http_load can turn from one server to another. Conditions that are measured
// at once need no turns, and make groups too. All others stand alone. Where profiles
// are taken of servers that take turns, each has its profiled window to itself when
// all have had their turns. A group has one kind of client, whose number of threads
// is the same for all, and one state of the machine's knobs, which nobody could turn
// for one slot.
func Groups(conditions []setting.Levels) [][]int {
	var groups [][]int
	known := map[string]int{}
	for i, levels := range conditions {
		turns := levels[setting.Generator] == setting.String(setting.HTTPLoad)
		if !turns && !AtOnce(levels) {
			groups = append(groups, []int{i})
			continue
		}
		names := []string{setting.Generator, setting.IRQ, setting.IRQBalance, setting.Crond, setting.RPS, setting.RFS, setting.ClientWorkers}
		if !turns { // they share one look at the server's cores
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

// AtOnce tells whether a condition, with all its levels, can be measured while
// others like it are, each by a client of its own: a receiver of events that come
// at a set rate. A few thousand events a second take a few hundredths of a core.
// One that looks for the highest rate takes all there is.
func AtOnce(levels setting.Levels) bool {
	rate, set := levels[setting.EventRate].Int()
	return levels[setting.Generator] == setting.String(setting.Sink) && set && rate > 0
}

// DrawBlock gives the order of one block, which are numbered from 1: the groups as
// they come, each as the conditions of its slots. Every condition of a group is
// once in each of its rounds. Of what is measured at once there is one round, and its
// order says nothing. Neither other blocks nor their number matter to any of it.
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

// Members are the conditions that have a slot in a sequence of DrawBlock, each once
// and rising.
func Members(sequence []int) []int {
	all := slices.Clone(sequence)
	slices.Sort(all)
	return slices.Compact(all)
}

// DrawEarlier gives the order of each block of a run of version 1: every condition
// once, by its place among the run's conditions.
func DrawEarlier(conditions, blocks int, seed uint64) [][]int {
	r := rand.New(rand.NewPCG(seed, 0))
	out := make([][]int, blocks)
	for b := range out {
		out[b] = r.Perm(conditions)
	}
	return out
}

// DrawControl gives the place of the condition that is measured twice.
func DrawControl(conditions int, seed uint64) int {
	return rand.New(rand.NewPCG(seed, 1)).IntN(conditions)
}
