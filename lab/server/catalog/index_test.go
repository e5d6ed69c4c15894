package catalog

import (
	"slices"
	"sync"
	"testing"
)

func TestSourcesGiveEveryProduct(t *testing.T) {
	for name, src := range map[string]Source{"pool": NewWalk(Seed), "gofakeit": Faker{}} {
		var seen [Size]int
		var buf [Sample]int
		for range 500 {
			src.Fill(buf[:])
			for _, i := range append(buf[:], src.Next()) {
				if i < 0 || i >= Size {
					t.Fatalf("%s: index %d", name, i)
				}
				seen[i]++
			}
		}
		// 50,500 draws over 500 products: the probability that a given product never
		// comes up is e^-101.
		if i := slices.Index(seen[:], 0); i >= 0 {
			t.Errorf("%s: product %d never comes up", name, i)
		}
	}
}

// All walks give one order, however they are asked, and begin it again at its end. Of several goroutines each
// step is given to one.
func TestAWalkGoesRound(t *testing.T) {
	one, many := NewWalk(Seed), NewWalk(Seed)
	var next []int
	for range WalkLen + 3 {
		next = append(next, one.Next())
	}
	filled := make([]int, WalkLen+3)
	many.Fill(filled[:WalkLen-1])
	many.Fill(filled[WalkLen-1:]) // across the end
	if !slices.Equal(next, filled) || !slices.Equal(next[:3], next[WalkLen:]) {
		t.Errorf("it begins with %v, or %v, and goes on with %v", next[:3], filled[:3], next[WalkLen:])
	}
	var got, want [Size]int
	for _, i := range next[:WalkLen] {
		want[i]++
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			mine := make([]int, WalkLen/8)
			for i := range mine {
				mine[i] = many.Next()
			}
			mu.Lock()
			defer mu.Unlock()
			for _, i := range mine {
				got[i]++
			}
		})
	}
	if wg.Wait(); got != want {
		t.Error("one round by several goroutines is not one round of the table")
	}
}
