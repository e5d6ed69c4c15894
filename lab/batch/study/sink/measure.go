package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/line-rate/line-rate/lab/batch/study/event"
)

// An output is the line that is printed: what both programs counted in the window.
type output struct {
	Generator string    `json:"generator"`
	Start     time.Time `json:"start"`
	Finish    time.Time `json:"finish"`

	counters
	event.Figures

	BacklogStart  int64         `json:"backlog_start"`
	BacklogFinish int64         `json:"backlog_finish"`
	Delivery      *event.Spread `json:"delivery_s,omitempty"`

	End   end `json:"end"`
	Limit int `json:"limit_per_s,omitempty"`

	earlier, last *event.Spread // deliveries in the parts of a window that are compared
}

// An end is the account of all events since the start, after the stop.
type end struct {
	Added       int64 `json:"added"`
	Arrived     int64 `json:"arrived"`
	Failed      int64 `json:"failed"`
	Unaccounted int64 `json:"unaccounted"`
}

// A window is how a run of the producer is watched.
type window struct {
	rate   int // 0: the producer's own
	warmup time.Duration
	lasts  time.Duration
	part   time.Duration // the length of the parts that are compared: the last, and the third last
}

// A trial is a run of the producer under this sink, from its start to its stop.
type trial struct {
	Settings
	receiver
	conn    net.Conn // to the producer
	answers *json.Decoder
}

// A moment is the counts of both programs at one time.
type moment struct {
	at       time.Time
	producer event.Figures
	sink     counters
	delivery *event.Spread // since the last moment
}

// look reads a moment, and begins anew what is about the time between two moments.
func (t *trial) look() (m moment, err error) {
	m.producer, err = t.ask(event.Ask{})
	m.at = time.Now()
	m.sink, m.delivery = t.now()
	return m, err
}

// missing is how many of n events neither arrived nor were given up.
func missing(n int64, c counters, failed int64) int64 { return max(n-c.Events-failed, 0) }

func (m moment) backlog() int64 { return missing(m.producer.Offered, m.sink, m.producer.Failed) }

// measure makes a trial with the settings' window, or with one at the limit.
func (s Settings) measure(ctx context.Context) (any, error) {
	if s.FindLimit {
		return s.findLimit(ctx)
	}
	return s.trial(ctx, window{warmup: s.Warmup, lasts: s.Duration})
}

// trial makes a trial. The run ends with it, whatever happens.
func (s Settings) trial(ctx context.Context, w window) (*output, error) {
	t := &trial{Settings: s}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	srv := &http.Server{Handler: t, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = srv.Serve(ln) }() // ends with Close
	defer srv.Close()
	if t.conn, err = net.Dial("tcp", t.Producer); err != nil {
		return nil, fmt.Errorf("no producer is there: %w", err)
	}
	defer t.conn.Close()
	t.answers = json.NewDecoder(t.conn)
	ask := event.Ask{Sink: ln.Addr().String(), Rate: w.rate}
	if w.rate > 0 {
		ask.Lasts = w.warmup + w.lasts
	}
	if _, err = t.ask(ask); err != nil {
		return nil, err
	}
	out, err := t.watch(ctx, w)
	last, stopped := t.ask(event.Ask{Stop: true})
	if err == nil {
		err = stopped
	}
	if err != nil {
		return nil, err
	}
	c, _ := t.now()
	out.End = end{Added: last.Added, Arrived: c.Events, Failed: last.Failed, Unaccounted: missing(last.Added, c, last.Failed)}
	return out, nil
}

// watch waits for the warm-up and watches the window.
func (t *trial) watch(ctx context.Context, w window) (*output, error) {
	if err := sleep(ctx, w.warmup); err != nil {
		return nil, err
	}
	from, err := t.look()
	if err != nil {
		return nil, err
	}
	var parts []*event.Spread
	for _, end := range []time.Duration{w.lasts - 3*w.part, w.lasts - 2*w.part, w.lasts - w.part, w.lasts} {
		if err := sleep(ctx, time.Until(from.at.Add(end))); err != nil {
			return nil, err
		}
		parts = append(parts, t.part.Spread())
	}
	to, err := t.look()
	if err != nil {
		return nil, err
	}
	// Round(0) removes the monotonic reading, so that the printed times differ as the wall clock does.
	return &output{Generator: "event_sink", Start: from.at.Round(0).UTC(), Finish: to.at.Round(0).UTC(),
		counters: to.sink.since(from.sink), Figures: to.producer.Since(from.producer), Delivery: to.delivery,
		BacklogStart: from.backlog(), BacklogFinish: to.backlog(), earlier: parts[1], last: parts[3]}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// askTime is how long the producer may take to answer: it drains for ten seconds before it stops.
const askTime = 15 * time.Second

func (t *trial) ask(what event.Ask) (f event.Figures, err error) {
	_ = t.conn.SetDeadline(time.Now().Add(askTime))
	if err = json.NewEncoder(t.conn).Encode(what); err == nil {
		err = t.answers.Decode(&f)
	}
	if err == nil && f.Error != "" {
		err = errors.New(f.Error)
	}
	if err != nil {
		err = fmt.Errorf("the producer at %s: %w", t.Producer, err)
	}
	return f, err
}
