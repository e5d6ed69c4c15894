package batch

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatMakesABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		var at []time.Duration
		began := time.Now()
		send := func(_ context.Context, events []string) error {
			sizes, at = append(sizes, len(events)), append(at, time.Since(began))
			return nil
		}
		b := made(t, send, MaxCount(3), MaxBytes(10, func(s string) int { return len(s) }), Interval(time.Minute), Ordered())
		add := func(all ...string) {
			t.Helper()
			for _, s := range all {
				if err := b.Add(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
		}
		add("a", "a", "a", "a") // three make a batch, one is left
		add(strings.Repeat("b", 9),
			strings.Repeat("c", 6),
			strings.Repeat("d", 6),  // does not fit with the other
			strings.Repeat("e", 20)) // fits with no other
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
		closes(t, b)
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
		closes(t, b)
	})
}
