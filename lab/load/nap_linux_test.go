package load

import (
	"testing"
	"time"
)

// A server must never wait for a nap to end: a nap is an eighth of the time that answers
// take, and there is none if that is too short to sleep.
func TestHowLongAThreadSleeps(t *testing.T) {
	for response, want := range map[time.Duration]time.Duration{
		0: 0, 30 * time.Microsecond: 0, 79 * time.Microsecond: 0,
		80 * time.Microsecond:  10 * time.Microsecond,
		400 * time.Microsecond: 50 * time.Microsecond,
		800 * time.Microsecond: 100 * time.Microsecond,
		2 * time.Second:        100 * time.Microsecond,
	} {
		if got := napFor(int64(response)); got != int64(want) {
			t.Errorf("answers take %v: %v, want %v", response, time.Duration(got), want)
		}
	}
}
