package event

import (
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

func TestDesignsMayAskForTheSizesOfEvents(t *testing.T) {
	if !slices.EqualFunc(Sizes, setting.EventSizes, func(a int, b int64) bool { return int64(a) == b }) {
		t.Errorf("events have %d bytes, and designs may ask for %d", Sizes, setting.EventSizes)
	}
}

func near(got float64, want time.Duration) bool {
	return math.Abs(got-want.Seconds()) <= want.Seconds()/500
}

func TestSpread(t *testing.T) {
	var times Times
	if s := times.Spread(true); s != nil {
		t.Errorf("of nothing: %+v", s)
	}
	for i := range 1000 {
		times.Add(time.Duration(i+1) * time.Microsecond)
	}
	for _, reset := range []bool{false, true} {
		s := times.Spread(reset)
		if s == nil || !near(s.P50, 500*time.Microsecond) || !near(s.P99, 990*time.Microsecond) || s.Max != 0.001 {
			t.Errorf("of 1 to 1000 µs: %+v", s)
		}
	}
	if s := times.Spread(false); s != nil {
		t.Errorf("after a reset: %+v", s)
	}
	// Two intervals in turn: durations of one must not appear in the other.
	for i := range 4 {
		d := time.Duration(i+1) * time.Millisecond
		times.Add(d)
		if s := times.Spread(true); s == nil || !near(s.P50, d) {
			t.Errorf("%v: %+v", d, s)
		}
	}
	times.Add(time.Hour)
	times.Add(-time.Hour)
	times.Add(130 * time.Nanosecond)
	if s := times.Spread(true); s.Max != longest.Seconds() || s.P50 != 130e-9 {
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
		times.Spread(true)
		times.Spread(false)
	}
	adding.Wait()
}
