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

// A subject is a variant with what became of its events.
type subject struct {
	t *testing.T
	variant[int]
	delivered atomic.Int64
	failed    failures
	taken     int64
}

func made(t *testing.T, name string, s Settings, send batch.Send[int]) *subject {
	t.Helper()
	s.Variant, s.Workers = name, settings(t, "--variant", name).Workers
	p := &subject{t: t}
	var err error
	p.variant, err = newVariant(s, &p.failed, func(ctx context.Context, events []int) error {
		err := send(ctx, events)
		if err == nil {
			p.delivered.Add(int64(len(events)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// take takes the next number in.
func (s *subject) take() {
	s.t.Helper()
	if err := s.Add(s.t.Context(), int(s.taken)); err != nil {
		s.t.Fatal(err)
	}
	s.taken++
}

// ends closes the variant within a time, sees that each event is accounted for, and returns how many failed.
func (s *subject) ends(within time.Duration) (failed int64) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	left, _ := s.Close(ctx)
	failed = s.failed.Load() + int64(len(left))
	if s.delivered.Load()+failed != s.taken {
		s.t.Errorf("of %d events %d were delivered and %d failed", s.taken, s.delivered.Load(), failed)
	}
	return failed
}

// Whatever the sink does, each event is accounted for, and the sink has got the delivered ones once.
func TestEachEventIsAccountedFor(t *testing.T) {
	for _, name := range []string{"pool-1", "pool-10", "pool-100", "async", "swap", "batch"} {
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
							return errors.New("made up")
						}
						time.Sleep(time.Duration(calls.Load()%3) * time.Millisecond)
						mu.Lock()
						defer mu.Unlock()
						for _, e := range events {
							seen[e]++
						}
						return nil
					})
				for range 10_000 {
					p.take()
				}
				if failed := p.ends(time.Hour); failed != refused.Load() {
					t.Errorf("%d failed of %d refused", failed, refused.Load())
				}
				for e, n := range seen {
					if n != 1 {
						t.Fatalf("event %d came %d times", e, n)
					}
				}
				if int64(len(seen)) != p.delivered.Load() {
					t.Errorf("%d at the sink, %d delivered", len(seen), p.delivered.Load())
				}
			})
		}
	}
}

// A close whose context ends stops what is being sent, and counts what is left.
func TestCloseDoesNotWaitForever(t *testing.T) {
	for _, name := range []string{"pool-1", "pool-100", "async", "swap", "batch"} {
		synctest.Test(t, func(t *testing.T) {
			p := made(t, name, Settings{Queue: 100, BatchSize: 10, Interval: time.Second, Attempts: 1},
				func(ctx context.Context, _ []int) error {
					<-ctx.Done()
					return ctx.Err()
				})
			for range 75 {
				p.take()
			}
			began := time.Now()
			if failed := p.ends(3 * time.Second); failed != 75 || time.Since(began) != 3*time.Second {
				t.Errorf("%s: %d failed after %v", name, failed, time.Since(began))
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
		waits   time.Duration
	}{{"pool-10", false, latency}, {"pool-100", false, latency}, {"pool-10", true, 0}, {"async", false, 0}} {
		t.Run(fmt.Sprint(c.name, c.stagger), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := made(t, c.name, Settings{BatchSize: 1000, Interval: time.Second, Stagger: c.stagger},
					func(context.Context, []int) error {
						time.Sleep(latency)
						return nil
					})
				// Each worker has some events by the time of the tick, because workers
				// that wait are served in the order in which they came.
				for range 200 {
					synctest.Wait()
					p.take()
				}
				time.Sleep(time.Second)
				synctest.Wait()
				began := time.Now()
				p.take()
				if waited := time.Since(began); waited != c.waits {
					t.Errorf("an event waited for %v while the pool sent, want %v", waited, c.waits)
				}
				if failed := p.ends(time.Hour); failed > 0 {
					t.Errorf("%d failed", failed)
				}
			})
		})
	}
}

// A batch leaves when it is full, or else at the tick.
func TestBySizeAndByTick(t *testing.T) {
	for _, name := range []string{"pool-1", "async", "swap"} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			var sent []string
			p := made(t, name, Settings{Queue: 100, BatchSize: 20, Interval: time.Second},
				func(_ context.Context, events []int) error {
					sent = append(sent, fmt.Sprint(len(events), " at ", time.Since(began)))
					return nil
				})
			for range 25 {
				p.take()
				synctest.Wait()
			}
			time.Sleep(1500 * time.Millisecond)
			if failed := p.ends(time.Hour); failed > 0 {
				t.Errorf("%d failed", failed)
			}
			if want := []string{"20 at 0s", "5 at 1s"}; !slices.Equal(sent, want) {
				t.Errorf("%s: sent %v, want %v", name, sent, want)
			}
		})
	}
}
