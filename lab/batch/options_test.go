package batch

import (
	"context"
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
		"WithRetry(nil)": WithRetry(nil), "WithMeter(nil)": WithMeter(nil),
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
