package batch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var quiet = WithLogger(slog.New(slog.DiscardHandler))

// The rest of a batch is tried again by itself, in its order, and is held until it is
// accounted for. Events that were taken in are delivered once.
func TestTheRestOfABatchIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got [][]int
		var seen []error
		answers := []error{
			&PartialError{[]int{8, 1, 5, 1}, errSink},                  // in any order, and one twice
			fmt.Errorf("wrapped: %w", &PartialError{[]int{0, 2}, nil}), // places in the rest
			&PartialError{[]int{0, 1}, nil},                            // none
			nil,
		}
		m := &tally{}
		b := made(t, func(_ context.Context, events []int) error {
			got = append(got, slices.Clone(events))
			return answers[len(got)-1]
		}, MaxCount(10), Ordered(), quiet, WithMeter(m), WithRetry(func(attempt int, err error) (time.Duration, bool) {
			if attempt != len(seen)+1 {
				t.Errorf("attempt %d after %d", attempt, len(seen))
			}
			seen = append(seen, err)
			return time.Second, true
		}))
		addAll(t, b, 10)
		for i, held := range []int{3, 2, 2, 0} {
			synctest.Wait()
			if b.Held() != held || m.delivered.Load() != int64(10-held) {
				t.Errorf("after attempt %d: %d held, %d delivered, want %d held", i+1, b.Held(), m.delivered.Load(), held)
			}
			time.Sleep(time.Second)
		}
		if left, err := b.Close(t.Context()); err != nil || len(left) > 0 {
			t.Errorf("Close: %v, %v", left, err)
		}
		if want := "[[0 1 2 3 4 5 6 7 8 9] [1 5 8] [1 8] [1 8]]"; fmt.Sprint(got) != want {
			t.Errorf("sent %v, want %s", got, want)
		}
		if !slices.Equal(seen, answers[:3]) {
			t.Errorf("Retry was asked about %v", seen)
		}
	})
}

// Only what is left after the last attempt is lost, and only what is left when Close
// stops waiting is returned.
func TestTheRestOfABatchIsLostOrReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &tally{}
		b := made(t, func(ctx context.Context, events []int) error {
			if events[0] == 0 {
				return &PartialError{[]int{3, 4}, errSink}
			}
			<-ctx.Done()
			return &PartialError{[]int{0}, ctx.Err()}
		}, MaxCount(5), Ordered(), quiet, WithMeter(m))
		addAll(t, b, 13)
		err := b.Flush(timeout(t, time.Second))
		if lost, ok := errors.AsType[*LostError](err); !ok || lost.Failed != 2 || !errors.Is(err, errSink) {
			t.Errorf("Flush: %v", err)
		}
		left, err := b.Close(timeout(t, time.Second))
		if want := []int{5, 10, 11, 12}; !slices.Equal(left, want) || err != context.DeadlineExceeded {
			t.Errorf("Close: %v, %v, want %v", left, err, want)
		}
		if m.delivered.Load() != 3+4 || m.failed.Load() != 2 || b.Held() != 0 {
			t.Errorf("%d delivered, %d failed, %d held", m.delivered.Load(), m.failed.Load(), b.Held())
		}
	})
}

func timeout(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// An invalid Rest loses no event.
func TestARestThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"none":        {&PartialError{nil, errSink}, "without a Rest"},
		"a negative":  {&PartialError{[]int{-1, 0}, errSink}, "from -1 to 0 in a batch of 5"},
		"past it":     {&PartialError{[]int{5}, errSink}, "from 5 to 5 in a batch of 5"},
		"nil pointer": {(*PartialError)(nil), ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := made(t, func(context.Context, []int) error { return c.err }, MaxCount(5), quiet)
			addAll(t, b, 5)
			_, err := b.Close(t.Context())
			if lost, ok := errors.AsType[*LostError](err); !ok || lost.Failed != 5 ||
				!strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

// Events that the receiver took in are not kept alive by the rest of their batch.
func TestWhatWasTakenOfABatchIsForgotten(t *testing.T) {
	calls := 0
	b := made(t, func(_ context.Context, events []*int) error {
		if calls++; calls == 1 {
			return &PartialError{[]int{4}, nil}
		}
		for _, p := range events[:5][1:] {
			if p != nil {
				t.Error("an event that was taken in can still be reached")
			}
		}
		return nil
	}, MaxCount(5), Ordered(), quiet, WithRetry(func(int, error) (time.Duration, bool) { return 0, true }))
	for range 5 {
		if err := b.Add(t.Context(), new(int)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Close(t.Context()); err != nil || calls != 2 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// A receiver takes some events and leaves others at random, attempts run out, and Close
// comes in the middle: each event is accounted for, and delivered at most once.
func TestNothingOfAPartIsLost(t *testing.T) {
	const producers, each = 8, 20_000
	for _, policy := range []Policy{Block, DropNewest, DropOldest} {
		for _, cut := range []bool{false, true} {
			t.Run(fmt.Sprint(policy, cut), func(t *testing.T) {
				var seen [producers * each]atomic.Int32
				send := func(_ context.Context, events []int) error {
					var rest []int
					for i, e := range events {
						if rand.N(3) == 0 {
							rest = append(rest, i)
						} else {
							seen[e].Add(1)
						}
					}
					if len(rest) > 0 {
						return &PartialError{rest, errSink}
					}
					return nil
				}
				m := &tally{}
				b := made(t, send, MaxCount(100), Capacity(1000), InFlight(3), Interval(time.Millisecond), WhenFull(policy),
					WithMeter(m), quiet,
					WithRetry(func(attempt int, _ error) (time.Duration, bool) { return 0, attempt < 3 }))
				var added, refused, flushed atomic.Int64
				count := func(err error) {
					if lost, ok := errors.AsType[*LostError](err); ok {
						flushed.Add(int64(lost.Failed + lost.Full))
					}
				}
				var all sync.WaitGroup
				for p := range producers {
					all.Go(func() {
						for n := range each {
							switch b.Add(context.Background(), p*each+n) {
							case nil:
								added.Add(1)
							case ErrFull:
								refused.Add(1)
							}
							if p == 0 && n%1000 == 0 {
								count(b.Flush(context.Background())) // one after the other: each loss is reported once
							}
						}
					})
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if cut {
					time.Sleep(2 * time.Millisecond)
					cancel()
				} else {
					all.Wait()
				}
				left, err := b.Close(ctx)
				all.Wait()
				count(err)
				once := int64(0)
				for e := range seen {
					if n := seen[e].Load(); n > 1 {
						t.Fatalf("event %d was delivered %d times", e, n)
					} else if n == 1 {
						once++
					}
				}
				for _, e := range left {
					if seen[e].Load() > 0 {
						t.Fatalf("event %d was delivered and returned", e)
					}
				}
				lost := m.failed.Load() + m.full.Load() - refused.Load()
				if told := flushed.Load(); told < lost || !cut && told > lost { // a Flush during Close reports the same loss
					t.Errorf("%d lost, %d told", lost, told)
				}
				if once != m.delivered.Load() || added.Load() != once+lost+int64(len(left)) || b.Held() != 0 {
					t.Errorf("%d added; %d delivered, %d by the meter, %d lost, %d returned, %d held", added.Load(), once,
						m.delivered.Load(), lost, len(left), b.Held())
				}
			})
		}
	}
}

// Whatever Rest a Send returns, each event is accounted for.
func FuzzRest(f *testing.F) {
	f.Add(3, []byte{0, 2})
	f.Add(1, []byte{})
	f.Add(5, []byte{4, 4, 0, 200})
	f.Fuzz(func(t *testing.T, events int, places []byte) {
		if events < 1 || events > 128 {
			t.Skip()
		}
		var rest []int
		for _, p := range places {
			rest = append(rest, int(int8(p)))
		}
		m := &tally{}
		b := made(t, func(context.Context, []int) error { return &PartialError{rest, nil} }, MaxCount(events), Ordered(),
			quiet, WithMeter(m))
		addAll(t, b, events)
		_, err := b.Close(t.Context())
		left := map[int]bool{}
		for _, p := range rest {
			left[p] = true
		}
		want := len(left)
		for p := range left {
			if p < 0 || p >= events {
				want = events
			}
		}
		if want == 0 {
			want = events
		}
		lost, ok := errors.AsType[*LostError](err)
		if !ok || lost.Failed != want || m.delivered.Load() != int64(events-want) || b.Held() != 0 {
			t.Fatalf("of %d with %v left: %v, %d delivered, want %d lost", events, rest, err, m.delivered.Load(), want)
		}
	})
}
