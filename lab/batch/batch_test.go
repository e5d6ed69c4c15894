package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
)

// a made-up event: who added it, and its place among the producer's own.
type event struct{ producer, n int32 }

// tally counts what a meter is told.
type tally struct {
	delivered, full, failed, sent, queued, inFlight, most atomic.Int64
}

func (t *tally) Queued(d int)                                  { t.queued.Add(int64(d)) }
func (t *tally) Sent(int, time.Duration, time.Duration, error) { t.sent.Add(1) }
func (t *tally) Delivered(n int)                               { t.delivered.Add(int64(n)) }
func (t *tally) Dropped(n int, why Reason) {
	if why == Full {
		t.full.Add(int64(n))
	} else {
		t.failed.Add(int64(n))
	}
}
func (t *tally) InFlight(d int) {
	if now := t.inFlight.Add(int64(d)); now > t.most.Load() {
		t.most.Store(now)
	}
}

func made[E any](t testing.TB, send Send[E], opts ...Option) *Batcher[E] {
	t.Helper()
	b, err := New(send, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A sink takes events in, and can fail in all the ways that a service can.
type sink struct {
	mu   sync.Mutex
	seen [][]uint8              // how often, by producer and place
	fail func(call int64) error // before the batch is taken in
	late func(call int64) error // after it
	call atomic.Int64
}

func (s *sink) send(ctx context.Context, events []event) error {
	call := s.call.Add(1)
	if s.fail != nil {
		if err := s.fail(call); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.mu.Lock()
	for _, e := range events {
		s.seen[e.producer][e.n]++
	}
	s.mu.Unlock()
	if s.late != nil {
		return s.late(call)
	}
	return nil
}

var errSink = errors.New("made up")

// Every event that was added is delivered, or lost as Close and the meter say, or
// returned.
func TestNothingIsLost(t *testing.T) {
	const producers, each = 16, 1_000_000 / 16
	always := func(int, error) (time.Duration, bool) { return 0, true }
	for _, c := range []struct {
		name  string
		opts  []Option
		fail  func(int64) error
		late  func(int64) error
		close bool // in the middle, with no time left
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
				t.Errorf("%d added; %d delivered, %d failed, %d dropped (%d of them refused), %d returned", added.Load(), m.delivered.Load(), m.failed.Load(), m.full.Load(), refused.Load(), len(left))
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

func slow(int64) error {
	time.Sleep(200 * time.Microsecond)
	return nil
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
			add("a") // three by number, one is left
		}
		synctest.Wait()
		add(strings.Repeat("b", 9)) // with the one left ten bytes, which is a batch
		add(strings.Repeat("c", 6))
		add(strings.Repeat("d", 6))  // does not fit with the other
		add(strings.Repeat("e", 20)) // fits with none
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
		}, MaxCount(100), Interval(time.Second), func(c *config) error { c.shards = 8; return nil })
		for i, s := range b.shards { // as if each were some processor's
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

// Who finds a shard taken goes to another, and to that one from then on; who
// finds all taken waits.
func TestATakenShardIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := made(t, func(context.Context, []int) error { return nil }, MaxCount(100), func(c *config) error { c.shards = 2; return nil })
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
		// A goroutine that waits for a mutex is not durably blocked, so there is no
		// waiting for it to get there.
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

// What is gathered, what waits and what is in flight is held, each until it is
// accounted for; what is told to the meter are the batches that wait.
func TestWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := make(chan error)
		m := &tally{}
		b := made(t, func(context.Context, []int) error { return <-step }, MaxCount(10), Capacity(40), Ordered(), WhenFull(DropOldest), Interval(time.Hour), WithMeter(m))
		check := func(after string, held, queued int) {
			t.Helper()
			synctest.Wait()
			if b.Held() != held || m.queued.Load() != int64(queued) {
				t.Errorf("%s: %d held and %d queued, want %d and %d", after, b.Held(), m.queued.Load(), held, queued)
			}
		}
		add := func(n int) {
			for range n {
				if err := b.TryAdd(n); err != nil {
					t.Fatal(err)
				}
			}
		}
		check("New", 0, 0)
		add(10)
		check("a batch in flight", 10, 0)
		add(20)
		check("two that wait", 30, 20)
		add(5)
		check("and half of one", 35, 20)
		add(6)
		check("and one more than there is room for", 31, 20)
		step <- errSink
		check("one failed", 21, 10)
		step <- nil
		check("one delivered", 11, 0)
		go func() { step <- nil; step <- nil }()
		if left, err := b.Close(t.Context()); len(left) > 0 || fmt.Sprint(err) != "batch: 20 events lost: 10 to make room, and 10 since sending failed: made up" {
			t.Fatal(left, err)
		}
		check("Close", 0, 0)
		if m.full.Load() != 10 || m.failed.Load() != 10 || m.delivered.Load() != 21 {
			t.Errorf("%d dropped, %d failed, %d delivered", m.full.Load(), m.failed.Load(), m.delivered.Load())
		}
	})
}

// A buffer that is empty keeps nothing alive.
func TestWhatWasSentIsForgotten(t *testing.T) {
	b := made(t, func(context.Context, []*int) error { return nil }, MaxCount(10), Capacity(1))
	for range 100 {
		if err := b.Add(t.Context(), new(int)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	buffers := 0
	for buf := b.take(); buf != nil; buf = b.take() {
		buffers++
		for _, p := range buf.events[:10] {
			if p != nil {
				t.Fatal("an event that was sent can still be reached")
			}
		}
	}
	if buffers != cap(b.free) {
		t.Errorf("%d of %d buffers are free after Close", buffers, cap(b.free))
	}
	type nested struct {
		n [4]struct{ a, b int64 }
		f func()
	}
	for _, c := range []struct {
		value any
		want  bool
	}{{1, false}, {1.5, false}, {complex(1, 1), false}, {uintptr(1), false}, {[3]bool{}, false}, {[0]*int{}, false}, {event{}, false}, {struct{}{}, false},
		{"a", true}, {[]int{}, true}, {new(int), true}, {[2]string{}, true}, {nested{}, true}, {map[int]int{}, true}, {struct{ e error }{}, true}, {make(chan int), true}, {unsafe.Pointer(nil), true}} {
		if got := pointers(reflect.TypeOf(c.value)); got != c.want {
			t.Errorf("%T has pointers: %v", c.value, got)
		}
	}
	if !pointers(reflect.TypeFor[any]()) {
		t.Error("an interface has no pointers")
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
		b := made(t, send, MaxCount(10), Capacity(30), Ordered(), Interval(time.Hour), WithMeter(m)) // no tick cuts a batch short
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
		// One that waits learns of Close.
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

func TestPanicsAndFailuresAreSaid(t *testing.T) {
	var log bytes.Buffer
	m := &tally{}
	calls := 0
	b := made(t, func(context.Context, []int) error {
		calls++
		if calls == 1 {
			panic("made up")
		}
		return errSink
	}, WithLogger(slog.New(slog.NewTextHandler(&log, nil))), WithMeter(m), WithRetry(Backoff(time.Microsecond, time.Millisecond, 3)))
	if err := b.Add(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Close(t.Context()); !errors.Is(err, errSink) {
		t.Fatal(err)
	}
	if calls != 3 || m.failed.Load() != 1 || m.sent.Load() != 3 {
		t.Errorf("%d calls, %d sent, %d failed", calls, m.sent.Load(), m.failed.Load())
	}
	for _, want := range []string{"send panicked: made up", "attempt=2", "events lost", "failed=1", "made up"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, &log)
		}
	}
}

func TestATimeoutEndsAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		b := made(t, func(ctx context.Context, _ []int) error {
			attempts++
			<-ctx.Done()
			return ctx.Err()
		}, Timeout(time.Second), WithRetry(Backoff(time.Second, time.Second, 2)), MaxCount(1))
		_ = b.Add(t.Context(), 1)
		began := time.Now()
		if left, err := b.Close(t.Context()); !errors.Is(err, context.DeadlineExceeded) || len(left) > 0 {
			t.Errorf("%v, %v", left, err)
		}
		if took := time.Since(began); attempts != 2 || took < 2*time.Second || took > 4*time.Second {
			t.Errorf("%d attempts in %v", attempts, took)
		}
	})
}

func TestBackoff(t *testing.T) {
	r := Backoff(time.Second, 10*time.Second, 6)
	for attempt, want := range map[int][2]time.Duration{1: {1 * time.Second, 2 * time.Second}, 2: {2 * time.Second, 4 * time.Second}, 3: {4 * time.Second, 8 * time.Second}, 4: {5 * time.Second, 10 * time.Second}, 5: {5 * time.Second, 10 * time.Second}} {
		for range 100 {
			if wait, again := r(attempt, nil); !again || wait < want[0] || wait > want[1] {
				t.Fatalf("attempt %d: %v, %v", attempt, wait, again)
			}
		}
	}
	if _, again := r(6, nil); again {
		t.Error("a seventh attempt")
	}
	if wait, _ := Backoff(time.Hour, 1<<62, 1<<40)(1<<30, nil); wait < 0 {
		t.Errorf("a wait of %v", wait)
	}
}

func TestRefusals(t *testing.T) {
	send := func(context.Context, []int) error { return nil }
	size := func(int) int { return 1 }
	for name, opt := range map[string]Option{
		"MaxCount(0)": MaxCount(0), "MaxCount(-1)": MaxCount(-1), "MaxBytes(0)": MaxBytes(0, size), "MaxBytes: say how": MaxBytes[int](1, nil),
		"Interval(0s)": Interval(0), "Interval(-1s)": Interval(-time.Second), "Capacity(0)": Capacity(0), "InFlight(0)": InFlight(0), "Timeout(0s)": Timeout(0),
		"WhenFull(3)": WhenFull(3), "WhenFull(-1)": WhenFull(-1), "WithRetry: nil": WithRetry(nil), "WithMeter: nil": WithMeter(nil), "WithLogger: nil": WithLogger(nil), "nil option": nil,
		"does not take the batcher's events": MaxBytes(1, func(string) int { return 1 }),
	} {
		if b, err := New(send, opt); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
			if b != nil {
				_, _ = b.Close(t.Context())
			}
		}
	}
	if _, err := New[int](nil); err == nil || !strings.Contains(err.Error(), "nothing to send with") {
		t.Errorf("a nil send: %v", err)
	}
	if _, err := New(send, Ordered(), InFlight(2)); err == nil || !strings.Contains(err.Error(), "two batches in flight have no order") {
		t.Errorf("ordered and two in flight: %v", err)
	}
}

func FuzzOptions(f *testing.F) {
	f.Add(1, 1, int64(1), 1, 1, 0, false, 3)
	f.Add(0, -1, int64(-1), 0, 0, 7, true, 0)
	f.Fuzz(func(t *testing.T, count, capacity int, interval int64, inFlight, maxBytes, policy int, ordered bool, events int) {
		if count > 10_000 || capacity > 100_000 || inFlight > 100 || events > 1000 {
			t.Skip("too much memory for a test")
		}
		m := &tally{}
		opts := []Option{MaxCount(count), Capacity(capacity), Interval(time.Duration(interval)), InFlight(inFlight), MaxBytes(maxBytes, func(int) int { return 1 }), WhenFull(Policy(policy)), WithMeter(m)}
		if ordered {
			opts = append(opts, Ordered())
		}
		b, err := New(func(context.Context, []int) error { return nil }, opts...)
		valid := count >= 1 && capacity >= 1 && interval > 0 && inFlight >= 1 && maxBytes >= 1 && policy >= 0 && policy <= 2 && !(ordered && inFlight > 1)
		if (err == nil) != valid {
			t.Fatalf("valid %v, but %v", valid, err)
		}
		if err != nil {
			return
		}
		added := 0
		for n := range events {
			if b.Add(t.Context(), n) == nil {
				added++
			}
		}
		left, err := b.Close(t.Context())
		refused := max(events, 0) - added
		lost := int(m.full.Load()) - refused
		said, _ := errors.AsType[*LostError](err)
		if got := int(m.delivered.Load()) + lost + len(left); (lost == 0) != (err == nil) || lost > 0 && said.Full != lost || got != added {
			t.Fatalf("%d of %d added are accounted for, %v", got, added, err)
		}
	})
}

func TestAddingAllocatesNothing(t *testing.T) {
	b := made(t, func(context.Context, []event) error { return nil }, MaxCount(100), InFlight(2))
	defer func() { _, _ = b.Close(context.Background()) }()
	ctx := context.Background()
	for range 10_000 {
		_ = b.Add(ctx, event{})
	}
	if n := testing.AllocsPerRun(100_000, func() { _ = b.Add(ctx, event{}) }); n >= 0.5 {
		t.Errorf("%v allocations an event", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	type payload [56]byte
	for _, ordered := range []bool{false, true} {
		for _, producers := range []int{1, 2, 8, 100} {
			name := map[bool]string{false: "sharded", true: "ordered"}[ordered]
			b.Run(name+"/"+itoa(producers), func(b *testing.B) {
				opts := []Option{MaxCount(1000), Capacity(10_000)}
				if ordered {
					opts = append(opts, Ordered())
				}
				x, err := New(func(context.Context, []payload) error { return nil }, opts...)
				if err != nil {
					b.Fatal(err)
				}
				ctx := context.Background()
				b.ReportAllocs()
				var all sync.WaitGroup
				b.ResetTimer()
				for range producers {
					all.Go(func() {
						for range b.N / producers {
							_ = x.Add(ctx, payload{})
						}
					})
				}
				all.Wait()
				b.StopTimer()
				_, _ = x.Close(ctx)
			})
		}
	}
}

func itoa(n int) string { return map[int]string{1: "1", 2: "2", 8: "8", 100: "100"}[n] }
