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

// The nap follows the time that answers take now, in a closed loop.
func TestTheNapFollowsTheAnswers(t *testing.T) {
	const late = int64(4 * time.Millisecond)
	for _, paced := range []bool{false, true} {
		w := &thread{load: &load{}}
		w.lane = &lane{target: &target{}, paced: paced, kinds: []kind{newKind(&Request{}, nil, 0)}}
		c := &connection{lane: w.lane, times: make([]int64, 1), kind: &w.lane.kinds[0]}
		c.parser.status = 200
		for i := range int64(500) {
			c.push(1, i*late)
			w.took(c, c.kind, c.pop(), (i+1)*late)
		}
		switch got := w.lane.response; {
		case paced && got != 0:
			t.Errorf("an open loop, which does not sleep before it waits, has %v", time.Duration(got))
		case !paced && (got < late*9/10 || got > late):
			t.Errorf("answers take %v, it is thought %v", time.Duration(late), time.Duration(got))
		}
	}
}
