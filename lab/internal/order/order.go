// Package order draws what a run leaves to chance: in which order each block
// takes the conditions, and which condition is measured twice.
//
// Its stance: who chooses the order can choose the result, so nobody does. Both
// are drawn from the run's seed alone and can be drawn again from its file;
// `run` measures in this order and `results` checks that it did. The limit: the
// seed itself is believed.
package order

import "math/rand/v2"

// Draw gives the order of each block: every condition once, by its place among
// the run's conditions.
func Draw(conditions, blocks int, seed uint64) [][]int {
	r := rand.New(rand.NewPCG(seed, 0))
	out := make([][]int, blocks)
	for b := range out {
		out[b] = r.Perm(conditions)
	}
	return out
}

// Control gives the place of the condition that is measured twice.
func Control(conditions int, seed uint64) int {
	return rand.New(rand.NewPCG(seed, 1)).IntN(conditions)
}
