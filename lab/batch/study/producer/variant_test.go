package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/line-rate/line-rate/lab/batch"
)

var all = []string{"pool-1", "pool-10", "pool-100", "async", "swap", "batch"}

// A subject is a variant with its account, and how many events it took.
type subject[E any] struct {
	variant[E]
	account
	taken int64
}

func made[E any](t *testing.T, name string, s Settings, send batch.Send[E]) *subject[E] {
	t.Helper()
	s.Variant = name
	p := &subject[E]{}
	var err error
	if p.variant, err = newVariant(s, &p.account, send); err != nil {
		t.Fatal(err)
	}
	return p
}

func (s *subject[E]) take(ctx context.Context, e E) error {
	err := s.add(ctx, e)
	if err == nil {
		s.taken++
	}
	return err
}

// ends closes the variant, and tells whether each event is accounted for.
func (s *subject[E]) ends(t *testing.T, logged, failed int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	s.close(ctx)
	if s.logged.Load() != logged || s.failed.Load() != failed {
		t.Errorf("of %d events %d were delivered and %d failed; want %d and %d", s.taken, s.logged.Load(), s.failed.Load(), logged, failed)
	}
}

var errSink = errors.New("made up")

// Whatever the sink does, each event is accounted for, and the sink has got the delivered ones once.
func TestEachEventIsAccountedFor(t *testing.T) {
	for _, name := range all {
		for _, queue := range []int{0, 100} {
			t.Run(fmt.Sprint(name, queue), func(t *testing.T) {
				t.Parallel()
				var mu sync.Mutex
				seen := map[int]int{}
				var calls, refused atomic.Int64
				p := made(t, name, Settings{Queue: queue, BatchSize: 50, Interval: 5 * time.Millisecond, Attempts: 1},
					func(_ context.Context, events []int) error {
						if calls.Add(1)%5 == 0 {
							refused.Add(int64(len(events)))
							return errSink
						}
						time.Sleep(time.Duration(calls.Load()%3) * time.Millisecond)
						mu.Lock()
						defer mu.Unlock()
						for _, e := range events {
							seen[e]++
						}
						return nil
					})
				for n := range 10_000 {
					if err := p.take(t.Context(), n); err != nil {
						t.Fatal(err)
					}
				}
				p.close(t.Context())
				if p.failed.Load() != refused.Load() || p.logged.Load() != 10_000-refused.Load() || int64(len(seen)) != p.logged.Load() {
					t.Errorf("%d at the sink, %d delivered, %d failed of %d refused", len(seen), p.logged.Load(), p.failed.Load(), refused.Load())
				}
				for e, n := range seen {
					if n != 1 {
						t.Fatalf("event %d came %d times", e, n)
					}
				}
			})
		}
	}
}

// A close whose context ends stops what is being sent, and counts what is left.
func TestCloseDoesNotWaitForever(t *testing.T) {
	for _, name := range all {
		synctest.Test(t, func(t *testing.T) {
			p := made(t, name, Settings{Queue: 100, BatchSize: 10, Interval: time.Second, Attempts: 1},
				func(ctx context.Context, _ []int) error {
					<-ctx.Done()
					return ctx.Err()
				})
			for i := range 75 {
				if err := p.take(t.Context(), i); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			began := time.Now()
			p.close(ctx)
			if time.Since(began) != 3*time.Second || p.failed.Load() != 75 || p.logged.Load() != 0 {
				t.Errorf("%s: after %v %d failed, want 75 after 3 s", name, time.Since(began), p.failed.Load())
			}
		})
	}
}

// All workers of a pool send at the same tick, and until they are answered none takes an
// event. With staggered tickers some worker always does.
func TestAPoolThatSendsTakesNothing(t *testing.T) {
	const latency = 300 * time.Millisecond
	for _, c := range []struct {
		name    string
		stagger bool
		waits   bool
	}{{"pool-10", false, true}, {"pool-100", false, true}, {"pool-10", true, false}, {"async", false, false},
		{"swap", false, false}} {
		t.Run(fmt.Sprint(c.name, c.stagger), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := made(t, c.name, Settings{BatchSize: 1000, Interval: time.Second, Stagger: c.stagger},
					func(context.Context, []int) error {
						time.Sleep(latency)
						return nil
					})
				// Each worker has some events by the time of the tick, because workers
				// that wait are served in the order in which they came.
				for n := range 200 {
					synctest.Wait()
					if err := p.take(t.Context(), n); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(time.Second)
				synctest.Wait()
				began := time.Now()
				if err := p.take(t.Context(), 200); err != nil {
					t.Fatal(err)
				}
				if waited := time.Since(began); c.waits != (waited == latency) || !c.waits && waited > 0 {
					t.Errorf("an event waited for %v while the pool sent", waited)
				}
				p.ends(t, 201, 0)
			})
		})
	}
}

// With staggered tickers the workers send one after the other.
func TestStagger(t *testing.T) {
	for _, stagger := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			var mu sync.Mutex
			var at []time.Duration
			p := made(t, "pool-4", Settings{BatchSize: 1000, Interval: time.Second, Stagger: stagger},
				func(context.Context, []int) error {
					mu.Lock()
					defer mu.Unlock()
					at = append(at, time.Since(began))
					return nil
				})
			for n := range 40 { // some events for each tick, of which each worker gets a part
				synctest.Wait()
				if err := p.take(t.Context(), n); err != nil {
					t.Fatal(err)
				}
				time.Sleep(55 * time.Millisecond)
			}
			p.ends(t, 40, 0)
			slices.Sort(at)
			at = slices.DeleteFunc(at, func(d time.Duration) bool { return d >= 2*time.Second })
			want := []time.Duration{1000, 1000, 1000, 1000}
			if stagger {
				want = []time.Duration{1000, 1250, 1500, 1750}
			}
			for i := range want {
				want[i] *= time.Millisecond
			}
			if !slices.Equal(at, want) {
				t.Errorf("stagger %v: sent at %v, want %v", stagger, at, want)
			}
		})
	}
}

// A batch leaves when it is full, or else at the tick.
func TestBySizeAndByTick(t *testing.T) {
	for _, name := range []string{"pool-1", "async", "swap", "batch"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var mu sync.Mutex
				var sent []string
				p := made(t, name, Settings{Queue: 100, BatchSize: 20, Interval: time.Second, Attempts: 1},
					func(_ context.Context, events []int) error {
						mu.Lock()
						defer mu.Unlock()
						sent = append(sent, fmt.Sprint(len(events), " at ", time.Since(began)))
						return nil
					})
				for n := range 25 {
					if err := p.take(t.Context(), n); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
				}
				time.Sleep(1500 * time.Millisecond)
				p.ends(t, 25, 0)
				if want := []string{"20 at 0s", "5 at 1s"}; name != "batch" && !slices.Equal(sent, want) {
					t.Errorf("sent %v, want %v", sent, want)
				}
			})
		})
	}
}

// The batches of async do not change while its worker fills the buffer again.
func TestCopiesDoNotAlias(t *testing.T) {
	for _, name := range []string{"async", "swap"} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var kept [][]int
			p := made(t, name, Settings{Queue: 10, BatchSize: 4, Interval: time.Second},
				func(_ context.Context, events []int) error {
					time.Sleep(time.Minute) // while others are sent
					mu.Lock()
					defer mu.Unlock()
					kept = append(kept, slices.Clone(events))
					return nil
				})
			for n := range 40 {
				if err := p.take(t.Context(), n); err != nil {
					t.Fatal(err)
				}
			}
			p.ends(t, 40, 0)
			flat := slices.Concat(kept...)
			slices.Sort(flat)
			for n := range 40 {
				if flat[n] != n {
					t.Fatalf("%s: sent %v", name, kept)
				}
			}
		})
	}
}

// The study's text calls the copy deep. It is, for events without pointers.
func TestADeepCopyOfPointersIsNotDeep(t *testing.T) {
	values := []struct{ n int }{{1}}
	copied := deepCopy(values)
	values[0].n = 2
	pointers := []*struct{ n int }{{1}}
	shared := deepCopy(pointers)
	pointers[0].n = 2
	if copied[0].n != 1 || shared[0].n != 2 || deepCopy[int](nil) != nil {
		t.Errorf("%v, %v", copied[0], *shared[0])
	}
}

// Only the library tries again.
func TestAttempts(t *testing.T) {
	for _, name := range []string{"pool-1", "async", "swap", "batch"} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			p := made(t, name, Settings{BatchSize: 1, Interval: time.Second, Attempts: 3}, func(context.Context, []int) error {
				calls++
				if calls < 3 {
					return errSink
				}
				return nil
			})
			if err := p.take(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			want := map[bool]int{true: 3, false: 1}[name == "batch"]
			p.ends(t, int64(want/3), 1-int64(want/3))
			if calls != want {
				t.Errorf("%s: %d calls", name, calls)
			}
		})
	}
}

func TestAddEndsWithItsContext(t *testing.T) {
	for _, name := range []string{"pool-1", "async", "swap", "batch"} {
		hold := make(chan struct{})
		p := made(t, name, Settings{BatchSize: 1, Interval: time.Hour, Attempts: 1},
			func(context.Context, []int) error { <-hold; return nil })
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		var err error
		for p.taken < 1000 && err == nil { // async never refuses
			err = p.take(ctx, 0)
		}
		cancel()
		if bounded := name == "pool-1" || name == "batch"; bounded != errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: after %d events %v", name, p.taken, err)
		}
		close(hold)
		p.ends(t, p.taken, 0)
	}
}
