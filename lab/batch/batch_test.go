package batch

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Every event that was added is delivered, or lost and reported by Close and the meter, or returned; and none is
// delivered twice.
func TestNothingIsLost(t *testing.T) {
	const producers, each = 16, 10_000
	errPart := errors.New("a third is left")
	every := func(nth int64, err error) func(int64) error {
		return func(call int64) error {
			if call%nth == 0 {
				return err
			}
			return nil
		}
	}
	slow := func(int64) error {
		time.Sleep(200 * time.Microsecond)
		return nil
	}
	small, oldest := Capacity(2000), WhenFull(DropOldest)
	for _, c := range []struct {
		name string
		fail func(call int64) error
		late bool // it fails once it has taken the batch in
		cut  bool // closed in the middle, with no time left
		opts []Option
	}{
		{"a sink that answers", every(1, nil), false, false, nil},
		{"several in flight", every(1, nil), false, false, []Option{InFlight(4)}},
		{"ordered", every(1, nil), false, false, []Option{Ordered()}},
		{"every third batch is tried again", every(3, errSink), false, false, []Option{WithRetry(always), InFlight(2)}},
		{"every third batch fails for good", every(3, errSink), false, false, nil},
		{"parts are tried again", every(1, errPart), false, false, []Option{WithRetry(always), InFlight(3)}},
		{"parts fail for good", every(2, errPart), false, false, []Option{InFlight(3), WhenFull(DropNewest), small}},
		{"parts, cut off", every(2, errPart), false, true, []Option{InFlight(3), oldest, small}},
		{"answers too late", every(5, context.DeadlineExceeded), true, false, []Option{WithRetry(always), InFlight(2)}},
		{"slow, and all wait", slow, false, false, []Option{InFlight(4), small}},
		{"slow, and drops the newest", slow, false, false, []Option{WhenFull(DropNewest), small}},
		{"slow, and drops the oldest", slow, false, false, []Option{oldest, small}},
		{"slow, cut off", slow, false, true, []Option{InFlight(3)}},
		{"fails, cut off", every(2, errSink), false, true, []Option{InFlight(3), WithRetry(always)}},
		{"slow, drops the oldest, cut off", slow, false, true, []Option{oldest, small}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			seen := make([]atomic.Int32, producers*each)
			var calls, added, refused atomic.Int64
			send := func(ctx context.Context, events []int) error {
				err := c.fail(calls.Add(1))
				if ctx.Err() != nil || err != nil && err != errPart && !c.late {
					return errors.Join(err, ctx.Err())
				}
				var rest []int
				for i, e := range events {
					if err == errPart && rand.N(3) == 0 {
						rest = append(rest, i)
					} else {
						seen[e].Add(1)
					}
				}
				switch {
				case len(rest) > 0:
					return &PartialError{rest, err}
				case err == errPart:
					return nil
				}
				return err
			}
			m := &tally{}
			opts := append(c.opts, MaxCount(500), Interval(5*time.Millisecond), WithMeter(m), quiet)
			b := made(t, send, opts...)
			var all sync.WaitGroup
			for p := range producers {
				all.Go(func() {
					for n := range each {
						switch err := b.Add(t.Context(), p*each+n); err {
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
			if c.cut {
				time.Sleep(2 * time.Millisecond)
				cancel()
			} else {
				all.Wait()
			}
			left, err := b.Close(ctx)
			all.Wait()
			if errors.Is(err, context.Canceled) != (len(left) > 0) || len(left) > 0 && !c.cut {
				t.Errorf("%d are left, and the error is %v", len(left), err)
			}
			lost, ok := errors.AsType[*LostError](err)
			if !ok {
				lost = &LostError{}
			}
			delivered, full := m.delivered.Load(), m.full.Load()-refused.Load()
			if int64(lost.Failed) != m.failed.Load() || int64(lost.Full) != full {
				t.Errorf("Close says %v; the meter %d failed and %d that were added and dropped", err, m.failed.Load(), full)
			}
			if delivered+m.failed.Load()+full+int64(len(left)) != added.Load() {
				t.Errorf("%d added; %d delivered, %v, %d returned", added.Load(), delivered, lost, len(left))
			}
			for _, e := range left {
				seen[e].Add(1) // so that it is returned once, and not delivered as well
			}
			distinct := -int64(len(left))
			for e := range seen {
				n := seen[e].Load()
				if n > 1 && !c.late {
					t.Fatalf("event %d was delivered or returned %d times", e, n)
				}
				distinct += int64(min(n, 1))
			}
			if distinct != delivered && !c.late {
				t.Errorf("the sink has %d, the meter says %d", distinct, delivered)
			}
			if b.Held() != 0 || m.queued.Load() != 0 || m.inFlight.Load() != 0 {
				t.Errorf("%d held, %d queued, %d in flight after Close", b.Held(), m.queued.Load(), m.inFlight.Load())
			}
			if len(b.free) != cap(b.free) {
				t.Errorf("%d of %d buffers are free after Close", len(b.free), cap(b.free))
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
	closes(t, b)
	if len(got) != 10_000 || !slices.IsSorted(got) {
		t.Errorf("%d events, sorted %v", len(got), slices.IsSorted(got))
	}
}

func TestAddingAllocatesNothing(t *testing.T) {
	b := made(t, func(context.Context, []int) error { return nil }, MaxCount(100), InFlight(2))
	ctx := context.Background()
	add := func() { _ = b.Add(ctx, 1) }
	for range 10_000 {
		add()
	}
	if n := testing.AllocsPerRun(100_000, add); n >= 0.5 {
		t.Errorf("%v allocations an event", n)
	}
	closes(t, b)
}

func TestAddWaitsUntilThereIsRoom(t *testing.T) {
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
		began := time.Now()
		if err := b.Add(timeout(t, time.Minute), 0); err != context.DeadlineExceeded || time.Since(began) != time.Minute {
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
		left, err := b.Close(timeout(t, 0))
		if err := <-waiting; err != ErrClosed {
			t.Errorf("the waiting caller gets %v", err)
		}
		if len(left) != 30 || err != context.DeadlineExceeded {
			t.Errorf("%d returned, %v", len(left), err)
		}
		_, again := b.Close(t.Context())
		if b.Add(t.Context(), 0) != ErrClosed || b.Flush(t.Context()) != ErrClosed || again != ErrClosed {
			t.Errorf("Close after Close: %v", again)
		}
	})
}

// An event that waited for room and is larger than a batch makes one of its own, and no empty one.
func TestALargeEventThatWaitedIsSentAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		hold := make(chan struct{})
		b := made(t, func(_ context.Context, events []int) error {
			<-hold
			sizes = append(sizes, len(events))
			return nil
		}, Capacity(1), Ordered(), MaxBytes(10, func(bytes int) int { return bytes }))
		for b.TryAdd(10) == nil {
		}
		go close(hold)
		if err := b.Add(t.Context(), 20); err != nil {
			t.Error(err)
		}
		closes(t, b)
		if slices.Max(sizes) != 1 || slices.Min(sizes) != 1 {
			t.Errorf("batches of %v", sizes)
		}
	})
}

// Events that are gathered, wait or are in flight are held, each until it is accounted for. The
// meter hears only of batches that wait.
func TestWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := make(chan error)
		m := &tally{}
		b := made(t, func(context.Context, []int) error { return <-step }, MaxCount(10), Capacity(40), Ordered(),
			WhenFull(DropOldest), Interval(time.Hour), WithMeter(m), quiet)
		check := func(after string, held, queued int) {
			t.Helper()
			synctest.Wait()
			if b.Held() != held || m.queued.Load() != int64(queued) {
				t.Errorf("%s: %d held and %d queued, want %d and %d", after, b.Held(), m.queued.Load(), held, queued)
			}
		}
		addAll(t, b, 10)
		check("a batch in flight", 10, 0)
		addAll(t, b, 20)
		check("two that wait", 30, 20)
		addAll(t, b, 5)
		check("and half of one", 35, 20)
		addAll(t, b, 6)
		check("and one more than there is room for", 31, 20)
		step <- errSink
		check("one failed", 21, 10)
		step <- nil
		check("one delivered", 11, 0)
		go func() { step <- nil; step <- nil }()
		lost := closes(t, b)
		if said := lost.Error(); said != "batch: 20 events lost: 10 to make room, and 10 since sending failed: made up" {
			t.Error(said)
		}
		if m.full.Load() != 10 || m.failed.Load() != 10 || m.delivered.Load() != 21 {
			t.Errorf("%d dropped, %d failed, %d delivered", m.full.Load(), m.failed.Load(), m.delivered.Load())
		}
	})
}

// Events that were delivered, or that a receiver took of a batch, are not kept alive.
func TestWhatWasSentIsForgotten(t *testing.T) {
	type event struct {
		n int
		p *int
	}
	calls := 0
	b := made(t, func(_ context.Context, events []event) error {
		if calls++; calls == 1 {
			return &PartialError{[]int{4}, nil}
		}
		for _, e := range events[:5][1:] {
			if e.p != nil {
				t.Error("an event that was taken in can still be reached")
			}
		}
		return nil
	}, MaxCount(5), Ordered(), quiet, WithRetry(always))
	for range 5 {
		if err := b.Add(t.Context(), event{1, new(int)}); err != nil {
			t.Fatal(err)
		}
	}
	closes(t, b)
	for range cap(b.free) {
		if buf := b.take(); buf == nil || buf.events[:1][0].p != nil {
			t.Errorf("after %d calls, an event that was sent can still be reached", calls)
		}
	}
}
