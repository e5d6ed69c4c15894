package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/line-rate/line-rate/lab/batch/study/event"
)

// The search's bounds, in events a second.
const (
	firstRate = 2000
	// factor is by how much the rate grows until it is too high, and bisections is how often that factor is
	// halved: what remains is its 32nd root, 4.4 %.
	factor     = 4
	bisections = 5
	// mostHolds is how many rates are tried as the limit for a whole window.
	mostHolds = 8
)

const (
	// leastPart is the shortest part of a window that is judged.
	leastPart = 100 * time.Millisecond
	// longestSearch is when a search is given up: with the highest rate so far, if a higher one was too high. Each
	// rate takes five parts, so with the default interval of a second twelve rates are tried. The time that lab run
	// allows a sink leaves half a minute for the windows after the search.
	longestSearch = time.Minute
)

// errSlow is of a search whose time is up before any rate was too high.
var errSlow = fmt.Errorf("--find-limit found no rate that is too high in %v; "+
	"lower the producer's --interval-ms or this --latency-ms, since each rate takes five times their sum", longestSearch)

// search finds the highest rate that is kept up with: it quadruples the rate until it is too high, and then
// halves the distance on a logarithmic scale, until the time is up. It is 0 if none is kept up with, or none was
// too high: the highest one is then no limit.
func search(try func(perSecond int) (keptUp bool, err error), timeUp func() bool) (int, error) {
	low, tooHigh := 0, 0
	for left := bisections; left > 0 && low < event.MaxRate && !timeUp(); {
		rate := firstRate
		switch {
		case tooHigh > 0 && low == 0:
			return 0, nil
		case tooHigh > 0:
			rate = int(math.Round(math.Sqrt(float64(low) * float64(tooHigh))))
			left--
		case low > 0:
			rate = min(factor*low, event.MaxRate)
		}
		keptUp, err := try(rate)
		if err != nil {
			return 0, err
		}
		if keptUp {
			low = rate
		} else {
			tooHigh = rate
		}
	}
	if tooHigh == 0 && low < event.MaxRate {
		return 0, errSlow
	}
	if tooHigh == 0 {
		return 0, nil
	}
	return low, nil
}

// hold tries the limit of a search once more, for a whole window. If it does not hold, the next lower rate is
// tried, by the distance at which a search ends: too high a rate leaves the processes no time, so its window
// ends late and its figures are not those of a limit. If none of mostHolds holds, there is no limit.
func hold(limit int, try func(perSecond int) (keptUp bool, err error)) (int, error) {
	for range mostHolds {
		if keptUp, err := try(limit); keptUp || err != nil {
			return limit, err
		}
		limit = int(float64(limit) / math.Pow(factor, 1/math.Exp2(bisections)))
	}
	return 0, nil
}

// findLimit searches for the limit and spends the window at it, so that what is recorded beside it shows which
// CPU is full there. Without a limit, the window is spent at the producer's own rate. Each rate has a run of its
// own, so none has the events of a rate that was too high.
func (s Settings) findLimit(ctx context.Context) (*output, error) {
	out, err := s.trial(ctx, window{}) // tells the interval
	if err != nil {
		return nil, err
	}
	j := judge{normal: time.Duration(out.Interval*float64(time.Second)) + s.Latency}
	j.part = max(leastPart, j.normal)
	if s.Duration < 3*j.part {
		return nil, fmt.Errorf("--duration %v is too short for a limit: judging one takes %v with these settings", s.Duration, 3*j.part)
	}
	tries := func(warmup, lasts time.Duration) func(int) (bool, error) {
		return func(rate int) (bool, error) {
			if out, err = s.trial(ctx, window{rate, warmup, lasts, j.part}); err != nil {
				return false, err
			}
			return j.keptUp(out), nil
		}
	}
	until := time.Now().Add(longestSearch)
	limit, err := search(tries(2*j.part, 3*j.part), func() bool { return time.Now().After(until) })
	if err != nil {
		return nil, err
	}
	if limit == 0 {
		return s.trial(ctx, window{warmup: s.Warmup, lasts: s.Duration})
	}
	limit, err = hold(limit, tries(max(s.Warmup, 2*j.part), s.Duration))
	if err != nil {
		return nil, err
	}
	out.Limit = limit
	return out, nil
}

// A judge tells whether a rate was kept up with. The part of a window that is judged, its end, must be long
// enough for each worker of a pool to have sent once, which at a low rate it does once per interval.
type judge struct {
	normal time.Duration // the median for events that do not wait for others
	part   time.Duration
}

// keptUp tells whether nothing was lost and events came as soon as they can: their median is at most that of
// events that do not wait for others, and three tenths of a part more. And they came no later and later. At a high
// rate batches are full long before the interval is over, and a queue can grow for a whole window before its
// last events are later than those of a low rate. Even without growth the medians differ by a part of the
// interval, since a part of a window may have one tick more or less.
func (j judge) keptUp(o *output) bool {
	if o.Failed > 0 || o.last == nil || o.last.P50 > (j.normal+3*j.part/10).Seconds() {
		return false
	}
	return o.earlier == nil || o.last.P50-o.earlier.P50 <= max(3*j.part/40, j.normal/5).Seconds()
}
