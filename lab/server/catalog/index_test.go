package catalog

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

var sources = map[string]func() Source{
	"pool":     func() Source { return NewWalk(Seed) },
	"gofakeit": func() Source { return Faker{} },
}

func TestSourceRange(t *testing.T) {
	for name, newSource := range sources {
		src := newSource()
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

// Fill and Next use the same table: an index that one has taken, the other does not
// return.
func TestWalkOrder(t *testing.T) {
	one, many := NewWalk(Seed), NewWalk(Seed)
	var want []int
	for range 7 {
		want = append(want, one.Next())
	}
	got := make([]int, 7)
	got[0] = many.Next()
	many.Fill(got[1:6])
	got[6] = many.Next()
	if !slices.Equal(got, want) {
		t.Errorf("Next, Fill of 5, Next = %v; 7 times Next = %v", got, want)
	}
}

func TestWalkGoesRound(t *testing.T) {
	w := NewWalk(Seed)
	first := w.Next()
	second := w.Next()
	w.cursor.Store(WalkLen) // the step after a full round
	if got := w.Next(); got != first {
		t.Errorf("after a full round Next() = %d, want %d", got, first)
	}
	w.cursor.Store(2*WalkLen - 1)
	var buf [3]int
	w.Fill(buf[:]) // crosses the end of the table
	if want := [3]int{int(w.table[0]), first, second}; buf != want {
		t.Errorf("Fill across the end = %v, want %v", buf, want)
	}
}

// Every step is returned once, whichever goroutine asks.
func TestWalkConcurrent(t *testing.T) {
	const routines, steps = 8, WalkLen / 8
	w := NewWalk(Seed)
	var got [Size]int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range routines {
		wg.Go(func() {
			var mine [Size]int
			for range steps {
				mine[w.Next()]++
			}
			mu.Lock()
			defer mu.Unlock()
			for i, n := range mine {
				got[i] += n
			}
		})
	}
	wg.Wait()
	var want [Size]int
	for _, i := range w.table {
		want[i]++
	}
	if got != want {
		t.Error("one round by several goroutines is not one round of the table")
	}
}

// BenchmarkNextRatio prints what one source costs relative to the other. They are
// measured in turns, so that within a round a busy neighbour slows both.
func BenchmarkNextRatio(b *testing.B) {
	const steps = 20_000 // of each worker, in each round
	workers := runtime.GOMAXPROCS(0)
	turn := func(src Source) float64 {
		var wg sync.WaitGroup
		start := time.Now()
		for range workers {
			wg.Go(func() {
				for range steps {
					src.Next()
				}
			})
		}
		wg.Wait()
		return time.Since(start).Seconds()
	}
	pool, gofakeit := sources["pool"](), sources["gofakeit"]()
	var ratios []float64
	for b.Loop() {
		ratios = append(ratios, turn(gofakeit)/turn(pool))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "gofakeit/pool")
	b.ReportMetric(0, "ns/op") // removes the usual figure: a round's time says nothing about a step's
}
