package cores

import (
	"testing"
	"time"
)

func TestSlowIsMidwayBetweenTheModesSeen(t *testing.T) {
	const fast, slow = 1600 * time.Nanosecond, 2500 * time.Nanosecond
	for _, c := range []struct {
		name            string
		reference, seen time.Duration
		want            bool
	}{
		{"the same time", fast, fast, false},
		{"faster than ever", slow, fast, false},
		{"the slow mode against the fast", fast, slow, true},
		{"at the bar", fast, 2000 * time.Nanosecond, false},
		{"past the bar", fast, 2001 * time.Nanosecond, true},
		{"no reference", 0, fast, true},
		{"not measured", fast, 0, true},
	} {
		if got := Slow(c.reference, c.seen); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	// At the same ratio from both modes.
	if r := SlowBy * SlowBy * float64(fast) / float64(slow); r < 0.99 || r > 1.01 {
		t.Errorf("the bar squared is %.3f of the ratio of the modes", r)
	}
}
