package strict

import (
	"slices"
	"testing"
)

func TestListsOfWhatAConditionHoldsFor(t *testing.T) {
	all := []int{3, 4, 5, 6}
	even := func(n int) bool { return n%2 == 0 }
	if got := Filter(all, even); !slices.Equal(got, []int{4, 6}) {
		t.Errorf("filter: %v", got)
	}
	if got := Count(all, even); got != 2 {
		t.Errorf("count: %d", got)
	}
	if got, ok := Find(all, even); got != 4 || !ok {
		t.Errorf("find: %d, %t", got, ok)
	}
	if got, ok := Find(all, func(n int) bool { return n > 6 }); got != 0 || ok {
		t.Errorf("find of none: %d, %t", got, ok)
	}
	if got := Map(all, func(n int) int { return 2 * n }); !slices.Equal(got, []int{6, 8, 10, 12}) {
		t.Errorf("map: %v", got)
	}
	if got := Filter(nil, even); got != nil || Count(nil, even) != 0 {
		t.Errorf("filter of none: %v", got)
	}
}
