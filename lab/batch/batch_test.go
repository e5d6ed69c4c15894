package batch

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Every event that was added is delivered, or lost and reported by Close and the meter,
// or returned.
func TestNothingIsLost(t *testing.T) {
	const producers, each = 16, 1_000_000 / 16
	always := func(int, error) (time.Duration, bool) { return 0, true }
	for _, c := range []struct {
		name  string
		opts  []Option
		fail  func(int64) error
		late  func(int64) error
		close bool // closed in the middle, with no time left
		once  bool // nothing may be delivered twice
	}{
		{"a sink that answers", nil, nil, nil, false, true},
		{"several in flight", []Option{InFlight(4)}, nil, nil, false, true},
		{"ordered", []Option{Ordered()}, nil, nil, false, true},
		{"every third batch fails, and is tried again", []Option{WithRetry(always), InFlight(2)}, func(n int64) error {
			if n%3 == 0 {
				return errSink
			}
			return nil
		}, nil, false, true},
		{"every third batch fails for good", nil, func(n int64) error {
			if n%3 == 0 {
				return errSink
			}
			return nil
		}, nil, false, true},
		{"answers that come too late", []Option{WithRetry(always), InFlight(2)}, nil, func(n int64) error {
			if n%5 == 0 {
				return context.DeadlineExceeded
			}
			return nil
		}, false, false},
		{"panics", []Option{WithRetry(always)}, func(n int64) error {
			if n%7 == 0 {
				panic("made up")
			}
			return nil
		}, nil, false, true},
		{"a slow sink that drops the newest", []Option{WhenFull(DropNewest), Capacity(2000)}, slow, nil, false, true},
		{"a slow sink that drops the oldest", []Option{WhenFull(DropOldest), Capacity(2000)}, slow, nil, false, true},
		{"closed in the middle", []Option{InFlight(3)}, slow, nil, true, true},
		{"closed in the middle of failures", []Option{InFlight(3), WithRetry(always)}, func(n int64) error {
			if n%2 == 0 {
				return errSink
			}
			return nil
		}, nil, true, true},
		{"closed in the middle, dropping the oldest", []Option{WhenFull(DropOldest), Capacity(2000)}, slow, nil, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			s := &sink{fail: c.fail, late: c.late}
			for range producers {
				s.seen = append(s.seen, make([]uint8, each))
			}
			m := &tally{}
			b := made(t, s.send, append([]Option{MaxCount(500), Interval(5 * time.Millisecond), WithMeter(m)}, c.opts...)...)
			var added, refused atomic.Int64
			var all sync.WaitGroup
			for p := range producers {
				all.Go(func() {
					for n := range each {
						switch err := b.Add(t.Context(), event{int32(p), int32(n)}); err {
						case nil:
							added.Add(1)
						case ErrFull: // dropped, and counted by the meter
							refused.Add(1)
						case ErrClosed:
							return
						default:
							t.Error(err)
						}
					}
				})
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.close {
				time.Sleep(20 * time.Millisecond)
				cancel()
			} else {
				all.Wait()
			}
			left, err := b.Close(ctx)
			all.Wait()
			if errors.Is(err, context.Canceled) != (len(left) > 0) {
				t.Errorf("%d are left, and the error is %v", len(left), err)
			}
			lost, ok := errors.AsType[*LostError](err)
			if !ok {
				lost = &LostError{}
			}
			if told := m.full.Load() - refused.Load(); int64(lost.Failed) != m.failed.Load() || int64(lost.Full) != told {
				t.Errorf("Close says %v; the meter %d failed and %d that were added and dropped", err, m.failed.Load(), told)
			}
			returned := map[event]int{}
			for _, e := range left {
				if returned[e]++; returned[e] > 1 {
					t.Fatalf("%v is returned twice", e)
				}
			}
			if !c.close && len(left) > 0 {
				t.Errorf("%d are returned though there was time", len(left))
			}
			accounted := m.delivered.Load() + m.failed.Load() + m.full.Load() - refused.Load() + int64(len(left))
			if accounted != added.Load() {
				t.Errorf("%d added; %d delivered, %d failed, %d dropped (%d of them refused), %d returned", added.Load(),
					m.delivered.Load(), m.failed.Load(), m.full.Load(), refused.Load(), len(left))
			}
			if !c.close && m.full.Load() == 0 && added.Load() != producers*each {
				t.Errorf("%d of %d were added", added.Load(), producers*each)
			}
			distinct := int64(0)
			for p, of := range s.seen {
				for n, times := range of {
					e := event{int32(p), int32(n)}
					if times > 0 {
						distinct++
					}
					if c.once && times > 1 {
						t.Fatalf("%v was delivered %d times", e, times)
					}
					if c.once && times > 0 && len(left) > 0 && returned[e] > 0 {
						t.Fatalf("%v was delivered and returned", e)
					}
				}
			}
			if c.once && distinct != m.delivered.Load() {
				t.Errorf("the sink has %d, the meter says %d", distinct, m.delivered.Load())
			}
			if b.Held() != 0 || m.queued.Load() != 0 {
				t.Errorf("%d held, %d queued after Close", b.Held(), m.queued.Load())
			}
			if m.inFlight.Load() != 0 {
				t.Errorf("%d in flight after Close", m.inFlight.Load())
			}
			for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("%d goroutines outlive Close", runtime.NumGoroutine()-before)
				}
			}
		})
	}
}

func TestOrder(t *testing.T) {
	var got []int
	b := made(t, func(_ context.Context, events []int) error {
		got = append(got, events...)
		return nil
	}, Ordered(), MaxCount(7), Interval(time.Millisecond))
	for n := range 10_000 {
		if err := b.Add(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		if n%1000 == 0 {
			time.Sleep(2 * time.Millisecond) // let the clock cut a batch short
		}
	}
	if _, err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(got) != 10_000 || !slices.IsSorted(got) {
		t.Errorf("%d events, sorted %v", len(got), slices.IsSorted(got))
	}
}

func TestFullByPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		send := func(ctx context.Context, _ []int) error {
			select {
			case <-hold:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		fill := func(b *Batcher[int]) (n int) {
			for b.TryAdd(n) == nil {
				n++
			}
			return n
		}
		m := &tally{}
		// no tick cuts a batch short
		b := made(t, send, MaxCount(10), Capacity(30), Ordered(), Interval(time.Hour), WithMeter(m))
		if n := fill(b); n != 30 {
			t.Errorf("%d events fit in a capacity of 30", n)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if err := b.Add(ctx, 0); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Minute {
			t.Errorf("Add: %v after %v", err, time.Since(began))
		}
		if m.full.Load() != 0 {
			t.Error("under Block an event was dropped")
		}
		go func() { time.Sleep(time.Second); hold <- struct{}{} }()
		if err := b.Add(t.Context(), 0); err != nil {
			t.Errorf("with room again: %v", err)
		}
		// An Add that waits returns when the batcher is closed.
		fill(b)
		waiting := make(chan error)
		go func() { waiting <- b.Add(context.Background(), 0) }()
		synctest.Wait()
		closing, stop := context.WithCancel(t.Context())
		stop()
		left, err := b.Close(closing)
		if err := <-waiting; err != ErrClosed {
			t.Errorf("who waits is told %v", err)
		}
		if len(left) != 30 || !errors.Is(err, context.Canceled) {
			t.Errorf("%d returned, %v", len(left), err)
		}
		if err := b.Add(t.Context(), 0); err != ErrClosed {
			t.Errorf("Add after Close: %v", err)
		}
		if err := b.Flush(t.Context()); err != ErrClosed {
			t.Errorf("Flush after Close: %v", err)
		}
		if _, err := b.Close(t.Context()); err != ErrClosed {
			t.Errorf("Close after Close: %v", err)
		}
	})
}
