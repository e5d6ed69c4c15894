package main

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/line-rate/line-rate/lab/study/event"
)

// The search's bounds, in events a second.
const (
	firstRate = 2000
	mostRate  = 64_000_000
	// factor is by how much the rate grows until it is too high, and bisections is how
	// often that factor is halved: what remains is its 32nd root, 4.4 %.
	factor     = 4
	bisections = 5
	// mostHolds is how many rates are tried as the limit for a whole window.
	mostHolds = 8
)

// A step is one rate that was tried.
type step struct {
	PerSecond int      `json:"per_second"`
	KeptUp    bool     `json:"kept_up"`
	P50       *float64 `json:"delivery_p50_s,omitempty"` // absent if nothing arrived
}

// A system is something that can be tried at a rate.
type system interface {
	try(perSecond int) (step, error)
	// hold tries it for a whole window.
	hold(perSecond int) (step, error)
	// recover lets it recover from a rate that was too high.
	recover() error
}

// errTimeUp says that there is no time for one more step.
var errTimeUp = errors.New("the search has taken too long")

// search finds the highest rate that a system keeps up with: it quadruples the rate until
// it is too high, and then halves the distance on a logarithmic scale. If the time is
// over before, limit is the highest rate so far; it is nil if the system keeps up with
// none.
func search(sys system) (limit *int, steps []step, err error) {
	behind := false // whether the last rate was too high
	try := func(rate int) (bool, error) {
		if behind {
			if err := sys.recover(); err != nil {
				return false, err
			}
		}
		s, err := sys.try(rate)
		if err != nil {
			return false, err
		}
		steps = append(steps, s)
		if behind = !s.KeptUp; !behind {
			limit = &rate
		}
		return s.KeptUp, nil
	}
	rate, tooHigh := firstRate, 0
	for tooHigh == 0 {
		ok, err := try(rate)
		switch {
		case errors.Is(err, errTimeUp):
			return limit, steps, nil
		case err != nil:
			return nil, nil, err
		case !ok:
			tooHigh = rate
		case rate == mostRate:
			return limit, steps, nil
		default:
			rate = min(factor*rate, mostRate)
		}
	}
	if limit == nil {
		return nil, steps, nil
	}
	low := *limit
	for range bisections {
		rate := int(math.Round(math.Sqrt(float64(low) * float64(tooHigh))))
		ok, err := try(rate)
		if errors.Is(err, errTimeUp) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		if ok {
			low = rate
		} else {
			tooHigh = rate
		}
	}
	return limit, steps, nil
}

// hold tries the limit of a search once more, for a whole window. If it does not hold,
// the next lower rate is tried as the limit: too high a rate leaves the processes no
// time, so its window ends late and its figures are not those of a limit. If mostHolds rates do not hold, there is no limit. begin is called when each
// window begins.
func hold(sys system, limit *int, steps []step, begin func() error) (*int, []step, error) {
	for range mostHolds {
		if limit != nil && !steps[len(steps)-1].KeptUp {
			if err := sys.recover(); err != nil {
				return nil, nil, err
			}
		}
		if err := begin(); err != nil {
			return nil, nil, err
		}
		if limit == nil {
			break
		}
		s, err := sys.hold(*limit)
		if err != nil {
			return nil, nil, err
		}
		steps = append(steps, s)
		if s.KeptUp {
			return limit, steps, nil
		}
		lower := below(*limit)
		limit = &lower
	}
	return nil, steps, nil
}

// below is the next lower rate by the distance at which a search ends.
func below(rate int) int {
	return int(float64(rate) / math.Pow(factor, 1/math.Exp2(bisections)))
}

// The times of a search. It is given up after the longest, with the highest rate so far.
const (
	leastStep     = 300 * time.Millisecond
	mostRecover   = 5 * time.Second
	longestSearch = 12 * time.Second
)

// A trier tries rates on a producer and this sink.
type trier struct {
	ctx    context.Context
	p      *producer
	r      *receiver
	step   time.Duration // how long a rate is tried
	judged time.Duration // the last part of a step, which decides
	window time.Duration
	normal time.Duration // the median for events that do not wait for others
	until  time.Time     // when the search is given up
}

var _ system = (*trier)(nil)

func newTrier(ctx context.Context, s Settings, p *producer, r *receiver, interval float64, until time.Time) *trier {
	t := &trier{ctx: ctx, p: p, r: r, window: s.Duration, until: until,
		normal: time.Duration(interval*float64(time.Second)) + s.Latency}
	t.step, t.judged = stepOf(t.normal)
	return t
}

// stepOf is how long a rate is tried, and how much of that is judged: its last quarter.
// The part that is judged must be long enough for each worker of a pool to have sent
// once, which at a low rate it does once per interval. And a step must be three times as
// long as that part: for the old rate's events to go, for a part to compare with, and for
// the part that is judged.
func stepOf(normal time.Duration) (step, judged time.Duration) {
	judged = max(leastStep/4, normal)
	return max(leastStep, 3*judged), judged
}

// inTime tells whether a part's events came as soon as they can: their median is at most
// that of events that do not wait for others, and a tenth of a step more.
func (t *trier) inTime(part *event.Spread) bool {
	return part != nil && part.P50 <= (t.normal+t.step/10).Seconds()
}

// grows tells whether events came later and later. At a high rate batches are full long
// before the interval is over, and a queue can grow for a whole step before its last
// events are later than those of a low rate. Even without growth the medians differ by a
// part of the interval, since a part of a step may have one tick more or less.
func (t *trier) grows(earlier, last *event.Spread) bool {
	return earlier != nil && last.P50-earlier.P50 > max(t.step/40, t.normal/5).Seconds()
}

// keptUp judges a step by an earlier part and by its last one.
func (t *trier) keptUp(earlier, last *event.Spread, before, after event.Figures) bool {
	lost := after.Dropped - before.Dropped + after.Failed - before.Failed
	return lost == 0 && t.inTime(last) && !t.grows(earlier, last)
}

func (t *trier) try(perSecond int) (step, error) {
	if time.Until(t.until) < t.step {
		return step{}, errTimeUp
	}
	return t.over(perSecond, t.step)
}

func (t *trier) hold(perSecond int) (step, error) {
	return t.over(perSecond, t.window)
}

// over tries a rate for so long.
func (t *trier) over(perSecond int, lasts time.Duration) (step, error) {
	s := step{PerSecond: perSecond}
	before, err := t.p.figures(t.ctx, false)
	if err != nil {
		return s, err
	}
	if err := t.p.rate(t.ctx, perSecond, lasts); err != nil {
		return s, err
	}
	var parts []*event.Spread
	for _, d := range []time.Duration{lasts - 3*t.judged, t.judged, t.judged, t.judged} {
		if err := sleep(t.ctx, d); err != nil {
			return s, err
		}
		parts = append(parts, t.r.part.Spread(true))
	}
	after, err := t.p.figures(t.ctx, false)
	if err != nil {
		return s, err
	}
	last := parts[3]
	if last != nil {
		s.P50 = &last.P50
	}
	s.KeptUp = t.keptUp(parts[1], last, before, after)
	return s, nil
}

// recover waits, at the producer's own rate, until events arrive in time again. If that
// takes too long, the next step shows it.
func (t *trier) recover() error {
	for over := time.Now().Add(mostRecover); time.Now().Before(over); {
		t.r.part.Spread(true)
		if err := sleep(t.ctx, t.judged); err != nil {
			return err
		}
		if t.inTime(t.r.part.Spread(true)) {
			return nil
		}
	}
	return nil
}
