package batch

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatMakesABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var sizes []int
		var at []time.Duration
		began := time.Now()
		send := func(_ context.Context, events []string) error {
			mu.Lock()
			defer mu.Unlock()
			sizes, at = append(sizes, len(events)), append(at, time.Since(began))
			return nil
		}
		b := made(t, send, MaxCount(3), MaxBytes(10, func(s string) int { return len(s) }), Interval(time.Minute), Ordered())
		add := func(s string) {
			if err := b.Add(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		for range 4 {
			add("a") // three make a batch, one is left
		}
		synctest.Wait()
		add(strings.Repeat("b", 9)) // with the one left that is ten bytes, which make a batch
		add(strings.Repeat("c", 6))
		add(strings.Repeat("d", 6))  // does not fit with the other
		add(strings.Repeat("e", 20)) // fits with no other
		synctest.Wait()
		if want := []int{3, 2, 1, 1, 1}; !slices.Equal(sizes, want) {
			t.Errorf("batches of %v, want %v", sizes, want)
		}
		sizes, at = nil, nil
		time.Sleep(90 * time.Second)
		add("f")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if len(sizes) != 1 || at[0] != 2*time.Minute {
			t.Errorf("after the interval: batches of %v at %v", sizes, at)
		}
		add("g")
		if err := b.Flush(t.Context()); err != nil || len(sizes) != 2 {
			t.Errorf("Flush: %v, batches of %v", err, sizes)
		}
		if left, err := b.Close(t.Context()); err != nil || len(left) > 0 {
			t.Errorf("Close: %v, %v", left, err)
		}
	})
}

// At the end of an interval there is one request, not one for each processor.
func TestAnIntervalIsOneBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		b := made(t, func(_ context.Context, events []int) error {
			sizes = append(sizes, len(events))
			return nil
		}, MaxCount(100), Interval(time.Second), func(c *config) { c.shards = 8 })
		for i, s := range b.shards { // as if each belonged to a processor
			s.mu.Lock()
			s.filled = <-b.free
			for range 20 {
				s.filled.events = append(s.filled.events, i)
			}
			s.mu.Unlock()
		}
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		if want := []int{100, 60}; !slices.Equal(sizes, want) {
			t.Errorf("batches of %v, want %v", sizes, want)
		}
		if _, err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// A goroutine that finds a shard locked goes to another, and stays with that one. If all
// are locked, it waits.
func TestATakenShardIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := made(t, func(context.Context, []int) error { return nil }, MaxCount(100),
			func(c *config) { c.shards = 2 })
		held := func(s *shard[int]) int {
			if s.filled == nil {
				return 0
			}
			return len(s.filled.events)
		}
		for i := range b.hints {
			b.hints[i].Store(b.shards[0])
		}
		b.shards[0].mu.Lock()
		for n := range 10 {
			if err := b.TryAdd(n); err != nil {
				t.Fatal(err)
			}
		}
		moved := 0
		for i := range b.hints {
			if b.hints[i].Load() == b.shards[1] {
				moved++
			}
		}
		if n := held(b.shards[1]); n != 10 || moved == 0 || moved > 2 { // two if the stack moved
			t.Errorf("%d of 10 events in the shard that was free, %d hints for it", n, moved)
		}
		b.shards[1].mu.Lock()
		added := false
		go func() {
			_ = b.TryAdd(10)
			added = true
		}()
		// synctest.Wait does not wait for a goroutine that is blocked on a mutex.
		for range 1000 {
			runtime.Gosched()
		}
		if added {
			t.Error("an event went into a shard that was taken")
		}
		b.shards[0].mu.Unlock()
		b.shards[1].mu.Unlock()
		synctest.Wait()
		if n := b.Held(); n != 11 {
			t.Errorf("%d of 11 events are held", n)
		}
		if left, err := b.Close(t.Context()); err != nil || len(left) > 0 {
			t.Fatal(left, err)
		}
	})
}
