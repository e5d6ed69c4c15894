package main

import (
	"sort"
	"time"
)

// A schedule says when each event is due, on the clock of its run. It is fixed before the first event is made:
// an event that cannot be added in time does not put off those behind it. The number of events due by a time is
// the rate times that time, rounded down.
//
// A schedule does not change. A new rate makes a new schedule, which contains the old one up to then.
type schedule []segment

// A segment is a time with one rate.
type segment struct {
	first int64         // number of its first event
	since time.Duration // when it begins
	rate  int           // events a second
}

func newSchedule(rate int) schedule { return schedule{{0, 0, rate}} }

// due is when event n is due.
func (s schedule) due(n int64) time.Duration {
	g := s.last(func(g segment) bool { return g.first > n })
	rate := int64(g.rate)
	n += 1 - g.first
	part := (n%rate*int64(time.Second) + rate - 1) / rate // rounded up, so that the event counts by then
	return g.since + time.Duration(n/rate)*time.Second + time.Duration(part)
}

// offered is how many events are due by now.
func (s schedule) offered(now time.Duration) int64 {
	g := s.last(func(g segment) bool { return g.since > now })
	if now <= g.since {
		return g.first
	}
	passed, rate := now-g.since, int64(g.rate)
	return g.first + int64(passed/time.Second)*rate + int64(passed%time.Second)*rate/int64(time.Second)
}

// last is the last segment before those that are too late.
func (s schedule) last(late func(segment) bool) segment {
	if len(s) == 1 {
		return s[0]
	}
	return s[sort.Search(len(s)-1, func(i int) bool { return late(s[i+1]) })]
}

// changed is the schedule with another rate from a time on that is not before its last change.
func (s schedule) changed(at time.Duration, rate int) schedule {
	at = max(at, s[len(s)-1].since)
	return append(s[:len(s):len(s)], segment{s.offered(at), at, rate})
}
