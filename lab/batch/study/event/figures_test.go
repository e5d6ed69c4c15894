package event

import (
	"math"
	"sync"
	"testing"
	"time"
)

func near(got float64, want time.Duration) bool {
	return math.Abs(got-want.Seconds()) <= want.Seconds()/500
}

func TestSpread(t *testing.T) {
	var times Times
	if s := times.Spread(); s != nil {
		t.Errorf("of nothing: %+v", s)
	}
	for i := range 1000 {
		times.Add(time.Duration(i+1) * time.Microsecond)
	}
	if s := times.Spread(); s == nil || !near(s.P50, 500*time.Microsecond) || !near(s.P99, 990*time.Microsecond) {
		t.Errorf("of 1 to 1000 µs: %+v", s)
	}
	if s := times.Spread(); s != nil {
		t.Errorf("of no more: %+v", s)
	}
	times.Add(time.Hour)
	times.Add(-time.Hour)
	times.Add(130 * time.Nanosecond)
	if s := times.Spread(); !near(s.P99, longest) || s.P50 != 130e-9 {
		t.Errorf("beyond the bounds: %+v", s)
	}
}

func TestTimesFromManyGoroutines(t *testing.T) {
	var times Times
	var adding sync.WaitGroup
	for range 4 {
		adding.Go(func() {
			for range 1000 {
				times.Add(time.Millisecond)
			}
		})
	}
	for range 20 {
		times.Spread()
	}
	adding.Wait()
}
