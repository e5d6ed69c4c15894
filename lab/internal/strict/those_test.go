package strict

import (
	"slices"
	"testing"
)

func TestThoseOfWhichSomethingIsSo(t *testing.T) {
	all := []int{3, 4, 5, 6}
	even := func(n int) bool { return n%2 == 0 }
	if got := Those(all, even); !slices.Equal(got, []int{4, 6}) {
		t.Errorf("those: %v", got)
	}
	if got := Count(all, even); got != 2 {
		t.Errorf("count: %d", got)
	}
	if got, ok := First(all, even); got != 4 || !ok {
		t.Errorf("first: %d, %t", got, ok)
	}
	if got, ok := First(all, func(n int) bool { return n > 6 }); got != 0 || ok {
		t.Errorf("first of none: %d, %t", got, ok)
	}
	if got := Called(all, func(n int) int { return 2 * n }); !slices.Equal(got, []int{6, 8, 10, 12}) {
		t.Errorf("called: %v", got)
	}
	if got := Those(nil, even); got != nil || Count(nil, even) != 0 {
		t.Errorf("those of none: %v", got)
	}
}
