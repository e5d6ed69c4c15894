package batch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	r := Backoff(time.Second, 10*time.Second, 6)
	for attempt, want := range map[int][2]time.Duration{1: {1 * time.Second, 2 * time.Second},
		2: {2 * time.Second, 4 * time.Second}, 3: {4 * time.Second, 8 * time.Second}, 4: {5 * time.Second, 10 * time.Second},
		5: {5 * time.Second, 10 * time.Second}} {
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
		"MaxCount(0)": MaxCount(0), "MaxCount(-1)": MaxCount(-1), "MaxBytes(0)": MaxBytes(0, size),
		"MaxBytes: say how": MaxBytes[int](1, nil),
		"Interval(0s)":      Interval(0), "Interval(-1s)": Interval(-time.Second), "Capacity(-1)": Capacity(-1),
		"InFlight(0)": InFlight(0), "Timeout(-1s)": Timeout(-time.Second),
		"WhenFull(3)": WhenFull(3), "WhenFull(-1)": WhenFull(-1),
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
	if _, err := New(send, Ordered(), InFlight(2)); err == nil ||
		!strings.Contains(err.Error(), "two batches in flight have no order") {
		t.Errorf("ordered and two in flight: %v", err)
	}
}

func FuzzOptions(f *testing.F) {
	f.Add(1, 1, int64(1), 1, 1, 0, false, 3)
	f.Add(0, -1, int64(-1), 0, 0, 7, true, 0)
	f.Fuzz(func(t *testing.T, count, capacity int, interval int64, inFlight, maxBytes, policy int, ordered bool,
		events int) {
		if count > 10_000 || capacity > 100_000 || inFlight > 100 || events > 1000 {
			t.Skip("too much memory for a test")
		}
		m := &tally{}
		opts := []Option{MaxCount(count), Capacity(capacity), Interval(time.Duration(interval)), InFlight(inFlight),
			MaxBytes(maxBytes, func(int) int { return 1 }), WhenFull(Policy(policy)), WithMeter(m)}
		if ordered {
			opts = append(opts, Ordered())
		}
		b, err := New(func(context.Context, []int) error { return nil }, opts...)
		valid := count >= 1 && capacity >= 0 && interval > 0 && inFlight >= 1 && maxBytes >= 1 && policy >= 0 &&
			policy <= 2 && !(ordered && inFlight > 1)
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
		if got := int(m.delivered.Load()) + lost + len(left); (lost == 0) != (err == nil) || lost > 0 && said.Full != lost ||
			got != added {
			t.Fatalf("%d of %d added are accounted for, %v", got, added, err)
		}
	})
}
