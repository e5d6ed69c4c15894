package batch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

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
		closes(t, b)
		if want := "[[0 1 2 3 4 5 6 7 8 9] [1 5 8] [1 8] [1 8]]"; fmt.Sprint(got) != want {
			t.Errorf("sent %v, want %s", got, want)
		}
		if !slices.Equal(seen, answers[:3]) {
			t.Errorf("Retry was asked about %v", seen)
		}
	})
}

// The Batcher loses only the rest of the last attempt, and returns only the rest at the end of
// Close.
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
		lost, ok := errors.AsType[*LostError](err)
		if !ok || lost.Failed != 2 || !errors.Is(err, errSink) || !errors.Is(err, context.DeadlineExceeded) {
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

// An invalid Rest loses no event.
func TestARestThatCannotBe(t *testing.T) {
	for _, err := range []*PartialError{nil, {nil, errSink}, {[]int{-1, 0}, errSink}, {[]int{0, 5}, errSink}} {
		b := made(t, func(context.Context, []int) error { return err }, MaxCount(5), quiet)
		addAll(t, b, 5)
		lost := closes(t, b)
		if lost.Failed != 5 || err != nil && !strings.Contains(lost.Error(), "with an impossible Rest, for a batch of 5") {
			t.Errorf("%v: %v", err, lost)
		}
	}
}
