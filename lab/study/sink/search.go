package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/line-rate/line-rate/lab/study/event"
)

// The search's bounds, in events a second.
const (
	firstRate = 2000
	mostRate  = 64_000_000
	// factor is by how much the rate grows until it is too high, and bisections is how often that factor is
	// halved: what remains is its 32nd root, 4.4 %.
	factor     = 4
	bisections = 5
	// mostHolds is how many rates are tried as the limit for a whole window.
	mostHolds = 8
)

// The times of a search. It is given up after the longest, with the highest rate so far.
const (
	leastStep     = 300 * time.Millisecond
	mostRecover   = 5 * time.Second
	longestSearch = 12 * time.Second
)

// search finds the highest rate that is kept up with: it quadruples the rate until it is too high, and then
// halves the distance on a logarithmic scale, until the time is up. It is 0 if none is kept up with, or none was
// too high: the highest one is then no limit.
func search(try func(perSecond int) (keptUp bool, err error), timeUp func() bool) (int, error) {
	low, tooHigh := 0, 0
	for left := bisections; left > 0 && low < mostRate && !timeUp(); {
		rate := firstRate
		switch {
		case tooHigh > 0 && low == 0:
			return 0, nil
		case tooHigh > 0:
			rate = int(math.Round(math.Sqrt(float64(low) * float64(tooHigh))))
			left--
		case low > 0:
			rate = min(factor*low, mostRate)
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
// CPU is full there. Without a limit, the window is spent at the producer's own rate.
func (t *trial) findLimit(ctx context.Context) (int, error) {
	j := judge{normal: time.Duration(t.from.producer.Interval*float64(time.Second)) + t.Latency}
	j.judged = max(leastStep/4, j.normal)
	j.step = max(leastStep, 3*j.judged)
	if t.Duration < 3*j.judged {
		return 0, fmt.Errorf("--duration %v is too short for a limit: judging one takes %v with these settings", t.Duration,
			3*j.judged)
	}
	behind := false // whether the last rate was too high
	tries := func(lasts time.Duration) func(int) (bool, error) {
		return func(perSecond int) (bool, error) {
			if behind {
				if err := t.recover(ctx, j); err != nil {
					return false, err
				}
			}
			keptUp, err := t.try(ctx, j, perSecond, lasts)
			behind = !keptUp
			return keptUp, err
		}
	}
	until := time.Now().Add(longestSearch)
	limit, err := search(tries(j.step), func() bool { return time.Until(until) < j.step })
	if err != nil {
		return 0, err
	}
	if limit > 0 {
		return hold(limit, tries(t.Duration))
	}
	_, err = t.try(ctx, j, 0, t.Duration)
	return 0, err
}

// A judge tells whether a rate was kept up with. The part of a step that is judged, its end, must be long enough
// for each worker of a pool to have sent once, which at a low rate it does once per interval. And a step must be
// three times as long: for the old rate's events to go, for a part to compare with, and for the part that is
// judged.
type judge struct {
	normal time.Duration // the median for events that do not wait for others
	step   time.Duration // how long a rate is tried
	judged time.Duration
}

// inTime tells whether a part's events came as soon as they can: their median is at most that of events that do
// not wait for others, and a tenth of a step more.
func (j judge) inTime(part *event.Spread) bool {
	return part != nil && part.P50 <= (j.normal+j.step/10).Seconds()
}

// grows tells whether events came later and later. At a high rate batches are full long before the interval is
// over, and a queue can grow for a whole step before its last events are later than those of a low rate. Even
// without growth the medians differ by a part of the interval, since a part of a step may have one tick more or
// less.
func (j judge) grows(earlier, last *event.Spread) bool {
	return earlier != nil && last.P50-earlier.P50 > max(j.step/40, j.normal/5).Seconds()
}

// try watches a rate for so long; 0 is the producer's own. It was kept up with if nothing was lost, and the last
// part's events were in time and not later than those of the part before the last but one.
func (t *trial) try(ctx context.Context, j judge, perSecond int, lasts time.Duration) (keptUp bool, err error) {
	if t.from, err = t.look(); err != nil {
		return false, err
	}
	if _, err = t.ask(event.Ask{PerSecond: perSecond, Lasts: lasts}); err != nil {
		return false, err
	}
	var parts []*event.Spread
	for _, d := range []time.Duration{lasts - 3*j.judged, j.judged, j.judged, j.judged} {
		if err := sleep(ctx, d); err != nil {
			return false, err
		}
		parts = append(parts, t.part.Spread())
	}
	if t.to, err = t.look(); err != nil {
		return false, err
	}
	earlier, last := parts[1], parts[3]
	return t.to.producer.Failed == t.from.producer.Failed && j.inTime(last) && !j.grows(earlier, last), nil
}

// recover waits, at the producer's own rate, until events arrive in time again. If that takes too long, the next
// step shows it.
func (t *trial) recover(ctx context.Context, j judge) error {
	for over := time.Now().Add(mostRecover); time.Now().Before(over); {
		t.part.Spread()
		if err := sleep(ctx, j.judged); err != nil {
			return err
		}
		if j.inTime(t.part.Spread()) {
			return nil
		}
	}
	return nil
}
