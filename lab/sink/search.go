package main

import (
	"context"
	"math"
	"time"

	"github.com/line-rate/line-rate/lab/internal/figures"
)

// The search's bounds, in events a second.
const (
	firstRate = 2000
	mostRate  = 4_000_000
	// bisections between the last rate that was kept up with and the first
	// that was not, which are a factor of two apart: a sixteenth of that
	// remains, 4.4 %.
	bisections = 4
)

// A step is one rate that was tried.
type step struct {
	PerSecond int      `json:"per_second"`
	KeptUp    bool     `json:"kept_up"`
	P50       *float64 `json:"delivery_p50_s,omitempty"` // absent if nothing arrived
}

// A system is what can be tried at a rate.
type system interface {
	try(perSecond int) (step, error)
	// recover lets it get over a rate that was too high.
	recover() error
}

// search finds the highest rate that a system keeps up with: it doubles the rate
// until one is too high, and then halves the distance, as a factor. limit is
// nil if the system keeps up with none.
func search(sys system) (limit *int, steps []step, err error) {
	behind := false // after a rate that was too high
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
		case err != nil:
			return nil, nil, err
		case !ok:
			tooHigh = rate
		case rate == mostRate:
			return limit, steps, nil
		default:
			rate = min(2*rate, mostRate)
		}
	}
	if limit == nil {
		return nil, steps, nil
	}
	low := *limit
	for range bisections {
		rate := int(math.Round(math.Sqrt(float64(low) * float64(tooHigh))))
		ok, err := try(rate)
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

// The times of a search.
const (
	leastStep   = 500 * time.Millisecond
	mostRecover = 5 * time.Second
)

// A trier tries rates on a producer and this sink.
type trier struct {
	ctx    context.Context
	p      *producer
	r      *receiver
	step   time.Duration // how long a rate is tried
	judged time.Duration // the last part of it, which decides
	normal time.Duration // the median of who waits for no other
}

var _ system = (*trier)(nil)

func newTrier(ctx context.Context, s Settings, p *producer, r *receiver, interval float64) *trier {
	t := &trier{ctx: ctx, p: p, r: r, normal: time.Duration(interval*float64(time.Second)) + s.Latency}
	t.step, t.judged = stepOf(s.Duration, t.normal)
	return t
}

// stepOf is how long a rate is tried, and how much of that is judged: its last
// quarter. But what is judged has to be long enough for each worker of a pool
// to have sent once, which at a low rate it does once an interval, and what
// comes before it long enough for the old rate's events to have gone.
func stepOf(duration, normal time.Duration) (step, judged time.Duration) {
	step = max(duration/16, leastStep)
	judged = max(step/4, normal)
	return max(step, 2*judged), judged
}

// keptUp judges a step by what arrived in its last part.
func (t *trier) keptUp(of *figures.Spread, before, after figures.Figures) bool {
	lost := after.Dropped - before.Dropped + after.Failed - before.Failed
	return of != nil && lost == 0 && of.P50 <= (t.normal+t.step/10).Seconds()
}

func (t *trier) try(perSecond int) (step, error) {
	s := step{PerSecond: perSecond}
	before, err := t.p.figures(t.ctx, false)
	if err != nil {
		return s, err
	}
	if err := t.p.rate(t.ctx, perSecond); err != nil {
		return s, err
	}
	if err := sleep(t.ctx, t.step-t.judged); err != nil {
		return s, err
	}
	t.r.part.Spread(true)
	if err := sleep(t.ctx, t.judged); err != nil {
		return s, err
	}
	of := t.r.part.Spread(true)
	after, err := t.p.figures(t.ctx, false)
	if err != nil {
		return s, err
	}
	if of != nil {
		s.P50 = &of.P50
	}
	s.KeptUp = t.keptUp(of, before, after)
	return s, nil
}

// recover goes back to the first rate until events arrive in time again. Where
// that takes too long the next step shows it.
func (t *trier) recover() error {
	if err := t.p.rate(t.ctx, firstRate); err != nil {
		return err
	}
	over := time.Now().Add(mostRecover)
	for time.Now().Before(over) {
		t.r.part.Spread(true)
		if err := sleep(t.ctx, t.judged); err != nil {
			return err
		}
		if of := t.r.part.Spread(true); of != nil && of.P50 <= (t.normal+t.step/10).Seconds() {
			return nil
		}
	}
	return nil
}
