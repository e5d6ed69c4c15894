package main

import (
	"context"
	"fmt"
	"time"

	"github.com/line-rate/line-rate/lab/study/event"
)

// An output is the line that is printed. The producer's figures are what they grew by in
// the window.
type output struct {
	Generator string    `json:"generator"`
	Start     time.Time `json:"start"`
	Finish    time.Time `json:"finish"`

	Requests   int64 `json:"requests"`
	Refused    int64 `json:"refused"`
	Bytes      int64 `json:"bytes"`
	Events     int64 `json:"events"`
	Duplicates int64 `json:"duplicates"`

	Offered int64 `json:"offered"`
	Added   int64 `json:"added"`
	Dropped int64 `json:"dropped"`
	Failed  int64 `json:"failed"`
	Logged  int64 `json:"logged"`
	Lines   int64 `json:"log_lines"`

	BacklogStart  int64 `json:"backlog_start"`
	BacklogFinish int64 `json:"backlog_finish"`
	InFlightMax   int64 `json:"in_flight_max"`

	Add      *event.Spread `json:"add_s,omitempty"`
	PaceLag  *event.Spread `json:"pace_lag_s,omitempty"`
	Delivery *event.Spread `json:"delivery_s,omitempty"`

	End end `json:"end"`

	Limit *int   `json:"limit_per_s,omitempty"`
	Steps []step `json:"steps,omitempty"`
}

// An end is the account of all events since the start, after the stop.
type end struct {
	Added       int64 `json:"added"`
	Arrived     int64 `json:"arrived"`
	Dropped     int64 `json:"dropped"`
	Failed      int64 `json:"failed"`
	Returned    int64 `json:"returned"`
	Unaccounted int64 `json:"unaccounted"`
	Drained     bool  `json:"drained"`
}

// A moment is the counts of both programs at one time.
type moment struct {
	at       time.Time
	producer event.Figures
	sink     counters
	delivery *event.Spread // since the last moment
}

// look reads a moment, and resets the figures of the time between two moments.
func look(ctx context.Context, p *producer, r *receiver) (moment, error) {
	f, err := p.figures(ctx, true)
	m := moment{at: time.Now(), producer: f}
	m.sink, m.delivery = r.now()
	return m, err
}

// missing is how many of n events neither arrived nor were given up.
func missing(n int64, c counters, dropped, givenUp int64) int64 {
	return max(n-c.Events-dropped-givenUp, 0)
}

func (m moment) backlog() int64 {
	return missing(m.producer.Offered, m.sink, m.producer.Dropped, m.producer.Failed)
}

// measure makes the whole trial. If the producer was started, it is stopped, whatever
// happens.
func measure(ctx context.Context, s Settings, r *receiver, here string) (*output, error) {
	p := &producer{url: s.Producer}
	if err := p.start(ctx, here); err != nil {
		return nil, err
	}
	from, to, out, err := watch(ctx, s, p, r)
	last, stopErr := p.stop()
	if err == nil {
		err = stopErr
	}
	if err != nil {
		return nil, err
	}

	out.Generator = "event_sink"
	// Round(0) removes the monotonic reading, so that the printed times differ as the
	// wall clock does.
	out.Start, out.Finish = from.at.Round(0).UTC(), to.at.Round(0).UTC()
	out.Requests = to.sink.Requests - from.sink.Requests
	out.Refused = to.sink.Refused - from.sink.Refused
	out.Bytes = to.sink.Bytes - from.sink.Bytes
	out.Events = to.sink.Events - from.sink.Events
	out.Duplicates = to.sink.Duplicates - from.sink.Duplicates
	out.Offered = to.producer.Offered - from.producer.Offered
	out.Added = to.producer.Added - from.producer.Added
	out.Dropped = to.producer.Dropped - from.producer.Dropped
	out.Failed = to.producer.Failed - from.producer.Failed
	out.Logged = to.producer.Logged - from.producer.Logged
	out.Lines = to.producer.LogLines - from.producer.LogLines
	out.BacklogStart, out.BacklogFinish = from.backlog(), to.backlog()
	out.InFlightMax = to.sink.InFlightMax
	out.Add, out.PaceLag, out.Delivery = to.producer.Add, to.producer.PaceLag, to.delivery

	c, _ := r.now()
	out.End = end{
		Added: last.Added, Arrived: c.Events, Dropped: last.Dropped, Failed: last.Failed, Returned: last.Returned,
		Unaccounted: missing(last.Added, c, last.Dropped, last.Failed+last.Returned),
		Drained:     last.Drained != nil && *last.Drained,
	}
	return out, nil
}

// watch waits for the warm-up, searches for the limit if that is asked for, and then
// watches the window. After a search the window is spent at the limit, so that what is
// recorded beside it shows which CPU is full there; if a limit does not hold, the window
// begins again at a lower one.
func watch(ctx context.Context, s Settings, p *producer, r *receiver) (from, to moment, out *output, err error) {
	out = &output{}
	if err = sleep(ctx, s.Warmup); err != nil {
		return
	}
	if from, err = look(ctx, p, r); err != nil {
		return
	}
	if s.FindLimit {
		t := newTrier(ctx, s, p, r, from.producer.Interval, time.Now().Add(longestSearch))
		if s.Duration < 3*t.judged {
			return from, to, nil, fmt.Errorf("--duration %v is too short for a limit: judging one takes %v with these settings",
				s.Duration, 3*t.judged)
		}
		if out.Limit, out.Steps, err = search(t); err != nil {
			return
		}
		begin := func() (err error) {
			from, err = look(ctx, p, r)
			return
		}
		if out.Limit, out.Steps, err = hold(t, out.Limit, out.Steps, begin); err != nil {
			return
		}
	}
	if err = sleep(ctx, time.Until(from.at.Add(s.Duration))); err == nil {
		to, err = look(ctx, p, r)
	}
	return
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(max(d, 0))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
