package order

import (
	"reflect"
	"slices"
	"testing"
)

func TestEachBlockHasEveryConditionOnce(t *testing.T) {
	for seed := range uint64(50) {
		blocks := Draw(5, 7, seed)
		if len(blocks) != 7 {
			t.Fatalf("%d blocks, want 7", len(blocks))
		}
		for b, block := range blocks {
			if sorted := slices.Sorted(slices.Values(block)); !slices.Equal(sorted, []int{0, 1, 2, 3, 4}) {
				t.Fatalf("seed %d, block %d: conditions %v", seed, b+1, block)
			}
		}
	}
}

func TestTheOrderIsTheSeeds(t *testing.T) {
	if !reflect.DeepEqual(Draw(4, 6, 11), Draw(4, 6, 11)) {
		t.Error("one seed gave two orders")
	}
	if reflect.DeepEqual(Draw(4, 6, 11), Draw(4, 6, 12)) {
		t.Error("two seeds gave one order of 24 trials")
	}
	// A run that goes on must not have its first blocks drawn anew.
	if !reflect.DeepEqual(Draw(4, 6, 11)[:3], Draw(4, 3, 11)) {
		t.Error("the first blocks depend on how many follow")
	}
	// Blocks must not all have the same order, or drift within a block would
	// be an effect. With 4 conditions and 6 blocks chance does that once in
	// 24^5 seeds.
	blocks := Draw(4, 6, 11)
	if !slices.ContainsFunc(blocks, func(b []int) bool { return !slices.Equal(b, blocks[0]) }) {
		t.Error("all blocks have one order")
	}
}

// Committed files hold orders drawn so; another way of drawing would call each
// of them out of order.
func TestWhatASeedGivesStaysForGood(t *testing.T) {
	if got, want := Draw(4, 2, 11), [][]int{{1, 0, 3, 2}, {3, 0, 1, 2}}; !reflect.DeepEqual(got, want) {
		t.Errorf("seed 11 draws %v, want %v", got, want)
	}
	if got := Control(4, 11); got != 0 {
		t.Errorf("seed 11 draws the control %d, want 0", got)
	}
}

// One condition is measured twice; which, the seed says.
func TestTheControlIsDrawn(t *testing.T) {
	seen := map[int]int{}
	for seed := range uint64(300) {
		drawn := Control(3, seed)
		if again := Control(3, seed); again != drawn {
			t.Fatalf("one seed drew two controls, %d and %d", drawn, again)
		}
		seen[drawn]++
	}
	for c := range 3 {
		if seen[c] < 60 {
			t.Errorf("condition %d was drawn %d times of 300", c, seen[c])
		}
	}
}
