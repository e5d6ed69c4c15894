package main

import (
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/batch/study/event"
)

func TestSchedule(t *testing.T) {
	s := schedule{rate: 3}
	for n, want := range []time.Duration{333333334, 666666667, time.Second, 1333333334, 1666666667, 2 * time.Second} {
		if got := s.due(int64(n)); got != want {
			t.Errorf("event %d is due at %v, want %v", n, got, want)
		}
	}
	for now, want := range map[time.Duration]int64{0: 0, 333333333: 0, 333333334: 1, time.Second: 3, 2 * time.Second: 6} {
		if got := s.offered(now); got != want {
			t.Errorf("%d are due by %v, want %d", got, now, want)
		}
	}
	if got := (schedule{10, 2 * time.Second}).offered(time.Minute); got != 20 {
		t.Errorf("%d are due after the end, want 20", got)
	}
}

// An event counts as offered from the time when it is due, and not before.
func TestADueEventIsOffered(t *testing.T) {
	for _, rate := range []int64{7, event.MaxRate, 2000, 1, 999_983} {
		s := schedule{rate: rate}
		for n := int64(0); n < 10_000_000; n += 1 + n/1000 {
			due := s.due(n)
			if got := s.offered(due); got <= n {
				t.Fatalf("event %d is due at %v, and %d are offered by then", n, due, got)
			}
			if n > 0 && s.due(n-1) > due {
				t.Fatalf("event %d is due before the one before it", n)
			}
			if got := s.offered(due - 1); got > n+1 {
				t.Fatalf("event %d is due at %v, and a nanosecond earlier %d are offered", n, due, got)
			}
		}
	}
	// A day at the highest rate does not overflow.
	s, day := schedule{rate: event.MaxRate}, 24*time.Hour
	if n := s.offered(day); n != event.MaxRate*86400 || s.due(n-1) != day {
		t.Errorf("%d in a day, the last at %v", n, s.due(n-1))
	}
}
