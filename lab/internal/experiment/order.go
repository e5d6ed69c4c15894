package experiment

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Groups gives the conditions whose servers are up at once, as indexes into Conditions.
func (x *Experiment) Groups() [][]int { return Groups(x.whole()) }

// Groups says which conditions are up together within a block, as indexes into conditions, each of which has all its
// levels. A group's indexes ascend, and groups are ordered by their first index.
//
// Only http_load can alternate between servers. Conditions that can be measured at once need no slots, and form groups
// too. All others are alone. A group has one kind of client with one number of threads, and one state of the kernel
// settings, which cannot be changed for a single slot.
func Groups(conditions []setting.Levels) [][]int {
	var groups [][]int
	known := map[string]int{}
	for i, levels := range conditions {
		turns := Generator(levels) == setting.HTTPLoad
		if !turns && !AtOnce(levels) {
			groups = append(groups, []int{i})
			continue
		}
		names := []string{setting.Generator, setting.ClientWorkers}
		for _, k := range setting.Knobs() {
			names = append(names, k.Setting)
		}
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

// AtOnce tells whether the lab can measure a condition at the same time as others like it, each by a client of its
// own. A receiver of events is such a one: it takes a few hundredths of a core.
func AtOnce(levels setting.Levels) bool { return Generator(levels) == setting.Sink }

// DrawBlock gives the order of one block, numbered from 1: the groups in the order drawn, each as the conditions of its
// slots. Every condition of a group has one slot in each round. A group measured at once has one round, whose order
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

// Members are the conditions that have a slot in a sequence of DrawBlock, each once and ascending.
func Members(sequence []int) []int {
	all := slices.Clone(sequence)
	slices.Sort(all)
	return slices.Compact(all)
}

// DrawControl gives the index of the condition that is measured twice.
func DrawControl(conditions int, seed uint64) int {
	return rand.New(rand.NewPCG(seed, 1)).IntN(conditions)
}
