package main

import "time"

// A schedule says when each event is due, on the clock of its run. It is fixed before the first event is made:
// an event that cannot be added in time does not put off those behind it.
type schedule struct {
	rate  int64         // events a second
	lasts time.Duration // 0: without an end
}

// due is when event n is due.
func (s schedule) due(n int64) time.Duration {
	n++
	part := (n%s.rate*int64(time.Second) + s.rate - 1) / s.rate // rounded up, so that the event counts by then
	return time.Duration(n/s.rate)*time.Second + time.Duration(part)
}

// offered is how many events are due by now: the rate times that time, rounded down.
func (s schedule) offered(now time.Duration) int64 {
	if s.lasts > 0 {
		now = min(now, s.lasts)
	}
	return int64(now/time.Second)*s.rate + int64(now%time.Second)*s.rate/int64(time.Second)
}
