package main

import (
	"sort"
	"time"
)

// A schedule says when each event is due, on the clock of its run. It is fixed before the
// first event is made: an event that cannot be added in time does not put off those
// behind it. The number of events due by a time is the rate times that time, rounded
// down.
//
// A schedule does not change. A new rate makes a new schedule, which contains the old one
// up to then.
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
	g := s[0]
	if len(s) > 1 {
		g = s[sort.Search(len(s)-1, func(i int) bool { return s[i+1].first > n })]
	}
	rate := int64(g.rate)
	n += 1 - g.first
	part := (n%rate*int64(time.Second) + rate - 1) / rate // rounded up, so that the event counts by then
	return g.since + time.Duration(n/rate)*time.Second + time.Duration(part)
}

// offered is how many events are due by now.
func (s schedule) offered(now time.Duration) int64 {
	g := s[0]
	if len(s) > 1 {
		g = s[sort.Search(len(s)-1, func(i int) bool { return s[i+1].since > now })]
	}
	if now <= g.since {
		return g.first
	}
	passed, rate := now-g.since, int64(g.rate)
	return g.first + int64(passed/time.Second)*rate + int64(passed%time.Second)*rate/int64(time.Second)
}

// upTo is the schedule without changes that are later than now.
func (s schedule) upTo(now time.Duration) schedule {
	for len(s) > 1 && s[len(s)-1].since > now {
		s = s[:len(s)-1]
	}
	return s
}

// changed is the schedule with another rate from now on.
func (s schedule) changed(now time.Duration, rate int) schedule {
	now = max(now, s[len(s)-1].since)
	return append(s[:len(s):len(s)], segment{s.offered(now), now, rate})
}
