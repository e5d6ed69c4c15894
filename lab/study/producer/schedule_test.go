package main

import (
	"testing"
	"time"
)

func TestSchedule(t *testing.T) {
	// Three a second, and ten a second from 2 s on.
	s := newSchedule(3).changed(2*time.Second, 10)
	for n, want := range []time.Duration{333333334, 666666667, time.Second, 1333333334, 1666666667, 2 * time.Second,
		2100 * time.Millisecond, 2200 * time.Millisecond} {
		if got := s.due(int64(n)); got != want {
			t.Errorf("event %d is due at %v, want %v", n, got, want)
		}
	}
	for now, want := range map[time.Duration]int64{-1: 0, 0: 0, 333333333: 0, 333333334: 1, time.Second: 3,
		2 * time.Second: 6, 2099 * time.Millisecond: 6, 3 * time.Second: 16} {
		if got := s.offered(now); got != want {
			t.Errorf("%d are due by %v, want %d", got, now, want)
		}
	}
}

// An event counts as offered from the time when it is due, and not before. No event is
// lost or due twice when the rate changes.
func TestADueEventIsOffered(t *testing.T) {
	s := newSchedule(1)
	for i, rate := range []int{7, maxRate, 2000, 1, 999_983} {
		s = s.changed(time.Duration(i+1)*1234567891, rate)
	}
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
	// A day at the highest rate does not overflow.
	s = newSchedule(maxRate)
	day := 24 * time.Hour
	if n := s.offered(day); n != maxRate*86400 || s.due(n-1) != day {
		t.Errorf("%d in a day, the last at %v", n, s.due(n-1))
	}
}

// A rate for a limited time ends by itself.
func TestARateForAWhile(t *testing.T) {
	s := newSchedule(10)
	s = s.changed(time.Second, 1000).changed(3*time.Second, 10)
	for at, want := range map[time.Duration]int64{time.Second: 10, 2 * time.Second: 1010, 3 * time.Second: 2010,
		5 * time.Second: 2030} {
		if got := s.offered(at); got != want {
			t.Errorf("%d offered by %v, want %d", got, at, want)
		}
	}
}
